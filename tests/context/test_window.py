"""The window: what the model is sent, when something leaves it, and the number that says how full it is."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from loom.archive.records import NewTurn, TurnKind
from loom.config import Settings
from loom.context.budget import Budget, WindowTooSmall, budget_for
from loom.context.edges import cleared_meta, compaction_meta, restored_meta
from loom.context.measure import message_tokens
from loom.context.usage import Segment
from loom.context.window import Assembly, Window
from tests.support.window_rows import Rows, words

SETTINGS = Settings(tool_output_preview_tokens=400, tool_output_trim_chars=600)


def a_window(tokens: int = 10_000, settings: Settings = SETTINGS, *, reserve: int = 1_000) -> Window:
    budget = Budget(tokens, reserve, settings.high_water, settings.low_water)
    window = Window(words, settings, budget)
    window.set_floor(tools=100, instructions=100)
    return window


def text_of(messages: Sequence[ModelMessage]) -> str:
    return "\n".join(str(getattr(part, "content", "")) for message in messages for part in message.parts)


def dumped(assembly: Assembly) -> bytes:
    return ModelMessagesTypeAdapter.dump_json(assembly.messages)


def counted(assembly: Assembly, floor: int) -> int:
    return floor + sum(message_tokens(message, words) for message in assembly.messages)


class TestWhatIsSent:
    def test_is_everything_while_there_is_room(self) -> None:
        rows, window = Rows(), a_window()
        window.add(rows.exchange_with_output("read a.py", "print()", path="a.py", action="read"))
        window.add(rows.ask("and now?"))
        assembly = window.assemble()
        kinds = [[part.part_kind for part in message.parts] for message in assembly.messages]
        assert kinds == [["user-prompt"], ["tool-call"], ["tool-return"], ["text"], ["user-prompt"]]
        assert assembly.turns == ((1, 5),)
        assert assembly.receipt is None and assembly.notice is None and not assembly.texts

    def test_includes_the_exchange_in_progress_as_it_was_stored(self) -> None:
        rows, window = Rows(), a_window()
        window.add(rows.ask("go"))
        window.add(rows.call("c1"))
        window.add(rows.result("c1", "the result"))
        newest = window.request_messages()[-1]
        assert isinstance(newest, ModelRequest) and "the result" in text_of([newest])

    def test_takes_the_instructions_of_the_request_in_progress(self) -> None:
        rows, window = Rows(), a_window()
        window.add(rows.ask("go"))
        live = ModelRequest(parts=[UserPromptPart("go")], instructions="state: now")
        newest = window.request_messages([live])[-1]
        assert isinstance(newest, ModelRequest) and newest.instructions == "state: now"

    def test_carries_the_hint_beside_the_newest_message_only(self) -> None:
        rows, window = Rows(), a_window()
        window.add(rows.ask("what about that file?"))
        window.set_hint("Probably meant: T12")
        assembly = window.assemble()
        assert "Probably meant: T12" in text_of(assembly.messages[-1:])
        assert assembly.segments[Segment.HINT] > 0 and assembly.texts["hint"] == "Probably meant: T12"
        window.add(rows.answer("this one"))
        window.add(rows.ask("thanks"))
        assert "Probably" not in text_of(window.request_messages())

    def test_is_valid_after_an_exchange_that_broke_off(self) -> None:
        rows, window = Rows(), a_window()
        window.add(rows.ask("go"))
        window.add(rows.call("c1"))
        window.add(rows.ask("hello?"))
        newest = window.request_messages()[-1]
        assert [part.part_kind for part in newest.parts] == ["tool-return", "user-prompt"]

    def test_of_nothing_is_nothing(self) -> None:
        assert a_window().request_messages() == []


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
        first = window.request_messages()[0]
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
        assert "the newest " + "z" * 20_000 in text_of(window.request_messages())

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
        assert counted(assembly, 200) <= 3_000
        assert window.assemble().notice is None, "said once"
        assert rows.turns[0].content == "START " + "x " * 20_000 + " END"

    def test_a_floor_that_fills_the_window_is_said(self) -> None:
        rows, window = Rows(), a_window(4_000)
        window.set_floor(tools=3_000, instructions=500)
        window.add(rows.ask("go"))
        with pytest.raises(WindowTooSmall, match="3,500 tokens"):
            window.assemble()


class TestTheGauge:
    def test_shows_the_floor_before_the_first_message(self) -> None:
        window = a_window()
        window.set_state("focus: x")
        usage = window.usage()
        assert usage.segments[Segment.TOOLS] == 100 and usage.used == sum(usage.segments.values()) > 200
        assert usage.estimated

    def test_counts_every_token_that_is_sent(self) -> None:
        rows, window = Rows(), a_window()
        window.add(rows.exchange_with_output("read", "x" * 500))
        window.add(rows.ask("next"))
        window.set_hint("hint hint")
        assembly = window.assemble()
        assert assembly.tokens == counted(assembly, 200) == sum(assembly.segments.values()) == window.usage().used

    def test_is_the_providers_number_until_something_is_added(self) -> None:
        rows, window = Rows(), a_window()
        window.add(rows.ask("x" * 4_000))
        ours = window.assemble().tokens
        window.report(ours * 13 // 10)
        usage = window.usage()
        assert usage.used == ours * 13 // 10 and not usage.estimated
        window.add(rows.answer("y" * 400))
        assert window.usage().estimated and window.usage().used > usage.used + 100

    def test_is_the_number_that_triggers(self) -> None:
        rows, window = Rows(), a_window()
        window.add(rows.ask("x" * 20_000))
        window.add(rows.answer("done"))
        window.assemble()
        window.add(rows.ask("y" * 4_000))
        assert window.usage().used < window.usage().high_water
        window.report(int(window.usage().used * 1.6))
        used = window.usage()
        assert used.used > used.high_water
        assert window.assemble().receipt is not None

    def test_ignores_a_report_that_cannot_be_of_this_request(self) -> None:
        rows, window = Rows(), a_window()
        window.add(rows.ask("x" * 4_000))
        ours = window.assemble().tokens
        for report in (0, 12, ours * 40):
            window.report(report)
            assert window.usage().used == ours

    def test_after_an_overflow_the_next_request_is_smaller(self) -> None:
        rows, window = Rows(), a_window(100_000)
        for number in range(20):
            window.add(rows.ask(f"{number} " + "x" * 4_000))
            window.add(rows.answer("ok"))
        window.add(rows.ask("last"))
        before = window.assemble().tokens
        window.overflowed()
        after = window.assemble()
        assert after.tokens < before * 0.8 and after.receipt and window.usage().window_assumed
        window.overflowed(8_192)
        assert window.assemble().tokens < 8_192


class TestResume:
    def session(self, exchanges: int = 40) -> tuple[Rows, Window]:
        rows, window = Rows(), a_window()
        for number in range(exchanges):
            window.add(rows.ask(f"wish {number} " + "x" * 800))
            if receipt := window.assemble().receipt:
                window.add(rows.append([receipt.turn(words)]))
            window.add(rows.call(f"c{number}"))
            window.add(rows.result(f"c{number}", "output\n" * 300))
            if receipt := window.assemble().receipt:
                window.add(rows.append([receipt.turn(words)]))
            window.add(rows.answer("ok"))
        return rows, window

    async def test_gives_the_request_that_would_have_come_next(self) -> None:
        rows, window = self.session()
        resumed = a_window()
        await resumed.load(rows)
        assert resumed.left_to == window.left_to > 0
        turns = rows.ask("go on")
        window.add(turns)
        resumed.add(turns)
        assert dumped(resumed.assemble()) == dumped(window.assemble())

    @pytest.mark.parametrize("exchanges", range(8, 40, 3))
    async def test_begins_where_the_window_began_however_full_it_was(self, exchanges: int) -> None:
        rows, window = self.session(exchanges)
        resumed = a_window()
        await resumed.load(rows)
        assert (resumed.left_to, resumed.turns) == (window.left_to, window.turns)

    async def test_reads_no_more_of_a_longer_session(self) -> None:
        costs = []
        for exchanges in (40, 160):
            rows, _ = self.session(exchanges)
            resumed = a_window()
            rows.reads.clear()
            await resumed.load(rows)
            costs.append(sum(number for what, number in rows.reads if what == "turns"))
        assert costs[1] <= costs[0] * 2

    async def test_of_a_session_that_loom_never_trimmed_fills_the_window_newest_first(self) -> None:
        rows = Rows()
        for number in range(300):
            rows.append([NewTurn(role="user", content=f"imported {number} " + "x" * 400)])
            rows.append([NewTurn(role="assistant", content="answer")])
        resumed = a_window()
        await resumed.load(rows)
        marks = resumed.budget.marks(200)
        assert marks.low <= resumed.usage().used <= marks.full + 300 and resumed.holds(600) and not resumed.holds(1)
        resumed.add(rows.ask("go on"))
        assert resumed.assemble().tokens <= marks.high

    async def test_of_an_empty_session_is_empty(self) -> None:
        resumed = a_window()
        await resumed.load(Rows())
        assert resumed.left_to == 0 and resumed.turns == ()


class TestMarks:
    def started(self) -> tuple[Rows, Window]:
        rows, window = Rows(), a_window()
        for number in range(4):
            window.add(rows.exchange_with_output(f"wish {number}", "out"))
        return rows, window

    def note(self, meta: str, kind: TurnKind = TurnKind.NOTE, content: str = "note") -> list[NewTurn]:
        return [NewTurn(role="system", kind=kind, content=content, message_meta=meta)]

    def test_clearing_empties_the_window_and_not_the_rows(self) -> None:
        rows, window = self.started()
        window.add(rows.append(self.note(cleared_meta(window.beginning, 16))))
        window.add(rows.ask("fresh"))
        assert "wish" not in text_of(window.request_messages())
        assert window.turns == ((18, 18),)

    async def test_clearing_can_be_undone(self) -> None:
        rows, window = self.started()
        [cleared] = rows.append(self.note(cleared_meta(window.beginning, 16)))
        rows.append(self.note(restored_meta(cleared)))
        resumed = a_window()
        await resumed.load(rows)
        assert resumed.turns == window.turns == ((1, 16),)

    async def test_a_summary_stands_for_what_it_sums_up(self) -> None:
        rows, window = self.started()
        window.add(
            rows.append(self.note(compaction_meta(window.beginning, 12), TurnKind.SUMMARY, "They wished thrice."))
        )
        window.add(rows.ask("go on"))
        messages = window.request_messages()
        assert "They wished thrice." in text_of(messages[:1]) and text_of(messages).count("thrice") == 1
        assert "wish 2" not in text_of(messages) and "wish 3" in text_of(messages)
        resumed = a_window()
        await resumed.load(rows)
        assert resumed.request_messages() == messages

    async def test_a_summary_that_leaves_for_lack_of_room_is_told_of_once(self) -> None:
        rows, window = self.started()
        note = rows.append(self.note(compaction_meta(window.beginning, 12), TurnKind.SUMMARY, "They wished. " * 2_000))
        window.add(note)
        assert window.assemble().notice is None
        window.add(rows.ask("read this " + "x " * 8_000))
        without = window.assemble()
        assert without.notice and f"The summary (T{note[0].turn_number}) does not fit" in without.notice
        assert "They wished." not in text_of(without.messages) and window.beginning.summary == 0
        window.add(rows.answer("read"))
        window.add(rows.ask("go on"))
        assert "summary" not in (window.assemble().notice or "")


# --- whatever happens -------------------------------------------------------------------------------------------------

happenings = st.lists(
    st.tuples(
        st.sampled_from(
            ["ask", "ask", "run", "answer", "call", "result", "call", "result", "orphan", "note", "report", "overflow"]
        ),
        st.integers(1, 500) | st.integers(500, 16_000),
    ),
    min_size=10,
    max_size=60,
)


def play(events: list[tuple[str, int]], window: Window, rows: Rows) -> list[tuple[Assembly, str]]:
    """Run a session that goes wrong in every way; the requests that were made, with the newest wish."""
    made: list[tuple[Assembly, str]] = []
    wish, open_call = "", ""
    for at, (what, size) in enumerate([("ask", 10), *events]):
        if what == "ask":
            wish, open_call = f"wish {at} " + "x " * (size // 2), ""
            window.add(rows.ask(wish))
        elif what == "run":
            wish, open_call = f"make {at}", ""
            window.add(rows.run(wish, "out\n" * size))
            continue
        elif what == "answer":
            window.add(rows.answer(f"answer {at} " + "y" * (size // 4)))
            continue
        elif what == "call":
            open_call = f"c{at}" if size % 5 else "call_0"
            window.add(rows.call(open_call, path="p" * (size % 90)))
            continue
        elif what in ("result", "orphan"):
            outcome = ("success", "failed", "denied")[size % 3]
            window.add(rows.result(open_call if what == "result" else "nobody", "r\n" * size, outcome=outcome))
        elif what == "note":
            window.add(rows.append([NewTurn(role="system", kind=TurnKind.NOTE, content="n")]))
            continue
        elif what == "report" and made:
            window.report(made[-1][0].tokens * (70 + size % 80) // 100)
            continue
        elif what == "overflow" and size % 7 == 0:
            window.overflowed()
            continue
        try:
            assembly = window.assemble()
        except WindowTooSmall:
            continue
        made.append((assembly, wish))
        if assembly.receipt:
            window.add(rows.append([assembly.receipt.turn(words)]))
    return made


@given(happenings, st.integers(2_200, 9_000))
@settings(deadline=None, max_examples=120)
def test_whatever_happens_the_request_fits_and_holds_the_newest_wish(events: list[tuple[str, int]], size: int) -> None:
    window, rows = a_window(size), Rows()
    without_scale = [event for event in events if event[0] not in ("report", "overflow")]
    for assembly, wish in play(without_scale, window, rows):
        assert counted(assembly, 200) <= size - 1_000
        assert counted(assembly, 200) == assembly.tokens
        text = text_of(assembly.messages)
        assert wish.rstrip() in text or ("not shown" in text and wish[:7] in text)


@given(happenings, st.integers(2_200, 9_000))
@settings(deadline=None, max_examples=80)
def test_whatever_happens_no_call_is_parted_from_its_result(events: list[tuple[str, int]], size: int) -> None:
    window, rows = a_window(size), Rows()
    for assembly, _ in play(events, window, rows):
        waiting: list[str] = []
        for message in assembly.messages:
            if isinstance(message, ModelResponse):
                assert not waiting
                waiting = [p.tool_call_id for p in message.parts if isinstance(p, ToolCallPart)]
            else:
                answered = [p.tool_call_id for p in message.parts if isinstance(p, ToolReturnPart)]
                assert sorted(answered) == sorted(waiting)
                waiting = []
        assert not waiting


@given(happenings, st.integers(2_200, 9_000))
@settings(deadline=None, max_examples=60)
def test_the_same_rows_give_the_same_requests_and_stay_as_they_are(events: list[tuple[str, int]], size: int) -> None:
    first_rows, second_rows = Rows(), Rows()
    first = play(events, a_window(size), first_rows)
    before = list(first_rows.turns)
    second = play(events, a_window(size), second_rows)
    assert [dumped(a) for a, _ in first] == [dumped(b) for b, _ in second]
    assert [(a.tokens, a.turns) for a, _ in first] == [(b.tokens, b.turns) for b, _ in second]
    assert first_rows.turns == before == second_rows.turns


def test_a_small_window_keeps_no_more_than_a_quarter_for_the_answer() -> None:
    assert budget_for(Settings(), 8_192).reserve == 2_048
    assert budget_for(Settings(), 200_000).reserve == 8_000


class TestWhatIsToBeSummedUp:
    def filled(self, exchanges: int, settings: Settings = SETTINGS) -> tuple[Rows, Window]:
        rows, window = Rows(), a_window(10_000, settings)
        for number in range(exchanges):
            window.add(rows.ask(f"wish {number} " + "x" * 2_400))
            window.add(rows.answer(f"answer {number}"))
        window.add(rows.ask("the newest"))
        return rows, window

    def test_is_nothing_while_there_is_room(self) -> None:
        assert self.filled(3)[1].crowded_to(0.9, 4) == 0
        assert a_window().crowded_to(0.9, 4) == 0

    @pytest.mark.parametrize(("keep", "to_turn"), [(0, 28), (1, 26), (2, 26), (3, 24), (4, 24)])
    def test_leaves_out_the_newest_messages_as_whole_exchanges(self, keep: int, to_turn: int) -> None:
        assert self.filled(14)[1].crowded_to(0.9, keep) == to_turn

    def test_begins_at_the_threshold_and_never_after_exchanges_would_leave(self) -> None:
        _, window = self.filled(10)
        assert window.crowded_to(0.5, 0) and not window.crowded_to(0.9, 0)
        _, window = self.filled(14)
        assert window.crowded_to(1.0, 0), "the high-water mark comes first"
        assert not window.crowded_to(0.0, 0)

    def test_keeps_no_more_than_fits(self) -> None:
        assert self.filled(14)[1].crowded_to(0.9, 1_000) == 14

    def test_begins_at_the_number_of_messages_too(self) -> None:
        _, window = self.filled(5, replace(SETTINGS, max_history_messages=10))
        assert window.crowded_to(0.0, 2) == 8

    def test_is_not_what_shortened_outputs_already_make_room_for(self) -> None:
        rows, window = Rows(), a_window(46_000, replace(SETTINGS, tool_output_preview_tokens=2_000))
        for number in range(30):
            window.add(rows.exchange_with_output(f"wish {number}", "line of output\n" * 400))
        window.add(rows.ask("next"))
        assert window.crowded_to(0.9, 0) == 0
        assert window.assemble().receipt is None, "and nothing leaves"

    def test_of_exchanges_that_were_brought_back_ends_where_the_window_began(self) -> None:
        rows, window = self.filled(14)
        receipt = window.assemble().receipt
        assert receipt is not None
        window.add(rows.append([receipt.turn(words)]))
        back = replace(window.beginning, edges=replace(window.beginning.edges, back=(1,)))
        rows.append([NewTurn(role="system", kind=TurnKind.NOTE, content="n", message_meta=back.meta())])
        resumed = a_window()
        asyncio.run(resumed.load(rows))
        assert resumed.holds(1)
        between = len(resumed.exchanges) - 2
        assert resumed.crowded_to(0.1, 2 * between) == resumed.left_to > 2
