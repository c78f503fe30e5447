"""The conversation that is on the screen: how it is opened, exchanged for another one, and left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App

from loom.archive.errors import LeaseHeld
from loom.archive.leases import Holder
from loom.archive.unsent import Unsent
from loom.config import Settings
from loom.cowork.events import Event, QueueChanged
from loom.cowork.typed import unpacked
from loom.locations import Locations
from loom.tui.choices import NewSession, OpenSession
from loom.tui.drafts import Drafts
from loom.tui.opening import Opener
from loom.tui.origin import origin_of
from loom.tui.places import begun_in_words, is_gone
from loom.tui.screens.chat import ChatScreen
from loom.tui.screens.held import Held, HeldScreen
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
        self._view = View()
        self._drafts = Drafts(Unsent(locations.unsent), str(workspace), lambda words: self.chat.say(words, "warning"))
        self.chat = ChatScreen(workspace, clock=clock)
        self.session: CoworkSession | None = None
        """None before the first one is opened, and between two."""

    @property
    def in_memory_only(self) -> tuple[str, ...]:
        """What of the open conversation is on no disk."""
        return self.session.in_memory_only if self.session is not None else ()

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
        if session is None or session.taken or not isinstance(target, OpenSession):
            return False
        if target.session_id != session.session_id:
            return False
        return target.read_only or not session.read_only

    async def ask_about_taken(self, bench: Workbench) -> Held:
        """What is to be done about the open session, which another loom took over; `BACK` when that is not so."""
        session = self.session.session if self.session is not None and self.session.taken else None
        if session is None:
            return Held.BACK
        holder = await bench.store.get_lease_holder(session.id)
        return await self._app.push_screen_wait(HeldScreen(session.title, holder, taken=True, clock=self._clock))

    async def go_on(self, bench: Workbench, held: Held) -> None:
        """Do that about the open session, which another loom took over: read it, fork it or take it back. Raises an
        ArchiveError; then it stays as it is."""
        session = self.session
        if session is None or session.session_id is None:
            return
        # What ran comes to its end first, and gives back the words that could not be sent.
        await session.close()
        # Then what waits is all that there is: it stays together, to be sent in its order.
        all_waited = not self.chat.writing
        match held:
            case Held.READ:
                await self.open(bench, OpenSession(session.session_id, read_only=True))
            case Held.TAKE_OVER:
                await self.open(bench, OpenSession(session.session_id), take_over=True, all_waited=all_waited)
            case Held.FORK:
                await self._go_on_in(bench, session, await session.fork_here(), all_waited=all_waited)
            case _:
                pass

    async def _go_on_in(self, bench: Workbench, session: CoworkSession, session_id: str, *, all_waited: bool) -> None:
        """Open the session of that id with the words that were being written in this one, which is open."""
        chat = self.chat
        words = chat.take_draft()
        try:
            # First in the new place, then away from the old one: an end in between costs nothing.
            await self._drafts.hand_on(session_id, words)
            await self.open(bench, OpenSession(session_id), all_waited=all_waited)
        except BaseException:
            if self.chat is chat:
                chat.restore_draft(unpacked(words), session, all_waited=all_waited)
            raise

    async def open(
        self, bench: Workbench, target: Target, *, take_over: bool = False, all_waited: bool = False
    ) -> bool:
        """Show this session in the place of the one that is open, with `take_over` even if another loom has it; False
        when the person went back instead. `all_waited`: of what was not sent there, nothing was still being written.
        Raises an ArchiveError."""
        if self.session is not None and self.session.taken:
            # It has nothing to give up later that this one may have got meanwhile.
            await self.session.close()
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
            take_over=take_over,
        )
        if session is None:
            return False
        try:
            if self.session is not None:
                await self._leave(self.session, chat)
        except BaseException:
            await session.close()
            raise
        self.session = session
        await self._restore_draft(session, chat, all_waited=all_waited)
        if origin := await origin_of(bench.store, session.session):
            chat.say_origin(origin)
        await chat.attach(session, wanted.turn if wanted is not None else None, note=await self._place(session))
        # The list is that of this folder; `a` makes it that of all.
        keys = "Ctrl+O, a" if session.begun_in else "Ctrl+O"
        if wanted is not None and wanted.forked:
            chat.say(f"{wanted.forked} {keys} leads back to it.")
        if wanted is not None and wanted.read_only:
            chat.say(f"Open to read only. {keys}, Enter goes on with it.")
        return True

    def _hear(self, chat: ChatScreen, event: Event) -> None:
        chat.receive(event)
        if isinstance(event, QueueChanged) and chat is self.chat:
            self.draft_changed()

    async def _place(self, session: CoworkSession) -> str:
        """What is to be known of the folder that the session was begun in; empty when it is this one."""
        if not session.begun_in:
            return ""
        gone = await asyncio.to_thread(is_gone, session.begun_in)
        return begun_in_words(session.begun_in, str(self._workspace), gone=gone, read_only=session.read_only)

    async def _ask_about_held(self, title: str, error: LeaseHeld) -> Held:
        holder = Holder(error.pid, error.host, error.since)
        return await self._app.push_screen_wait(HeldScreen(title, holder, clock=self._clock))

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
        if self.session is None:
            await self._keep_early()
        else:
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
            # Not on the screen yet, what is held from the last time waits in the session.
            waiting = () if chat.service is session else session.waiting
            await self._drafts.keep(session.session_id, session.sending, *waiting, chat.draft)

    async def _keep_early(self) -> None:
        """What was written before there was a conversation goes to the next new one."""
        if self.chat.is_attached and (text := self.chat.draft):
            # Nobody can be told any more.
            with suppress(OSError):
                await self._drafts.hand_on(None, text)

    async def _restore_draft(self, session: CoworkSession, chat: ChatScreen, *, all_waited: bool) -> None:
        pieces = await self._drafts.restore(session.session_id, await session.transcript())
        chat.restore_draft(pieces, session, all_waited=all_waited)
        self.draft_changed()
