"""From far up in a long session back to its newest turn, however many turns lie between."""

from __future__ import annotations

from pathlib import Path

import pytest

from loom.archive import ConversationStore
from loom.archive.records import NewTurn
from loom.locations import Locations
from loom.tui.choices import JumpTo
from loom.tui.widgets.blocks import block_turn
from loom.tui.widgets.transcript import Transcript
from tests.support.seat import Seat, seated

TURNS = 1_200


async def _long_session(locations: Locations, workspace: Path) -> None:
    locations.prepare()
    store = await ConversationStore.open(locations.archive)
    session = await store.create_session(workspace, "offline", "")
    said = [NewTurn(role="user" if n % 2 else "assistant", content=f"line {n}") for n in range(1, TURNS + 1)]
    await store.append_turns(session, said)
    await store.close()


async def _far_up(seat: Seat) -> Transcript:
    await seat.ready()
    seat.app.visit(JumpTo(seat.session_id, 200))
    transcript = seat.chat.query_one(Transcript)
    await seat.until(lambda: transcript.query(".-found") and 0 < transcript.newest_turn < TURNS)
    return transcript


@pytest.mark.parametrize("keys", [["escape"], ["ctrl+l"], ["shift+tab", "end"]])
async def test_a_key_leads_to_the_newest_turn(locations: Locations, workspace: Path, keys: list[str]) -> None:
    await _long_session(locations, workspace)
    async with seated(locations, workspace, resume="0") as seat:
        transcript = await _far_up(seat)
        await seat.pilot.press(*keys)
        await seat.until(lambda: transcript.newest_turn == TURNS and transcript.at_bottom)
        assert not transcript.newer_dropped
        numbers = [number for number in map(block_turn, transcript.children) if number]
        assert numbers == sorted(numbers)
