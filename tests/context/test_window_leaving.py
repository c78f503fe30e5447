"""When something leaves the window, what leaves first, and what is said of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ToolCallPart, ToolReturnPart

from loom.context.budget import WindowTooSmall
from loom.context.window import Assembly, Window
from tests.context.windows import SETTINGS, a_window, counted, text_of
from tests.support.window_rows import Rows


class TestLeaving:
    def fill(self, window: Window, rows: Rows, exchanges: int = 12, size: int = 2_400) -> list[Assembly]:
        made = []
        for number in range(exchanges):
            window.add(rows.ask(f"wish {number} " + "x" * size))
            made.append(window.assemble())
            window.add(rows.answer(f"answer {number}"))
        return made

    def test_begins_at_the_high_water_mark_and_goes_down_to_the_low(self) -> None:
        rows, window = Rows(), a_window()
        made = self.fill(window, rows, 30)
        marks = window.budget.marks(200)
        assert all(assembly.tokens <= marks.high for assembly in made)
        trimmed = [assembly for assembly in made if assembly.receipt]
        assert 1 <= len(trimmed) <= 6, "many requests between two trims"
        assert all(assembly.tokens <= marks.low for assembly in trimmed)

    def test_takes_whole_exchanges_the_oldest_first_and_says_so(self) -> None:
        rows, window = Rows(), a_window()
        receipt = next(assembly.receipt for assembly in self.fill(window, rows, 30) if assembly.receipt)
        assert receipt.first_turn == 1 and receipt.last_turn % 2 == 0
        assert receipt.line.startswith(f"T1–T{receipt.last_turn} left the window: ")
        assert window.left_to >= receipt.last_turn and not window.holds(1)
        first = window.assemble().messages[0]
        assert f"T1–T{window.left_to} left the window" in text_of([first])

    def test_counts_what_the_receipt_names(self) -> None:
        rows, window = Rows(), a_window(4_000)
        receipts = []
        for number in range(8):
            window.add(rows.ask(f"wish {number}"))
            window.add(rows.call(f"a{number}"))
            window.add(rows.result(f"a{number}", "x" * 900, path=f"f{number % 2}.py", action="read"))
            window.add(rows.call(f"b{number}", "shell_execute", command="make"))
            window.add(rows.result(f"b{number}", "y" * 900, "shell_execute", command="make", exit_code=0))
            window.add(rows.answer("ok"))
            if receipt := window.assemble().receipt:
                receipts.append(receipt)
        receipt = receipts[0]
        assert receipt.commands == receipt.exchanges > 0
        assert receipt.line.endswith("files, 2 commands, kept in the archive") or receipt.files < 2

    def test_leaves_the_prefix_alone_between_two_trims(self) -> None:
        rows, window = Rows(), a_window()
        before: list[ModelMessage] = []
        kept = 0
        for assembly in self.fill(window, rows, 30):
            messages = assembly.messages
            same = ModelMessagesTypeAdapter.dump_json(messages[: len(before)]) == ModelMessagesTypeAdapter.dump_json(
                before
            )
            assert same or assembly.receipt
            kept += same
            before = messages
        assert kept >= 24

    def test_shortens_older_outputs_before_anything_leaves(self) -> None:
        rows, window = Rows(), a_window(46_000, replace(SETTINGS, tool_output_preview_tokens=2_000))
        for number in range(30):
            window.add(rows.exchange_with_output(f"wish {number}", "line of output\n" * 400))
        window.add(rows.ask("next"))
        assembly = window.assemble()
        assert assembly.receipt is None
        outputs = [p.content for m in assembly.messages for p in m.parts if isinstance(p, ToolReturnPart)]
        assert all(len(str(text)) <= 700 for text in outputs[:-1]) and len(str(outputs[-1])) == 6_000
        assert "read_file" in str(outputs[0]) and "start_turn=3 end_turn=3" in str(outputs[0])

    def test_never_touches_the_newest_message(self) -> None:
        rows, window = Rows(), a_window()
        self.fill(window, rows, 5)
        window.add(rows.ask("the newest " + "z" * 20_000))
        assert "the newest " + "z" * 20_000 in text_of(window.assemble().messages)

    def test_happens_beyond_the_number_of_messages_that_was_set(self) -> None:
        rows, window = Rows(), a_window(100_000, replace(SETTINGS, max_history_messages=10))
        made = self.fill(window, rows, 20, size=10)
        assert all(len(assembly.messages) <= 10 for assembly in made)
        assert 2 <= sum(assembly.receipt is not None for assembly in made) <= 12


class TestOneHugeExchange:
    def test_shrinks_its_outputs_the_unread_one_last(self) -> None:
        rows, window = Rows(), a_window(6_000)
        window.add(rows.ask("read everything"))
        for number in range(20):
            window.add(rows.call(f"c{number}", path=f"{number}.py"))
            window.add(rows.result(f"c{number}", f"file {number}\n" + "content\n" * 140))
            assembly = window.assemble()
            assert assembly.tokens <= window.budget.marks(200).high
            assert "read everything" in text_of(assembly.messages)
            assert "content\n" * 140 in text_of(assembly.messages[-1:])

    def test_lets_its_oldest_steps_go_as_pairs(self) -> None:
        rows, window = Rows(), a_window(4_000)
        window.add(rows.ask("do a lot"))
        for number in range(60):
            window.add(rows.call(f"c{number}", path="p" * 300))
            window.add(rows.result(f"c{number}", "r" * 300))
            assembly = window.assemble()
            calls = [p.tool_call_id for m in assembly.messages for p in m.parts if isinstance(p, ToolCallPart)]
            results = [p.tool_call_id for m in assembly.messages for p in m.parts if isinstance(p, ToolReturnPart)]
            assert calls == results and f"c{number}" in calls
            assert "Interrupted" not in text_of(assembly.messages)
        assert "do a lot" in text_of(assembly.messages)
        assert 1 < window.left_to < len(rows.turns)

    def test_with_a_message_larger_than_the_window_cuts_it_visibly_and_says_so(self) -> None:
        rows, window = Rows(), a_window(4_000)
        window.add(rows.ask("START " + "x " * 20_000 + " END"))
        assembly = window.assemble()
        text = text_of(assembly.messages)
        assert "START" in text and "END" in text and "the middle of this message is not shown" in text
        assert assembly.notice and "T1" in assembly.notice
        assert counted(assembly, 200) <= window.budget.marks(200).high, "there is room for what comes next"
        assert window.assemble().notice is None, "said once"
        assert rows.turns[0].content == "START " + "x " * 20_000 + " END"
        # It has to be cut further when more stands in front of it: that is nothing new to the person.
        window.set_floor(tools=1_500, instructions=100)
        further = window.assemble()
        assert counted(further, 1_600) <= 3_000 and len(text_of(further.messages)) < len(text)
        assert further.notice is None

    def test_a_floor_that_fills_the_window_is_said(self) -> None:
        rows, window = Rows(), a_window(4_000)
        window.set_floor(tools=3_000, instructions=500)
        window.add(rows.ask("go"))
        with pytest.raises(WindowTooSmall, match="3,500 tokens"):
            window.assemble()
