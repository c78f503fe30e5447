"""Time travel on the screen, through a real archive."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from textual.widgets import Input, Static

from loom.locations import Locations
from loom.tui.screens.chat import ChatScreen
from loom.tui.screens.past_request import PastRequestScreen
from loom.tui.screens.usage import UsageScreen
from loom.tui.screens.whole import WholeTextScreen
from loom.tui.widgets.part_list import Heading, PartList, PartRow
from loom.tui.widgets.text_view import TextView
from loom.tui.widgets.title_line import TitleLine
from tests.support.seat import Seat, seated


@asynccontextmanager
async def travelling(locations: Locations, workspace: Path) -> AsyncIterator[Seat]:
    """On the newest request of a session of two exchanges."""
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
        await seat.talk("list the files")
        await seat.pilot.press("f2")
        await seat.until(lambda: isinstance(seat.app.screen, UsageScreen))
        await seat.pilot.press("left")
        await seat.until(lambda: isinstance(seat.app.screen, PastRequestScreen))
        await seat.until(lambda: "sent" in title(seat))
        yield seat


def title(seat: Seat) -> str:
    return seat.app.screen.query_one(TitleLine).render().plain


def parts(seat: Seat) -> PartList:
    return seat.app.screen.query_one(PartList)


def words(seat: Seat) -> str:
    return "\n".join(row.part.text if isinstance(row, PartRow) else row.text for row in parts(seat).items)


async def shown(seat: Seat, start: str, *, where: Callable[[], object] = lambda: True) -> None:
    await seat.until(lambda: title(seat).startswith(start) and "sent" in title(seat) and where())


async def test_every_request_is_a_key_away(locations: Locations, workspace: Path) -> None:
    async with travelling(locations, workspace) as seat:
        assert title(seat).startswith("Request 4 of 4") and "as it was sent" in title(seat)
        assert "list the files" in words(seat)
        await seat.pilot.press("home")
        await shown(seat, "Request 1 of 4")
        assert "list the files" not in words(seat) and "read README.md" in words(seat)
        await seat.pilot.press("left")
        await seat.pilot.press("right")
        await shown(seat, "Request 2 of 4")
        assert "A small program to work on." in words(seat)
        await seat.pilot.press("end")
        await shown(seat, "Request 4 of 4")
        await seat.pilot.press("escape", "escape")
        await seat.until(lambda: isinstance(seat.app.screen, ChatScreen))


async def test_keys_faster_than_reading_end_at_the_last_one(locations: Locations, workspace: Path) -> None:
    async with travelling(locations, workspace) as seat:
        await seat.pilot.press("left", "left", "left", "right")
        await shown(seat, "Request 2 of 4", where=lambda: "A small program to work on." in words(seat))
        assert "list the files" not in words(seat)


async def test_go_to_a_turn_or_a_number_and_refuse_the_rest(locations: Locations, workspace: Path) -> None:
    async with travelling(locations, workspace) as seat:
        for wanted, start in (("T1", "Request 1"), ("3", "Request 3"), ("99", "Request 4")):
            await seat.pilot.press("t")
            await seat.until(lambda: seat.app.screen.query(Input))
            seat.app.screen.query_one(Input).value = wanted
            await seat.pilot.press("enter")
            await seat.until(lambda: isinstance(seat.app.screen, PastRequestScreen))
            await shown(seat, start)
        await seat.pilot.press("t")
        await seat.until(lambda: seat.app.screen.query(Input))
        seat.app.screen.query_one(Input).value = "soon"
        await seat.pilot.press("enter")
        await seat.until(lambda: any("no request" in each for each in seat.app.said))


async def test_a_part_opens_whole_and_a_difference_as_a_diff(locations: Locations, workspace: Path) -> None:
    async with travelling(locations, workspace) as seat:
        await seat.pilot.press("enter")
        await seat.until(lambda: isinstance(seat.app.screen, WholeTextScreen))
        assert "read_file" in seat.app.screen.query_one(TextView).text, "the first part is the tools"
        await seat.pilot.press("escape")
        await seat.pilot.press("home")
        await shown(seat, "Request 1 of 4")
        await seat.pilot.press("m", "end", "d")
        await shown(seat, "Request 4 of 4", where=lambda: isinstance(parts(seat).items[0], Heading))
        assert "compared with request 1" in str(seat.app.screen.query_one("#facts", Static).content)
        signs = [row.sign for row in parts(seat).items if isinstance(row, PartRow)]
        assert "+" in signs and "~" in signs and "-" not in signs
        changed = next(at for at, row in enumerate(parts(seat).items) if isinstance(row, PartRow) and row.sign == "~")
        parts(seat).move_to(changed)
        await seat.pilot.press("enter")
        await seat.until(lambda: isinstance(seat.app.screen, WholeTextScreen))
        text = seat.app.screen.query_one(TextView).text
        assert "+current_focus: list the files" in text and "-current_focus: read README.md" in text
        await seat.pilot.press("escape", "d")
        await shown(seat, "Request 4 of 4", where=lambda: isinstance(parts(seat).items[0], PartRow))


async def test_the_first_request_has_none_before_it(locations: Locations, workspace: Path) -> None:
    async with travelling(locations, workspace) as seat:
        await seat.pilot.press("home", "d")
        await shown(seat, "Request 1 of 4", where=lambda: isinstance(parts(seat).items[0], Heading))
        assert "no request before" in words(seat)


async def test_before_the_first_message_there_is_nothing_to_travel_to(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.pilot.press("f2")
        await seat.until(lambda: isinstance(seat.app.screen, UsageScreen))
        await seat.pilot.press("left")
        await seat.until(lambda: any("No request" in each for each in seat.app.said))
        assert isinstance(seat.app.screen, UsageScreen)
