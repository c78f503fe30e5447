"""What is pressed while the archive is still being opened is done when it is open, and the keys behind it come to where
they were meant for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.events import Paste
from textual.widgets import Input

from loom.archive import ConversationStore
from loom.archive.errors import ArchiveUnavailable
from loom.config import Settings
from loom.cowork.workbench import Workbench
from loom.locations import Locations
from loom.tui import app as app_module
from loom.tui.opening import open_workbench
from loom.tui.screens.archive import ArchiveScreen
from loom.tui.screens.chat import ChatScreen
from loom.tui.screens.help import HelpScreen
from loom.tui.screens.picker import PickerScreen
from loom.tui.widgets.composer import Composer
from loom.tui.widgets.status import StatusLine
from tests.support.seat import Seat, seated
from tests.tui.test_held import asked
from tests.tui.test_keys_behind import press_at_once


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[asyncio.Event]:
    """The archive is opened when this is set."""
    gate = asyncio.Event()

    async def open_behind_gate(locations: Locations, settings: Settings) -> Workbench:
        await gate.wait()
        return await open_workbench(locations, settings)

    monkeypatch.setattr(app_module, "open_workbench", open_behind_gate)
    yield gate
    gate.set()


async def _one_session(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")


async def _begun(seat: Seat) -> None:
    await seat.until(lambda: isinstance(seat.app.screen, ChatScreen) and seat.chat.query(Composer))
    seat.chat.query_one(Composer).cursor_blink = False


def _line(seat: Seat, screen: type, selector: str) -> Input | None:
    """The line to write in of this screen, when it is there."""
    found = seat.app.screen.query(selector) if isinstance(seat.app.screen, screen) else ()
    return next(iter(found), None)


def _status(seat: Seat) -> str:
    return str(seat.chat.query_one(StatusLine).render())


async def test_words_behind_control_f_wait_for_the_archive(
    locations: Locations, workspace: Path, gate: asyncio.Event
) -> None:
    async with seated(locations, workspace) as seat:
        await _begun(seat)
        press_at_once(seat.app, "h", "i", "ctrl+f", *"tokens", "backspace")
        await seat.until(lambda: "what you type goes to the archive browser" in _status(seat))
        await seat.pilot.press("x")  # not in one burst: they wait all the same
        assert seat.chat.query_one(Composer).text == "hi"
        gate.set()
        await seat.until(lambda: _line(seat, ArchiveScreen, "#query"))
        query = _line(seat, ArchiveScreen, "#query")
        assert query is not None
        await seat.until(lambda: query.value == "tokenx")
        await seat.pilot.press("escape")
        await seat.ready()
        assert seat.chat.draft == "hi" and "what you type" not in _status(seat)


async def test_words_behind_control_f_are_searched_for_over_the_first_list(
    locations: Locations, workspace: Path, gate: asyncio.Event
) -> None:
    gate.set()
    await _one_session(locations, workspace)
    gate.clear()
    async with seated(locations, workspace) as seat:
        await _begun(seat)
        press_at_once(seat.app, "ctrl+f", *"tokens")
        await seat.until(lambda: "archive browser" in _status(seat))
        gate.set()
        await seat.until(lambda: (line := _line(seat, ArchiveScreen, "#query")) and line.value == "tokens")
        await seat.pilot.press("escape")
        await seat.until(lambda: isinstance(seat.app.screen, PickerScreen))


async def test_words_behind_control_o_filter_the_first_list(
    locations: Locations, workspace: Path, gate: asyncio.Event
) -> None:
    gate.set()
    await _one_session(locations, workspace)
    gate.clear()
    async with seated(locations, workspace) as seat:
        await _begun(seat)
        press_at_once(seat.app, "ctrl+o", "slash", *"zebra")
        await seat.until(lambda: "list of sessions" in _status(seat))
        gate.set()
        await seat.until(lambda: (line := _line(seat, PickerScreen, "#filter")) and line.value == "zebra")
        assert sum(isinstance(screen, PickerScreen) for screen in seat.app.screen_stack) == 1


async def test_a_session_that_is_gone_on_with_is_open_before_its_turns_are_searched(
    locations: Locations, workspace: Path, gate: asyncio.Event
) -> None:
    gate.set()
    await _one_session(locations, workspace)
    gate.clear()
    async with seated(locations, workspace, resume="0") as seat:
        await _begun(seat)
        press_at_once(seat.app, "ctrl+f", *"T1")
        await seat.until(lambda: "archive browser" in _status(seat))
        gate.set()
        await seat.until(lambda: (line := _line(seat, ArchiveScreen, "#query")) and line.value == "T1")
        # Of a session that is open, a turn can be named.
        await seat.pilot.press("enter")
        await seat.ready()
        assert not seat.chat.draft


async def test_what_is_asked_meanwhile_gets_its_answer_and_the_words_wait(
    locations: Locations, workspace: Path, gate: asyncio.Event
) -> None:
    gate.set()
    await _one_session(locations, workspace)
    gate.clear()
    other = await ConversationStore.open(locations.archive)
    (session,) = await other.list_sessions()
    await other.acquire_lease(session.id)
    async with seated(locations, workspace, resume="0") as seat:
        await _begun(seat)
        press_at_once(seat.app, "ctrl+f", *"tokens")
        await seat.until(lambda: "archive browser" in _status(seat))
        gate.set()
        await asked(seat, "r")
        await seat.until(lambda: (line := _line(seat, ArchiveScreen, "#query")) and line.value == "tokens")
        await seat.pilot.press("escape")
        await seat.ready()
        assert seat.chat.service is not None and seat.chat.service.read_only and not seat.chat.draft
    await other.close()


async def test_a_paste_behind_control_f_waits_too(locations: Locations, workspace: Path, gate: asyncio.Event) -> None:
    async with seated(locations, workspace) as seat:
        await _begun(seat)
        press_at_once(seat.app, "ctrl+f")
        seat.app.post_message(Paste("an error"))
        await seat.until(lambda: "archive browser" in _status(seat))
        await seat.pilot.pause()
        gate.set()
        await seat.until(lambda: (line := _line(seat, ArchiveScreen, "#query")) and line.value == "an error")


async def test_esc_calls_it_off(locations: Locations, workspace: Path, gate: asyncio.Event) -> None:
    async with seated(locations, workspace) as seat:
        await _begun(seat)
        press_at_once(seat.app, "ctrl+f", *"tokens", "escape", *"hello")
        await seat.until(lambda: seat.chat.query_one(Composer).text == "hello")
        assert "what you type" not in _status(seat)
        gate.set()
        await seat.ready()
        assert seat.chat.draft == "hello"


async def test_what_was_typed_stands_in_the_composer_when_the_archive_cannot_be_opened(
    locations: Locations, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = asyncio.Event()

    async def fail_behind_gate(locations: Locations, settings: Settings) -> Workbench:
        await gate.wait()
        raise ArchiveUnavailable("The archive is gone.")

    monkeypatch.setattr(app_module, "open_workbench", fail_behind_gate)
    async with seated(locations, workspace) as seat:
        await _begun(seat)
        press_at_once(seat.app, "ctrl+f", *"tokens", "enter")
        await seat.until(lambda: "archive browser" in _status(seat))
        gate.set()
        await seat.until(lambda: seat.chat.draft == "tokens")
        assert "not open" in _status(seat)
        await seat.until(lambda: any("The archive is gone." in said for said in seat.app.said))


async def test_help_that_was_opened_meanwhile_is_read_before_the_list_comes(
    locations: Locations, workspace: Path, gate: asyncio.Event
) -> None:
    gate.set()
    await _one_session(locations, workspace)
    gate.clear()
    async with seated(locations, workspace) as seat:
        await _begun(seat)
        await seat.pilot.press("f1")
        assert isinstance(seat.app.screen, HelpScreen)
        gate.set()
        await seat.until(lambda: seat.app._bench is not None)
        await seat.pilot.pause()
        assert isinstance(seat.app.screen, HelpScreen)
        await seat.pilot.press("escape")
        await seat.until(lambda: isinstance(seat.app.screen, PickerScreen))
