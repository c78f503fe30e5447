"""The conversation that is on the screen: how it is opened, exchanged for another one, and left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App

from loom.archive.errors import LeaseHeld
from loom.archive.unsent import Unsent
from loom.config import Settings
from loom.cowork.events import Event, QueueChanged
from loom.locations import Locations
from loom.tui.choices import NewSession, OpenSession
from loom.tui.drafts import Drafts
from loom.tui.opening import Opener
from loom.tui.origin import origin_of
from loom.tui.screens.chat import ChatScreen
from loom.tui.screens.held import Held, HeldScreen
from loom.tui.screens.trust import TrustScreen
from loom.tui.view import View, keep_view, load_view

if TYPE_CHECKING:
    from loom.cowork.session import CoworkSession
    from loom.cowork.workbench import Workbench

Target = NewSession | OpenSession


class Stage:
    """One chat screen at a time, and the conversation on it when there is one."""

    def __init__(
        self,
        app: App[None],
        locations: Locations,
        settings: Settings,
        workspace: Path,
        *,
        wanted_model: str,
        trust_project: bool,
        clock: Callable[[], float],
    ) -> None:
        """The parameters are those of `LoomApp`."""
        self._app = app
        self._locations = locations
        self._settings = settings
        self._workspace = workspace
        self._wanted = wanted_model
        self._trust_project = trust_project
        self._clock = clock
        self._asked = False
        self._view = View()
        self._drafts = Drafts(Unsent(locations.unsent), str(workspace), lambda words: self.chat.say(words, "warning"))
        self.chat = ChatScreen(workspace, clock=clock)
        self.session: CoworkSession | None = None
        """None before the first one is opened, and between two."""

    async def load_view(self) -> None:
        """Let the first screen look as it was left the last time."""
        self._view = await asyncio.to_thread(load_view, self._locations.view)
        self.chat.like_panel(self._view.state_panel)

    async def keep_panel(self, *, shown: bool) -> None:
        """Remember whether the state stands beside the conversation. Raises OSError."""
        self._view = View(state_panel=shown)
        await asyncio.to_thread(keep_view, self._locations.view, self._view)

    def shows(self, target: Target) -> bool:
        """Whether the open conversation is this one, open for as much."""
        session = self.session
        if session is None or not isinstance(target, OpenSession) or target.session_id != session.session_id:
            return False
        return target.read_only or not session.read_only

    async def open(self, bench: Workbench, target: Target) -> bool:
        """Show this session in the place of the one that is open; False when the person went back instead. Raises an
        ArchiveError."""
        chat = self.chat if self.session is None else ChatScreen(self._workspace, clock=self._clock)
        opener = Opener(
            bench,
            self._workspace,
            self._settings,
            self._wanted,
            self._ask_about_held,
            trust_project=self._trust_project,
        )
        wanted = target if isinstance(target, OpenSession) else None
        session = await opener.open(
            wanted.session_id if wanted is not None else None,
            lambda event: self._hear(chat, event),
            read_only=wanted is not None and wanted.read_only,
        )
        if session is None:
            return False
        if self.session is not None:
            await self._leave(self.session, chat)
        self.session = session
        await self._restore_draft(session, chat)
        if origin := await origin_of(bench.store, session.session):
            chat.say_origin(origin)
        await chat.attach(session, wanted.turn if wanted is not None else None)
        if wanted is not None and wanted.read_only:
            chat.say("Open to read only. /sessions lists it, to go on with it.")
        await self._ask_about_project(session)
        return True

    def _hear(self, chat: ChatScreen, event: Event) -> None:
        chat.receive(event)
        if isinstance(event, QueueChanged) and chat is self.chat:
            self.draft_changed()

    async def _ask_about_project(self, session: CoworkSession) -> None:
        """Once in the life of the program, unless it was answered before: may the model read the project's
        instructions?"""
        if self._asked or session.read_only or session.beside.standing != "unasked":
            return
        self._asked = True
        answer = await self._app.push_screen_wait(TrustScreen(session.beside.project, clock=self._clock))
        if answer != "later":
            await session.beside.decide(answer)

    async def _ask_about_held(self, title: str, error: LeaseHeld) -> Held:
        return await self._app.push_screen_wait(HeldScreen(title, error, clock=self._clock))

    async def _leave(self, session: CoworkSession, chat: ChatScreen) -> None:
        """Close the open session, keep its draft, and put another chat screen in its place."""
        await self._keep_draft()
        await self._drafts.release()
        self.session, self.chat = None, chat
        await self._app.switch_screen(chat)
        chat.like_panel(self._view.state_panel)
        await session.close()

    async def close(self) -> None:
        """Store what runs, keep what is being written, give the session up."""
        self._drafts.end()
        await self._keep_draft()
        if self.session is not None:
            await self.session.close()
            # A message that could not be stored any more stands there again.
            await self._keep_draft()
        await self._drafts.release()

    # --- what is being written -------------------------------------------------------------------------------

    def draft_changed(self) -> None:
        """What is being written, or waits to be sent, is to be kept soon."""
        self._drafts.keep_soon(self._keep_draft)

    async def _keep_draft(self) -> None:
        session, chat = self.session, self.chat
        if session is not None and chat.is_attached:
            await self._drafts.keep(session.session_id, session.sending, chat.draft)

    async def _restore_draft(self, session: CoworkSession, chat: ChatScreen) -> None:
        chat.restore_draft(await self._drafts.restore(session.session_id, await session.transcript()))
        self.draft_changed()
