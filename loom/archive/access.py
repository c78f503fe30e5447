"""The archive's two connections, and what becomes of their errors: one that reads, one that writes."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from loom.archive.checkpoints import Checkpoints, checkpoint
from loom.archive.errors import ArchiveUnavailable, WriteFailed
from loom.archive.faults import unreadable, unwritable
from loom.archive.hops import Hops, unbroken
from loom.archive.migrations import prepare

T = TypeVar("T")


class Access:
    """Runs functions with a connection, off the event loop. Reads never wait for writes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._reader: Hops | None = None
        self._writer: Hops | None = None
        self._checkpoints = Checkpoints(path, self._move_log)
        self._writes: set[asyncio.Future[Any]] = set()
        self._closed = False

    @property
    def readonly(self) -> bool:
        """True when nothing can be written."""
        return self._writer is None

    async def open(self, *, readonly: bool) -> None:
        """See `ConversationStore.initialize`."""
        if not readonly:
            await asyncio.to_thread(prepare, self.path)
            self._writer = await Hops.opened(self.path)
        try:
            self._reader = await Hops.opened(self.path, readonly=True)
        except BaseException:
            writer, self._writer = self._writer, None
            if writer is not None:
                await writer.close()
            raise

    async def close(self) -> None:
        """Finish what was handed in, move the log into the database, and let the files go."""
        self._closed = True
        while self._writes:
            await asyncio.wait(self._writes)
        await self._checkpoints.stop()
        reader, self._reader = self._reader, None
        if reader is not None:
            await reader.close()
        if self._writer is not None:
            # A log that cannot be moved now loses nothing: the next start goes on with it.
            with contextlib.suppress(sqlite3.Error, OSError):
                await self._move_log()
            writer, self._writer = self._writer, None
            await writer.close()

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What `work` reads. Raises ArchiveUnavailable or ArchiveDamaged."""
        if self._reader is None:
            raise ArchiveUnavailable("The archive is not open.")
        try:
            return await self._reader.run(work)
        except sqlite3.Error as error:
            raise unreadable(error, self.path) from error

    async def write(self, work: Callable[[sqlite3.Connection], T], *, then: Callable[[T], None] | None = None) -> T:
        """What `work` gives once it has written, and `then` has been called with it; both are carried through even if
        the caller is cancelled. Raises WriteFailed: nothing was stored.
        """
        if self._closed:
            raise ArchiveUnavailable("The archive is not open: it was closed.")
        writing = asyncio.ensure_future(self._written(work, then))
        self._writes.add(writing)
        writing.add_done_callback(self._writes.discard)
        return await unbroken(writing)

    async def _written(self, work: Callable[[sqlite3.Connection], T], then: Callable[[T], None] | None) -> T:
        if self._reader is None:
            raise ArchiveUnavailable("The archive is not open.")
        if self._writer is None:
            raise WriteFailed("The archive was opened read-only: nothing was stored.")
        try:
            done = await self._writer.run(work)
        except sqlite3.Error as error:
            raise unwritable(error, self.path) from error
        except OSError as error:
            raise WriteFailed(
                f"A file beside {self.path} cannot be written: {error.strerror}.",
                f"Check that you may write in {self.path.parent} and that there is room.",
            ) from error
        self._checkpoints.wrote()
        if then is not None:
            then(done)
        return done

    async def _move_log(self) -> bool:
        if self._writer is None:
            return False
        return await self._writer.run(lambda c: checkpoint(c, self.path))
