"""How a conversation comes to a screen: the model chosen, the session made or gone on with, and, when another loom has
it open, what the person wants to do about that."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loom.archive.errors import LeaseHeld
from loom.config import Settings
from loom.cowork.events import Listener
from loom.locations import Locations
from loom.models.choice import ASSUMED_WINDOW, ModelChoice, ModelUnavailable
from loom.tui.screens.held import Held

if TYPE_CHECKING:
    from loom.cowork.session import CoworkSession
    from loom.cowork.workbench import Workbench

Ask = Callable[[str, LeaseHeld], Awaitable[Held]]
"""Gets the session's title and who holds it."""


class Opener:
    """Makes conversations in one workspace."""

    def __init__(
        self,
        bench: Workbench,
        workspace: Path,
        settings: Settings,
        wanted_model: str,
        ask: Ask,
        *,
        trust_project: bool = False,
    ) -> None:
        """An empty or automatic `wanted_model` lets a session keep its own."""
        self._trust_project = trust_project
        self._bench = bench
        self._workspace = workspace
        self._settings = settings
        self._wanted = wanted_model
        self._ask = ask

    async def open(
        self, session_id: str | None, listener: Listener, *, read_only: bool = False, take_over: bool = False
    ) -> CoworkSession | None:
        """The conversation, a new one if there is no id; None when the person would rather leave it alone. One in the
        archive that nothing can be stored in is open to read only. `take_over` asks nobody, and takes it from another
        loom.

        Raises an ArchiveError.
        """
        if session_id is None and self._bench.only_read is not None:
            raise self._bench.only_read
        session = await self._make(session_id, listener)
        if session_id is None:
            return session
        if read_only or self._bench.only_read is not None:
            return await _whole(session, session.read(session_id))
        try:
            return await _whole(session, session.resume(session_id, take_over=take_over))
        except LeaseHeld as error:
            return await self._open_held(session_id, error, listener)

    async def _open_held(self, session_id: str, error: LeaseHeld, listener: Listener) -> CoworkSession | None:
        store = self._bench.store
        detail = await store.get_session(session_id)
        held = await self._ask(detail.title if detail is not None else "", error)
        if held is Held.BACK:
            return None
        session = await self._make(session_id, listener)
        if held is Held.READ:
            return await _whole(session, session.read(session_id))
        if held is Held.FORK:
            session_id = await store.fork_session(session_id)
        return await _whole(session, session.resume(session_id, take_over=held is Held.TAKE_OVER))

    async def _make(self, session_id: str | None, listener: Listener) -> CoworkSession:
        session_class = await asyncio.to_thread(_import_session)
        return session_class(
            self._bench,
            self._workspace,
            await self._choose(session_id),
            listener=listener,
            trust_project=self._trust_project,
        )

    async def _choose(self, session_id: str | None) -> ModelChoice:
        """The model to answer: the one asked for, else the session's own."""
        wanted = self._wanted
        detail = await self._bench.store.get_session(session_id) if session_id is not None else None
        if wanted in ("", "auto") and detail is not None:
            wanted = detail.model_name
        try:
            return await asyncio.to_thread(_choose_model, wanted, self._settings)
        except ModelUnavailable as error:
            # The archive opens all the same, and /model chooses another.
            return ModelChoice(wanted, "asked for", ASSUMED_WINDOW, window_assumed=True, note=str(error), usable=False)


async def _whole(session: CoworkSession, opening: Coroutine[Any, Any, None]) -> CoworkSession:
    """The session once it is open. One that is not opened to the end, because it cannot be or nobody waits for it any
    more, is closed again: its lease would keep everybody else out."""
    try:
        await opening
    except BaseException:
        await session.close()
        raise
    return session


async def open_workbench(locations: Locations, settings: Settings) -> Workbench:
    """The archive and what goes with it. Raises HomeUnusable or an ArchiveError."""
    bench_class = await asyncio.to_thread(_import_workbench)
    return await bench_class.open(locations, settings, read_only=True)


# Imported when the first picture is on the terminal: the tools and the archive's search are not needed to paint.


def _import_workbench() -> type[Workbench]:
    from loom.cowork.workbench import Workbench

    return Workbench


def _import_session() -> type[CoworkSession]:
    from loom.cowork.session import CoworkSession

    return CoworkSession


def _choose_model(wanted: str, settings: Settings) -> ModelChoice:
    from loom.models.choosing import choose_model

    return choose_model(wanted, settings)
