"""Events on their way to the screen: in order, deltas merged, drawn no faster than the screen can."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from time import monotonic

from loom.cowork.events import CommandOutput, Event, TextDelta, ThinkingDelta

FRAME_SECONDS = 0.05
"""Streamed text is drawn at most twenty times a second; a widget update for every token would stall the stream."""


def merged(events: Iterable[Event]) -> list[Event]:
    """The same events with neighbouring deltas joined; of neighbouring ends of an output, the last."""
    result: list[Event] = []
    for event in events:
        last = result[-1] if result else None
        if isinstance(event, TextDelta) and isinstance(last, TextDelta):
            result[-1] = TextDelta(last.text + event.text)
        elif isinstance(event, ThinkingDelta) and isinstance(last, ThinkingDelta):
            result[-1] = ThinkingDelta(last.text + event.text)
        elif isinstance(event, CommandOutput) and isinstance(last, CommandOutput) and event.call_id == last.call_id:
            result[-1] = event
        else:
            result.append(event)
    return result


class EventFeed:
    """A listener that returns at once, and the loop that draws what it was told."""

    def __init__(
        self,
        draw: Callable[[Event], Awaitable[None]],
        failed: Callable[[Exception], Awaitable[None]],
    ) -> None:
        self._draw = draw
        self._failed = failed
        self._events: asyncio.Queue[Event] = asyncio.Queue()

    def receive(self, event: Event) -> None:
        self._events.put_nowait(event)

    async def drawn(self) -> None:
        """Returns when everything that was received so far is on the screen."""
        await self._events.join()

    async def run(self) -> None:
        """Draw for ever. An event that cannot be drawn is handed to `failed`; the next ones are drawn."""
        while True:
            batch = [await self._events.get()]
            while not self._events.empty():
                batch.append(self._events.get_nowait())
            began = monotonic()
            for event in merged(batch):
                try:
                    await self._draw(event)
                except Exception as error:  # noqa: BLE001 - a fault in drawing ends the exchange, not the program
                    await self._failed(error)
            for _ in batch:
                self._events.task_done()
            if isinstance(batch[-1], TextDelta | ThinkingDelta | CommandOutput):
                # A long code block takes longer to draw: leave the loop as much time for everything else.
                await asyncio.sleep(max(FRAME_SECONDS, monotonic() - began))
