"""Keys that are pressed behind one that leads to another screen are that screen's, however fast they come."""

from __future__ import annotations

from pathlib import Path

from textual.app import App
from textual.events import Key
from textual.widgets import Input

from loom.locations import Locations
from loom.tui.screens.archive import ArchiveScreen
from loom.tui.screens.picker import PickerScreen
from tests.support.browsing import HERE, NOW, Fixed, alone, until
from tests.support.seat import seated


def press_at_once(app: App[object], *keys: str) -> None:
    """As a terminal hands them over that had several waiting."""
    for key in keys:
        app.post_message(Key(key, key if len(key) == 1 else None))


async def test_words_behind_control_f_are_searched_for(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        press_at_once(seat.app, "h", "i", "ctrl+f", *"tokens", "backspace")
        await seat.until(lambda: isinstance(seat.app.screen, ArchiveScreen) and seat.app.screen.query("#query"))
        query = seat.app.screen.query_one("#query", Input)
        await seat.until(lambda: query.value == "token")
        await seat.pilot.press("escape")
        await seat.ready()
        assert seat.chat.draft == "hi"


async def test_words_behind_control_o_filter_the_sessions(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
        press_at_once(seat.app, "ctrl+o", "slash", *"zebra")
        await seat.until(lambda: isinstance(seat.app.screen, PickerScreen) and seat.app.screen.query("#filter"))
        box = seat.app.screen.query_one("#filter", Input)
        await seat.until(lambda: box.value == "zebra")


async def test_words_behind_control_f_in_the_picker_are_searched_for(shelf: Fixed) -> None:
    app = alone(PickerScreen(shelf, HERE, search=shelf, clock=lambda: NOW))
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.screen.query("#filter"))
        press_at_once(app, "ctrl+f", *"token")
        await until(pilot, lambda: isinstance(app.screen, ArchiveScreen) and app.screen.query("#query"))
        query = app.screen.query_one("#query", Input)
        await until(pilot, lambda: query.value == "token")


async def test_words_behind_control_c_are_not_cleared_with_those_before_it(
    locations: Locations, workspace: Path
) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        press_at_once(seat.app, *"old", "ctrl+c", *"new")
        await seat.until(lambda: seat.chat.draft == "new")


async def test_control_c_interrupts_what_runs_whatever_is_written_behind_it(
    locations: Locations, workspace: Path
) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.say("!sleep 600")
        await seat.until(lambda: seat.chat.busy)
        press_at_once(seat.app, "ctrl+c", *"next")
        await seat.until(lambda: not seat.chat.busy)
        assert seat.chat.draft == "next"
