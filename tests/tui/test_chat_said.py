"""What the screen says in passing: on a line of its own, once, and as long as it is of use."""

from __future__ import annotations

from typing import Any

from textual.pilot import Pilot

from loom.cowork.events import Notice
from loom.tui.passing import Passing
from loom.tui.screens.memory import MemoryScreen
from loom.tui.screens.whole import WholeTextScreen
from loom.tui.widgets.composer import Composer
from loom.tui.widgets.gauge import Gauge
from loom.tui.widgets.said_line import SaidLine
from loom.tui.widgets.transcript import Transcript
from tests.support.clock import Clock
from tests.tui.conftest import ChatApp, settled


async def test_what_is_said_in_passing_covers_nothing_and_is_said_once(app: ChatApp) -> None:
    async with app.run_test(size=(60, 20), notifications=True) as pilot:
        for _ in range(3):
            app.chat.say("Something to know. [/foo] [@click=app.quit]x")
        line = app.chat.query_one(SaidLine)
        while "×3" not in str(line.content):
            await pilot.pause()
        await pilot.pause()
        assert "[/foo] [@click=app.quit]x (×3)" in str(line.content)
        around = (app.chat.query_one(Transcript), app.chat.query_one(Composer), app.chat.query_one(Gauge))
        assert line.region.height == 1 and all(line.region.intersection(each.region).area == 0 for each in around)
        assert not app.screen.query("Toast") or not any(toast.region.area for toast in app.screen.query("Toast"))


async def test_an_error_stays_until_a_key_says_that_it_was_seen(app: ChatApp) -> None:
    clock = Clock()
    app._passing = Passing(clock)
    async with app.run_test() as pilot:
        line = app.chat.query_one(SaidLine)

        async def shows(words: str) -> None:
            while words not in (str(line.content) if line.display else "nothing"):
                await pilot.pause()

        app.chat.say("This went wrong.", "error")
        app.chat.say("By the way.")
        await shows("This went wrong.  +1 more")
        await pilot.press("a")
        clock.now += 3_600
        await pilot.pause()
        await shows("This went wrong.")
        await pilot.press("b")
        await shows("By the way.")
        clock.now += 3_600
        await shows("nothing")
        assert app.chat.query_one(Composer).text == "ab"


async def shown_on(pilot: Pilot[Any], app: ChatApp, words: str) -> None:
    """Wait until the screen that is open says this; empty is nothing."""

    def line() -> str:
        found = app.screen.query(SaidLine)
        return str(found.first().content) if found and found.first().display else ""

    while words not in line() or bool(words) is not bool(line()):
        await pilot.pause()


async def test_what_is_said_of_the_conversation_stays_with_it_and_an_error_follows(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.chat.say("Forked after T12.")
        await shown_on(pilot, app, "Forked after T12.")
        await app.push_screen(WholeTextScreen("whole", "text"))
        await shown_on(pilot, app, "")
        app.chat.say("By the way.")
        app.chat.say("This went wrong.", "error")
        await shown_on(pilot, app, "This went wrong.")
        assert "more" not in str(app.screen.query_one(SaidLine).content)
        await pilot.press("escape")
        await shown_on(pilot, app, "This went wrong.  +2 more")


async def test_what_was_cleared_is_said_until_something_is_written(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.chat.query_one(Composer).put("half a thought")
        await pilot.press("ctrl+c")
        await shown_on(pilot, app, "Cleared")
        await pilot.press("n")
        await shown_on(pilot, app, "")
        await pilot.press("backspace", "ctrl+c")
        await shown_on(pilot, app, "Ctrl+C again")
        await pilot.press("n")
        await shown_on(pilot, app, "")
        await pilot.press("backspace", "ctrl+c")
        await shown_on(pilot, app, "Ctrl+C again")
        assert app.is_running, "a key between the two: nobody meant to leave"


async def test_a_notice_is_no_markup(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.service.tell(Notice("warning", "[/foo] [@click=app.quit]x"))
        await settled(pilot, app)
        assert app.said == ("[/foo] [@click=app.quit]x",)


async def test_what_is_said_over_a_dialog_does_not_move_it_aside(app: ChatApp) -> None:
    async with app.run_test(size=(140, 30)) as pilot:
        await app.push_screen(MemoryScreen(app.service, b""))
        await pilot.pause()
        dialog = app.screen.query_one("Vertical")
        before = dialog.region.x
        await pilot.press("u")
        await shown_on(pilot, app, "no change of the memory")
        await pilot.pause()
        line = app.screen.query_one(SaidLine)
        assert dialog.region.x == before
        assert line.region.bottom == app.size.height and line.region.y >= dialog.region.bottom


async def test_what_is_said_while_loom_is_left_ends_nothing(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.chat.say("By the way.")
        await shown_on(pilot, app, "By the way.")
    # Textual takes the screens away before the timers.
    assert not app.screen_stack
    app._pass_on()
