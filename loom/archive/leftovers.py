"""What killed processes left in the archive, put in order since the store was opened: leases, the halves of forks, and
the turns of a session whose purge was cut off."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import suppress
from functools import partial

from loom.archive.access import Access
from loom.archive.errors import ArchiveError
from loom.archive.hops import detached
from loom.archive.leases import Leases
from loom.archive.removal import Removal, claim_half, half_purged, take_row, unfinished


class Leftovers:
    """Takes them away through a store's connections, while others write."""

    def __init__(self, access: Access, leases: Leases) -> None:
        self._access = access
        self._leases = leases
        self.tidying: asyncio.Task[None] | None = None

    def tidy(self) -> None:
        """Begin. Returns at once."""
        self.tidying = detached(self._tidy())

    async def done(self) -> None:
        """Wait until everything is taken away that nobody holds."""
        if self.tidying is not None:
            await asyncio.wait({self.tidying})

    async def end(self) -> None:
        """What is not done goes on at the next start."""
        if self.tidying is not None:
            self.tidying.cancel()
            await asyncio.wait({self.tidying})

    async def _tidy(self) -> None:
        # What cannot be done now is at another start: nobody waits for it.
        with suppress(OSError):
            await asyncio.to_thread(self._leases.remove_left)
        for found, with_row in (unfinished, True), (half_purged, False):
            # What a purge does besides, only `loom purge` can: it needs the row to go on.
            with suppress(ArchiveError):
                for session_id in await self._access.read(found):
                    with suppress(ArchiveError):
                        await self._take(session_id, with_row=with_row)

    async def _take(self, session_id: str, *, with_row: bool) -> None:
        """Raises LeaseHeld, as another one may be at it."""
        if not await self._access.write(partial(self._claim, session_id=session_id)):
            return
        try:
            await take_away_meanwhile(self._access, session_id)
            if with_row:
                await self._access.write(partial(take_row, session_id=session_id))
        finally:
            await self._access.write(lambda _: self._leases.release(session_id))

    def _claim(self, connection: sqlite3.Connection, session_id: str) -> bool:
        """Take the lease; false for a fork that this store is making, or has made. Asked in the connection's thread:
        whoever began it there has the lease by now."""
        return self._leases.epoch(session_id) is None and claim_half(connection, self._leases, session_id)


async def take_away_meanwhile(access: Access, session_id: str) -> None:
    """As `removal.take_away`. Raises an ArchiveError."""
    removal = Removal(session_id)
    while steps := await access.read(removal.next):
        for step in steps:
            await access.write(step)
