"""Ctrl+C over the conversation: it closes what stands there, as Esc does, and never the program at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.command import CommandPalette
from textual.screen import Screen

from loom.locations import Locations
from loom.tui.choices import NewSession
from loom.tui.screens.archive import ArchiveScreen
from loom.tui.screens.ask import AskScreen
from loom.tui.screens.chat import ChatScreen
from loom.tui.screens.choose_model import ChooseModelScreen
from loom.tui.screens.confirm import ConfirmScreen
from loom.tui.screens.help import HelpScreen
from loom.tui.screens.memory import MemoryScreen
from loom.tui.screens.picker import PickerScreen
from loom.tui.screens.usage import UsageScreen
from loom.tui.widgets.session_list import SessionList
from tests.support.seat import Seat, seated


async def _on(seat: Seat, screen: type[Screen[object]]) -> None:
    await seat.until(lambda: isinstance(seat.app.screen, screen) and seat.app.screen.is_mounted)
    await seat.pilot.pause()


@pytest.mark.parametrize(
    ("key", "screen"),
    [("f1", HelpScreen), ("f2", UsageScreen), ("ctrl+f", ArchiveScreen), ("ctrl+p", CommandPalette)],
)
async def test_it_closes_what_a_key_opened(
    locations: Locations, workspace: Path, key: str, screen: type[Screen[object]]
) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.pilot.press(key)
        await _on(seat, screen)
        await seat.pilot.press("ctrl+c")
        await _on(seat, ChatScreen)
        assert not seat.app.said, "closing it is no first step towards the end of loom"


@pytest.mark.parametrize(("command", "screen"), [("/model", ChooseModelScreen), ("/memory", MemoryScreen)])
async def test_it_closes_what_a_command_opened(
    locations: Locations, workspace: Path, command: str, screen: type[Screen[object]]
) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.say(command)
        await _on(seat, screen)
        await seat.pilot.press("ctrl+c")
        await _on(seat, ChatScreen)


async def test_pressed_again_it_asks_once_before_loom_is_left(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.pilot.press("f1")
        await _on(seat, HelpScreen)
        await seat.pilot.press("ctrl+c", "ctrl+c")
        await _on(seat, ChatScreen)
        assert seat.app.is_running and seat.app.said == ("Press Ctrl+C again to quit.",)


async def test_in_the_list_it_is_a_no_to_a_deletion_and_to_a_title_and_then_the_way_back(
    locations: Locations, workspace: Path
) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
        seat.app.visit(NewSession())
        await seat.until(lambda: isinstance(seat.app.screen, ChatScreen) and not seat.cards())
        await seat.ready()
        await seat.pilot.press("ctrl+o")
        await _on(seat, PickerScreen)
        await seat.until(lambda: len(seat.rows) == 2)
        await seat.pilot.press("down")
        for key, screen in (("d", ConfirmScreen), ("r", AskScreen)):
            await seat.pilot.press(key)
            await _on(seat, screen)
            await seat.pilot.press("ctrl+c")
            await _on(seat, PickerScreen)
            assert len(seat.app.screen.query_one(SessionList).items) == 2
        await seat.pilot.press("slash", "x", "ctrl+c")
        assert len(seat.rows) == 2 and isinstance(seat.app.screen, PickerScreen), "first it clears the filter"
        await seat.pilot.press("ctrl+c")
        await _on(seat, ChatScreen)


async def test_the_list_that_loom_begins_with_is_left_by_two(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
    async with seated(locations, workspace) as seat:
        await _on(seat, PickerScreen)
        await seat.pilot.press("ctrl+c")
        assert isinstance(seat.app.screen, PickerScreen) and seat.app.said == ("Press Ctrl+C again to quit.",)
        await seat.pilot.press("ctrl+c")
        await seat.until(lambda: not seat.app.is_running)
        assert seat.app.return_code == 0
