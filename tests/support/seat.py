"""A person in front of the whole program: real archive, real tools, the offline model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.widgets import Static

from loom.config import Settings
from loom.locations import Locations
from loom.tui.app import LoomApp
from loom.tui.screens.chat import ChatScreen
from loom.tui.widgets.card_title import CardState
from loom.tui.widgets.composer import Composer
from loom.tui.widgets.session_list import SessionList
from loom.tui.widgets.tool_card import ToolCard
from tests.support.clock import Clock

PATIENCE = 60.0
"""Seconds after which a test that waits is wrong; never how long anything should take."""
OFFLINE = Settings(model="offline")


class Seat:
    """A person in front of the program."""

    def __init__(self, app: LoomApp, pilot: Pilot[Any], clock: Clock) -> None:
        self.app = app
        self.clock = clock
        self.pilot = pilot

    @property
    def chat(self) -> ChatScreen:
        screen = self.app.screen
        assert isinstance(screen, ChatScreen)
        return screen

    @property
    def session_id(self) -> str:
        service = self.chat.service
        assert service is not None and service.session is not None
        return service.session.id

    async def until(self, what: Callable[[], object]) -> None:
        """Let the program go on until this is so."""
        async with asyncio.timeout(PATIENCE):
            while not what():
                await self.pilot.pause()

    async def ready(self) -> None:
        await self.until(lambda: isinstance(self.app.screen, ChatScreen) and self.chat.service is not None)
        await self.until(lambda: self.chat.service is not None and self.chat.service.usage is not None)

    async def say(self, text: str) -> None:
        self.chat.query_one(Composer).put(text)
        await self.pilot.press("enter")

    async def idle(self) -> None:
        await self.until(lambda: not self.chat.busy)
        await self.chat.drawn()
        await self.pilot.pause()

    async def talk(self, text: str) -> None:
        """Say it and wait for the end of its exchange."""
        ended = self._exchanges + 1
        await self.say(text)
        await self.until(lambda: self._exchanges >= ended and not self.chat.busy)
        await self.idle()

    @property
    def _exchanges(self) -> int:
        service = self.chat.service
        return service.session.exchange_count if service is not None and service.session is not None else 0

    @property
    def rows(self) -> Sequence[object]:
        """The rows of the picker that is open."""
        return self.app.screen.query_one(SessionList).items

    @property
    def welcome(self) -> str:
        """What the welcome says; empty when there is none."""
        return "\n".join(str(each.content) for each in self.chat.query("Welcome Static").results(Static))

    def cards(self) -> list[tuple[str, CardState]]:
        return [(card.tool_name, card.state) for card in self.chat.query(ToolCard)]


@asynccontextmanager
async def seated(
    locations: Locations,
    workspace: Path,
    *,
    settings: Settings = OFFLINE,
    size: tuple[int, int] = (110, 40),
    **options: Any,
) -> AsyncIterator[Seat]:
    """The program, started; it is left at the end. `options` are those of LoomApp."""
    clock = Clock()
    app = LoomApp(locations, settings, workspace, clock=clock, **options)
    async with app.run_test(size=size) as pilot:
        yield Seat(app, pilot, clock)
