"""Tags on the screen: put on the open session, seen in the list and found by."""

from __future__ import annotations

from pathlib import Path

from textual.widgets import Input

from loom.archive.records import Session
from loom.locations import Locations
from loom.tui.screens.picker import PickerScreen
from loom.tui.widgets.composer import Composer
from loom.tui.widgets.line import ErrorBlock
from loom.tui.widgets.session_list import SessionList
from tests.support.seat import Seat, seated


def tags(seat: Seat) -> tuple[str, ...]:
    service = seat.chat.service
    assert service is not None and service.session is not None
    return service.session.tags


def errors(seat: Seat) -> str:
    return "\n".join(block.source for block in seat.chat.query(ErrorBlock))


def listed(seat: Seat) -> list[Session]:
    return [row for row in seat.rows if isinstance(row, Session)]


async def test_a_session_is_tagged_and_found_by_its_tag(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("list .")
        await seat.say("/tag auth [b]bold")
        await seat.until(lambda: tags(seat) == ("auth", "[b]bold"))
        await seat.say("/new")
        await seat.until(lambda: seat.chat.service is not None and seat.chat.service.session is None)
        await seat.ready()
        await seat.talk("read README.md")
        await seat.pilot.press("ctrl+o")
        await seat.until(lambda: isinstance(seat.app.screen, PickerScreen) and len(listed(seat)) == 2)
        rows = seat.app.screen.query_one(SessionList)
        drawn = "\n".join(line.plain for row in listed(seat) for line in rows.draw_row(row, 80))
        assert "#auth #[b]bold" in drawn
        await seat.pilot.press("slash", *"#auth")
        await seat.until(lambda: seat.app.screen.query_one(Input).value == "#auth")
        await seat.until(lambda: [session.tags for session in listed(seat)] == [("auth", "[b]bold")])


async def test_tags_are_taken_off_and_what_is_none_is_said(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.say("/tag auth")
        await seat.until(lambda: "Nothing has been said yet." in errors(seat))
        seat.chat.query_one(Composer).put("")
        await seat.talk("list .")
        await seat.say("/tag auth backend")
        await seat.until(lambda: tags(seat) == ("auth", "backend"))
        await seat.say("/untag #AUTH")
        await seat.until(lambda: tags(seat) == ("backend",))
        await seat.say("/untag auth")
        await seat.until(lambda: "auth is no tag here. It has #backend." in errors(seat))
        seat.chat.query_one(Composer).put("")
        await seat.say("/tag " + "x" * 33)
        await seat.until(lambda: "at most 32 characters" in errors(seat))
        assert tags(seat) == ("backend",)
