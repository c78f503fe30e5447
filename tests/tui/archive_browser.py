"""The archive browser on three sessions, and what stands in its parts."""

from __future__ import annotations

from typing import Any

from textual.pilot import Pilot
from textual.widgets import Static

from loom.tui.screens.archive import ArchiveScreen
from loom.tui.widgets.hit_list import HitList, SessionHeading
from loom.tui.widgets.hit_preview import HitPreview
from tests.support.browsing import HERE, NOW, Fixed, id_of, until


def browser(shelf: Fixed, *, session: str | None = "a1b2", **options: Any) -> ArchiveScreen:
    """The screen as it opens from a session; None: from the picker."""
    session_id = id_of(shelf, session) if session else None
    return ArchiveScreen(shelf, session_id=session_id, workspace=HERE, clock=lambda: NOW, **options)


def found(screen: ArchiveScreen) -> list[str]:
    """What the list says: a session's reference, or a hit's turn."""
    return [
        item.reference if isinstance(item, SessionHeading) else f"T{item.turn_number}"
        for item in screen.query_one(HitList).items
    ]


def said(screen: ArchiveScreen) -> str:
    """The line that tells what was found and where."""
    return str(screen.query_one("#said", Static).content)


def preview(screen: ArchiveScreen) -> str:
    """What stands beside the list."""
    page = screen.query_one(HitPreview).page
    return page.content.plain if page is not None else ""


async def typed(pilot: Pilot[Any], screen: ArchiveScreen, query: str) -> None:
    """Type a query and wait for what it finds."""
    await until(pilot, lambda: screen.is_mounted and screen.query("#query"))
    await pilot.press(*query)
    await until(pilot, lambda: found(screen) or "Nothing found" in said(screen))
