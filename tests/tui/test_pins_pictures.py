"""Pictures of the list of pins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from textual.pilot import Pilot

from loom.state.model import Pin
from loom.tui.screens.pins import PinsScreen
from tests.support.turns import session_record, turn
from tests.tui.conftest import ChatApp

PINS = (
    Pin("Never touch the database schema; the port is 8123.", 12),
    Pin("[/foo] \x1b[2J\u202e words that try to be markup, and are long " * 6, 57),
    Pin("metric units", 1_204, "model"),
)


def pictured(*pins: Pin) -> ChatApp:
    app = ChatApp(turns=[turn(12, "user", "Never touch the database schema.")], session=session_record())
    app.service.state = replace(app.service.state, pins=pins)
    return app


async def opened(pilot: Pilot[Any]) -> None:
    app = pilot.app
    assert isinstance(app, ChatApp)
    await app.push_screen(PinsScreen(app.service))
    await pilot.pause()


def test_some(snap_compare: Any) -> None:
    assert snap_compare(pictured(*PINS), terminal_size=(110, 20), run_before=opened)


def test_narrow_and_hostile(snap_compare: Any) -> None:
    assert snap_compare(pictured(*PINS), terminal_size=(60, 16), run_before=opened)


def test_empty(snap_compare: Any) -> None:
    assert snap_compare(pictured(), terminal_size=(80, 16), run_before=opened)
