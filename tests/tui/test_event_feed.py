"""Events reach the screen in order, merged, and a fault in drawing one does not stop the next."""

from __future__ import annotations

import asyncio

from loom.cowork.events import CommandOutput, Event, Notice, TextDelta, ThinkingDelta
from loom.tui.screens.event_feed import EventFeed, merged


def test_neighbouring_deltas_are_one() -> None:
    notice = Notice("information", "x")
    events: list[Event] = [
        TextDelta("a"),
        TextDelta("b"),
        ThinkingDelta("c"),
        ThinkingDelta("d"),
        notice,
        TextDelta("e"),
    ]
    assert merged(events) == [TextDelta("ab"), ThinkingDelta("cd"), notice, TextDelta("e")]


def test_of_neighbouring_ends_of_an_output_the_last_is_drawn() -> None:
    events: list[Event] = [
        CommandOutput("a", "1"),
        CommandOutput("a", "1\n2"),
        CommandOutput("b", "x"),
        CommandOutput("a", "1\n2\n3"),
    ]
    assert merged(events) == events[1:]


async def test_a_fault_is_reported_and_the_rest_is_drawn() -> None:
    drawn: list[Event] = []
    faults: list[Exception] = []

    async def draw(event: Event) -> None:
        if event == Notice("error", "bad"):
            raise ValueError("cannot draw")
        drawn.append(event)

    async def failed(error: Exception) -> None:
        faults.append(error)

    feed = EventFeed(draw, failed)
    task = asyncio.ensure_future(feed.run())
    for event in (TextDelta("a"), Notice("error", "bad"), TextDelta("b")):
        feed.receive(event)
    await feed.drawn()
    task.cancel()
    assert drawn == [TextDelta("a"), TextDelta("b")]
    assert [str(fault) for fault in faults] == ["cannot draw"]
