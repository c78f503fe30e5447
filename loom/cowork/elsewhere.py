"""What another loom does with the session that is open here: it takes it over (what it writes: following.py)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from loom.archive import ArchiveError, ConversationStore

LOOK_SECONDS = 1.0
"""How often is looked; one indexed row each time."""


class Lookout:
    """Looks at the archive now and then until it is stopped."""

    def __init__(self, look: Callable[[], Awaitable[None]], fault: Callable[[Exception], None]) -> None:
        """`look` is called again and again; an ArchiveError that it raises is said by whatever is done next with the
        archive, not by this. `fault` gets what else it raises, once until a look succeeds."""
        self._look = look
        self._fault = fault
        self._running: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, unless it has begun."""
        if self._running is None:
            self._running = asyncio.ensure_future(self._run())

    async def stop(self) -> None:
        """Look no more. May be called by the look itself."""
        running, self._running = self._running, None
        if running is None or running is asyncio.current_task():
            return
        running.cancel()
        await asyncio.wait([running])

    async def _run(self) -> None:
        mine = asyncio.current_task()
        failing = False
        while self._running is mine:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self._look()
            except ArchiveError:
                pass
            except Exception as error:  # noqa: BLE001 - a fault in one look must not be the last look
                if not failing:
                    self._fault(error)
                failing = True
            else:
                failing = False


class Claim:
    """The right to write one session: taken with its lease, lost when another loom takes the session over."""

    def __init__(self, store: ConversationStore, lost: Callable[[], None], fault: Callable[[Exception], None]) -> None:
        """`lost` is called once, soon after it is lost, even if nothing is written here; `fault` when that cannot be
        looked at."""
        self._store = store
        self._lost = lost
        self._session_id: str | None = None
        self._lookout = Lookout(self._look, fault)
        self.taken = False
        """Another loom has the session: what could not be stored belongs to a fork of it at most."""

    async def acquire(self, session_id: str, *, take_over: bool = False) -> None:
        """Become the session's one writer; `take_over` takes it from another loom. Raises LeaseHeld or another
        ArchiveError."""
        # Known before: one that is cancelled gets the lease all the same, and has to give it back.
        self._session_id = session_id
        try:
            await self._store.acquire_lease(session_id, take_over=take_over)
        except Exception:
            self._session_id = None
            raise
        self._lookout.start()

    async def _look(self) -> None:
        if self._session_id is not None and await self._store.is_lease_lost(self._session_id):
            self.lose()

    def lose(self) -> None:
        """Another loom has it."""
        if not self.taken:
            self.taken = True
            self._lost()

    async def release(self) -> None:
        """Let others write the session. Once: what is acquired for it later is somebody else's."""
        await self._lookout.stop()
        session_id, self._session_id = self._session_id, None
        if session_id is not None:
            await self._store.release_lease(session_id)
