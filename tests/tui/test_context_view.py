"""`/context` of a real conversation."""

from __future__ import annotations

from pathlib import Path

from textual.widgets import Static

from loom.locations import Locations
from loom.tui.screens.chat import ChatScreen
from loom.tui.screens.usage import UsageScreen
from tests.support.seat import Seat, seated


async def look(seat: Seat) -> dict[str, str]:
    """What the view says under its headings; it is left again."""
    await seat.pilot.press("f2")
    await seat.until(lambda: isinstance(seat.app.screen, UsageScreen) and seat.app.screen.query("#left"))
    said = {name: str(seat.app.screen.query_one(f"#{name}", Static).content) for name in ("exchanges", "left")}
    await seat.pilot.press("escape")
    await seat.until(lambda: isinstance(seat.app.screen, ChatScreen))
    return said


async def test_it_shows_the_exchanges_of_the_window_and_then_what_left(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
        await seat.talk("list the files")
        said = await look(seat)
        newest, oldest = said["exchanges"].split("\n")
        assert "list the files" in newest
        assert oldest.startswith("T1–T") and "read README.md" in oldest
        assert said["left"] == "Nothing has left the window."

        await seat.say("/clear")
        await seat.until(lambda: seat.chat.query("ReceiptLine"))
        said = await look(seat)
        assert "read README.md" not in said["exchanges"]
        assert said["left"].startswith("The window was cleared.")
