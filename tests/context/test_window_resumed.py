"""The window of a session that is taken up again is the one that it had."""

from __future__ import annotations

import pytest

from loom.archive.records import NewTurn
from loom.context.window import Window
from tests.context.windows import a_window, dumped
from tests.support.window_rows import Rows, words


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
