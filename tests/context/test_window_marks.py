"""Clearing and summing up: where the window begins, and what a summary is to be made of."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from loom.archive.records import NewTurn, TurnKind
from loom.config import Settings
from loom.context.edges import Beginning, cleared_meta, compaction_meta, restored_meta, rewound_meta
from loom.context.window import Window
from tests.context.windows import SETTINGS, a_window, text_of
from tests.support.window_rows import Rows, words


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
        assert "wish" not in text_of(window.assemble().messages)
        assert window.turns == ((18, 18),)

    async def test_clearing_can_be_undone(self) -> None:
        rows, window = self.started()
        [cleared] = rows.append(self.note(cleared_meta(window.beginning, 16)))
        rows.append(self.note(restored_meta(cleared)))
        resumed = a_window()
        await resumed.load(rows)
        assert resumed.turns == window.turns == ((1, 16),)

    async def test_what_is_rewound_past_is_not_shown(self) -> None:
        rows, window = self.started()
        before = window.assemble().messages
        window.add(rows.append(self.note(rewound_meta(window.beginning, Beginning(), 9))))
        assert window.turns == ((1, 8),) and not window.sight().may_recall(9) and not window.sight().may_recall(17)
        window.add(rows.ask("otherwise"))
        text = text_of(window.assemble().messages)
        assert "wish 1" in text and "wish 2" not in text and "left the window" not in text
        [note] = rows.append(self.note(restored_meta(rows.turns[16])))
        resumed = a_window()
        await resumed.load(rows)
        assert resumed.assemble().messages[: len(before)] == before and note.turn_number == 19

    async def test_nothing_has_left_where_all_of_it_was_rewound_past(self) -> None:
        rows, window = self.started()
        window.add(rows.append(self.note(rewound_meta(window.beginning, Beginning(), 1))))
        window.add(rows.append([NewTurn(role="system", kind=TurnKind.NOTE, content="a pin")]))
        window.add(rows.ask("otherwise"))
        resumed = a_window()
        await resumed.load(rows)
        assert resumed.assemble().messages == window.assemble().messages
        assert resumed.left_to == 0 and resumed.assemble().receipt is None

    async def test_what_left_at_a_resume_is_counted_without_what_was_rewound_past(self) -> None:
        rows, window = Rows(), a_window()
        for number in range(12):
            window.add(rows.ask(f"wish {number} " + "x" * 2_400))
            window.add(rows.answer("read"))
            if number == 2:
                window.add(rows.append(self.note(rewound_meta(window.beginning, Beginning(), 3))))
                window.add(rows.append([NewTurn(role="system", kind=TurnKind.NOTE, content="a pin")]))
        resumed = a_window(5_000)
        await resumed.load(rows)
        window.add(rows.ask("go on"))
        resumed.add(rows.turns[-1:])
        receipt = resumed.assemble().receipt
        assert receipt is not None
        shown = {each.exchange for each in resumed.exchanges}
        assert receipt.exchanges == len({1, *range(4, 14)} - shown)

    async def test_what_is_rewound_past_is_not_told_of_as_having_left(self) -> None:
        rows, window = self.started()
        window.add(rows.append(self.note(rewound_meta(window.beginning, Beginning(), 9))))
        window.add(rows.exchange_with_output("wish 5", "out"))
        window.add(rows.append(self.note(cleared_meta(window.beginning, 21))))
        window.add(rows.ask("fresh"))
        assert "[T1–T8, T18–T21 left the window." in text_of(window.assemble().messages)

    async def test_a_summary_stands_for_what_it_sums_up(self) -> None:
        rows, window = self.started()
        window.add(
            rows.append(self.note(compaction_meta(window.beginning, 12), TurnKind.SUMMARY, "They wished thrice."))
        )
        window.add(rows.ask("go on"))
        messages = window.assemble().messages
        assert "They wished thrice." in text_of(messages[:1]) and text_of(messages).count("thrice") == 1
        assert "wish 2" not in text_of(messages) and "wish 3" in text_of(messages)
        resumed = a_window()
        await resumed.load(rows)
        assert resumed.assemble().messages == messages

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
