"""A text read whole, and how it is stored."""

from __future__ import annotations

from loom.tui.screens.whole import WholeTextScreen
from loom.tui.widgets.text_view import TextView
from tests.support.browsing import alone, until


async def test_r_turns_it_over_and_back_and_y_copies_what_is_seen() -> None:
    screen = WholeTextScreen("T3", "read_file a.py", verbatim='{"path": "a.py"}')
    app = alone(screen)
    async with app.run_test() as pilot:
        await pilot.press("r")
        await until(pilot, lambda: screen.query_one(TextView).text == '{"path": "a.py"}')
        await pilot.press("y")
        await until(pilot, lambda: app.clipboard == '{"path": "a.py"}')
        await pilot.press("r")
        await until(pilot, lambda: screen.query_one(TextView).text == "read_file a.py")
        assert len(screen.query(TextView)) == 1


async def test_a_text_that_is_stored_as_it_is_shown_has_no_other_side() -> None:
    screen = WholeTextScreen("T3", "words")
    async with alone(screen).run_test() as pilot:
        await pilot.press("r")
        await pilot.pause()
        assert screen.query_one(TextView).text == "words"
        assert "r" not in {binding.key for _, binding, enabled, _ in screen.active_bindings.values() if enabled}
