"""Files of the archive that are removed under the program are told of, on whatever screen is open."""

from __future__ import annotations

from pathlib import Path

from loom.archive import ConversationStore
from loom.locations import Locations
from loom.tui.choices import OpenSession
from loom.tui.screens.chat import ChatScreen
from loom.tui.screens.held import HeldScreen
from loom.tui.screens.picker import PickerScreen
from loom.tui.widgets.said_line import SaidLine
from tests.support.seat import Seat, seated


async def told_of_a_removed_log(seat: Seat, locations: Locations) -> None:
    """Remove the log of the archive; ends when the screen that is open says so."""
    locations.archive.with_name(f"{locations.archive.name}-wal").unlink()
    await seat.until(
        lambda: any("removed or replaced" in str(line.content) for line in seat.app.screen.query(SaidLine))
    )


async def test_in_the_picker(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
    async with seated(locations, workspace) as seat:
        await seat.until(lambda: isinstance(seat.app.screen, PickerScreen))
        await told_of_a_removed_log(seat, locations)


async def test_in_a_conversation_after_a_look_at_one_that_another_loom_has(
    locations: Locations, workspace: Path
) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
        other = await ConversationStore.open(locations.archive)
        try:
            held = await other.create_session(workspace, "offline", "")
            await other.append_turn(held, "user", "theirs")
            await other.acquire_lease(held)
            seat.app.visit(OpenSession(held))
            await seat.until(lambda: isinstance(seat.app.screen, HeldScreen) and seat.app.screen.is_mounted)
            seat.clock.advance(1)
            await seat.pilot.press("escape")
            await seat.until(lambda: isinstance(seat.app.screen, ChatScreen))
        finally:
            await other.close()
        await told_of_a_removed_log(seat, locations)
