"""The line that says what left the window: read the turns, pin one, bring them back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from loom.archive.records import TurnKind
from loom.locations import Locations
from loom.tui.commands import Call
from loom.tui.screens.left_turns import LeftList, LeftTurnsScreen
from loom.tui.screens.whole import WholeTextScreen
from loom.tui.widgets.line import ErrorBlock, ReceiptLine
from loom.tui.widgets.receipt import Receipt
from loom.tui.widgets.transcript import Transcript
from tests.support.seat import OFFLINE, PATIENCE, Seat, seated

SMALL = replace(OFFLINE, context_window=9_000, output_reserve=1_000, high_water=0.6, low_water=0.3)
BIG = "word " * 1_800


@pytest.fixture
async def seat(locations: Locations, workspace: Path) -> AsyncIterator[Seat]:
    """A conversation of which something has left the window."""
    async with seated(locations, workspace, settings=SMALL) as seat:
        await seat.ready()
        for number in range(12):
            await seat.talk(f"hello {number} {BIG if number else ''}")
            if seat.chat.query(Receipt):
                break
        seat.chat.query(Receipt).first().focus()
        await seat.pilot.pause()
        yield seat


async def test_the_turns_are_listed_read_and_pinned(seat: Seat) -> None:
    await seat.pilot.press("enter")
    await seat.until(lambda: isinstance(seat.app.screen, LeftTurnsScreen))
    rows = seat.app.screen.query_one(LeftList)
    await seat.until(lambda: rows.items)
    assert rows.items[0].turn_number == 1 and (rows.items[0].content or "").startswith("hello 0")
    await seat.pilot.press("p")
    await seat.until(lambda: 1 in rows.pinned)
    await seat.pilot.press("enter")
    await seat.until(lambda: isinstance(seat.app.screen, WholeTextScreen))
    await seat.pilot.press("escape", "escape")
    await seat.until(lambda: seat.app.screen is seat.chat)
    service = seat.chat.service
    assert service is not None and [pin.turn for pin in service.state.pins] == [1]


async def test_they_come_back_by_key_or_it_is_said_what_is_missing(seat: Seat) -> None:
    service = seat.chat.service
    assert service is not None
    before = (await service.window_contents()).exchanges
    ranges = seat.chat.query(Receipt).first().ranges
    await seat.pilot.press("b")
    await seat.until(lambda: seat.chat.query(ErrorBlock) or _noted(seat))
    after = (await service.window_contents()).exchanges
    if seat.chat.query(ErrorBlock):
        assert after == before
    else:
        assert {first for first, _ in ranges} & {each.first_turn for each in after}


async def test_they_come_back_by_mouse(seat: Seat) -> None:
    button = seat.chat.query(Receipt).first().query("_Button").last()
    transcript = seat.chat.query_one(Transcript)
    transcript.release_anchor()
    async with asyncio.timeout(PATIENCE):
        # An earlier scroll may still be on its way.
        while not await seat.pilot.click(button):
            transcript.scroll_to_widget(button, animate=False, immediate=True)
            await seat.pilot.pause()
    await seat.until(lambda: seat.chat.query(ErrorBlock) or _noted(seat))


async def test_it_is_drawn_again_after_a_resume(seat: Seat) -> None:
    service = seat.chat.service
    assert service is not None
    [receipt, *_] = [turn for turn in await service.transcript() if turn.kind is TurnKind.RECEIPT]
    await seat.chat.show_newest()
    await seat.until(lambda: seat.chat.query(Receipt))
    assert seat.chat.query(Receipt).first().source == receipt.content


async def test_a_clearing_and_its_undoing_are_commands(seat: Seat) -> None:
    service = seat.chat.service
    assert service is not None
    before = (await service.window_contents()).exchanges
    seat.chat.run_command(_call("clear"))
    await seat.until(lambda: any("was cleared" in line.source for line in seat.chat.query(ReceiptLine)))
    assert (await service.window_contents()).exchanges == ()
    seat.chat.run_command(_call("unclear"))
    await seat.until(lambda: any("taken back" in line.source for line in seat.chat.query(ReceiptLine)))
    await seat.until(lambda: not service.busy)  # the line is stored before the window is read again
    assert [each.exchange for each in (await service.window_contents()).exchanges] == [each.exchange for each in before]
    seat.chat.run_command(_call("uncompact"))
    await seat.until(lambda: seat.chat.query(ErrorBlock))


def _noted(seat: Seat) -> bool:
    return any(line.source.startswith("In the window again") for line in seat.chat.query(ReceiptLine))


def _call(name: str) -> Call:
    return Call(name, "")
