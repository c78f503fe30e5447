"""A summary that a person asked for, on the screen: it is seen to be made, can be stopped, and fails once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.widgets._footer import FooterKey

from loom.locations import Locations
from loom.tui.widgets.fold import Fold
from loom.tui.widgets.key_bar import KeyBar
from loom.tui.widgets.line import ErrorBlock, ReceiptLine
from loom.tui.widgets.status import StatusLine
from tests.support.provider import ScriptedProvider
from tests.support.replies import Gate, Reply, Text
from tests.support.seat import Seat, seated

LONG = "We looked at the parser. " * 200


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        yield server


def status(seat: Seat) -> str:
    return seat.chat.query_one(StatusLine).work()


def notes(seat: Seat) -> list[str]:
    return [line.source for line in seat.chat.query(ReceiptLine)]


async def test_it_counts_the_seconds_and_esc_stops_it_without_an_alarm(
    provider: ScriptedProvider, locations: Locations, workspace: Path
) -> None:
    gate = Gate()
    provider.add(Reply(Text(LONG)), Reply(gate, Text("Too late.")))
    async with seated(locations, workspace, wanted_model="openai-chat:test") as seat:
        await seat.ready()
        await seat.talk("look")
        await seat.say("/compact")
        await asyncio.to_thread(gate.reached.wait, 30)
        seat.clock.advance(7)
        await seat.until(lambda: "7 s" in status(seat) and "summing up" in status(seat))
        assert "Esc interrupts" in status(seat)
        bar = seat.chat.query_one(KeyBar)
        await seat.until(lambda: "Interrupt" in {key.description for key in bar.query(FooterKey)})
        await seat.pilot.press("escape")
        await seat.until(lambda: not status(seat))
        await seat.until(lambda: any("stopped" in note for note in notes(seat)))
        assert not seat.chat.query(ErrorBlock), "nothing went wrong"
        await seat.until(lambda: "Interrupt" not in {key.description for key in bar.query(FooterKey)})
        gate.open()


async def test_the_same_failure_stands_there_once_and_is_counted(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("list .")
        for _ in range(3):
            await seat.say("/compact")
            await seat.until(lambda: not seat.chat.busy)
        await seat.until(lambda: "(×3)" in str(seat.chat.query(ErrorBlock).last().content))
        assert len(seat.chat.query(ErrorBlock)) == 1
        assert not status(seat)
        await seat.talk("list .")
        await seat.say("/compact")
        await seat.until(lambda: len(seat.chat.query(ErrorBlock)) == 2)
        assert "×" not in str(seat.chat.query(ErrorBlock).last().content), "something lies between the two"


async def test_what_moves_the_mark_says_so(provider: ScriptedProvider, locations: Locations, workspace: Path) -> None:
    provider.add(Reply(Text(LONG)), Reply(Text("Goal: mend the parser (T1).")))
    async with seated(locations, workspace, wanted_model="openai-chat:test") as seat:
        await seat.ready()
        await seat.talk("look")
        gauge = seat.chat.query_one("#gauge")
        assert "moved" not in str(gauge.tooltip) and "oldest exchanges leave" in str(gauge.tooltip)
        await seat.say("/compact")
        await seat.until(lambda: any("Summary" in fold.title for fold in seat.chat.query(Fold)))
        await seat.say("/uncompact")
        await seat.until(lambda: any("mark stands at the full window" in note for note in notes(seat)))
        await seat.until(lambda: "has moved to the full window" in str(gauge.tooltip))
        await seat.pilot.press("f2")
        await seat.until(lambda: seat.app.screen.query("#table"))
        await seat.until(lambda: "has moved to the full window" in str(seat.app.screen.query_one("#table").render()))
