"""A listener that keeps every event and lets a test wait for one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from loom.cowork.events import Event, ExchangeEnded

E = TypeVar("E")
PATIENCE = 60.0
"""Seconds after which a test that waits for an event is wrong; never how long anything should take."""


class Listening:
    """Give `take` to a session; then `await listening.until(Kind)`."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._seen = 0
        self._changed = asyncio.Event()
        self._reactions: list[Callable[[Event], None]] = []

    def take(self, event: Event) -> None:
        self.events.append(event)
        self._changed.set()
        for reaction in self._reactions:
            asyncio.get_running_loop().call_soon(reaction, event)

    def on(self, kind: type[E], react: Callable[[E], None]) -> None:
        """Call `react` soon after each event of this kind, from the loop."""
        self._reactions.append(lambda event: react(event) if isinstance(event, kind) else None)

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    async def until(self, kind: type[E], where: Callable[[E], bool] = lambda _: True) -> E:
        """The next event of this kind behind those that were waited for before."""

        async def wait() -> E:
            while True:
                while self._seen < len(self.events):
                    event = self.events[self._seen]
                    self._seen += 1
                    if isinstance(event, kind) and where(event):
                        return event
                self._changed.clear()
                await self._changed.wait()

        return await asyncio.wait_for(wait(), PATIENCE)

    async def ended(self) -> ExchangeEnded:
        return await self.until(ExchangeEnded)
