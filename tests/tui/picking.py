"""The picker on three sessions, and what stands in it."""

from __future__ import annotations

from typing import Any

from textual.pilot import Pilot
from textual.widgets import Static

from loom.archive.records import Session
from loom.tui.screens.picker import PickerScreen
from loom.tui.widgets.session_list import SessionList
from tests.support.browsing import HERE, NOW, Alone, Fixed, until


class Clock:
    """Seconds, one more at every look: no key is ever too soon."""

    now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def picker(shelf: Fixed, workspace: str = HERE, **options: Any) -> PickerScreen:
    return PickerScreen(shelf, workspace, search=shelf, clock=lambda: NOW, key_clock=Clock(), **options)


def titles(app: Alone) -> list[str]:
    rows = app.screen_stack[1].query_one(SessionList).items
    return [row.title for row in rows if isinstance(row, Session)]


def current(app: Alone) -> str | None:
    row = app.screen_stack[1].query_one(SessionList).current
    return row.title if isinstance(row, Session) else None


def said(app: Alone) -> str:
    return str(app.screen_stack[1].query_one("#said", Static).content)


async def loaded(pilot: Pilot[Any], count: int = 2) -> None:
    app = pilot.app
    assert isinstance(app, Alone)
    await until(pilot, lambda: len(app.screen_stack) > 1 and len(titles(app)) == count)
