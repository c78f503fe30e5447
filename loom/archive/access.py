"""The archive's two connections, and what becomes of their errors: one that reads, one that writes."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from loom.archive.checkpoints import Checkpoints, Moved, checkpoint
from loom.archive.database import CLOSING_PATIENCE, WRITING_PATIENCE
from loom.archive.errors import ArchiveUnavailable, WriteFailed
from loom.archive.faults import unreadable, unwritable
from loom.archive.forgiving import forgiving
from loom.archive.hops import Hops, unbroken
from loom.archive.logs import Log
from loom.archive.migrations import prepare
from loom.archive.mounts import require_local
from loom.archive.transactions import in_turn

T = TypeVar("T")


class Access:
    """Runs functions with a connection, off the event loop. Reads never wait for writes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._reader: Hops | None = None
        self._writer: Hops | None = None
        self._log = Log(path)
        self._checkpoints = Checkpoints(self._log, self._move_log)
        self._writes: set[asyncio.Future[Any]] = set()
        self._closed = False

    @property
    def readonly(self) -> bool:
        """True when nothing can be written."""
        return self._writer is None

    async def open(self, *, readonly: bool) -> None:
        """See `ConversationStore.initialize`."""
        if readonly:
            # Reading goes through shared memory and locks as well.
            await asyncio.to_thread(require_local, self.path)
        else:
            await asyncio.to_thread(prepare, self.path)
            self._writer = await Hops.opened(self.path)
        try:
            self._reader = await Hops.opened(self.path, readonly=True)
        except BaseException:
            writer, self._writer = self._writer, None
            if writer is not None:
                await writer.close()
            raise

    async def finish(self) -> None:
        """Refuse every further write, and wait for those that were handed in."""
        self._closed = True
        while self._writes:
            await asyncio.wait(self._writes)

    async def close(self) -> None:
        """Finish what was handed in, move the log into the database, and let the files go."""
        await self.finish()
        await self._checkpoints.stop()
        reader, self._reader = self._reader, None
        if reader is not None:
            await reader.close()
        if self._writer is not None:
            # A log that cannot be moved now loses nothing: the next start goes on with it.
            with contextlib.suppress(sqlite3.Error, OSError):
                await self._writer.begin(_empty_log)
            self._log.close()
            writer, self._writer = self._writer, None
            await writer.close()

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What `work` reads. Raises ArchiveUnavailable or ArchiveDamaged."""
        if self._reader is None:
            raise ArchiveUnavailable("The archive is not open.")
        try:
            return await self._reader.begin(lambda connection: forgiving(connection, lambda: work(connection)))
        except sqlite3.Error as error:
            raise unreadable(error, self.path) from error

    async def write(self, work: Callable[[sqlite3.Connection], T], *, then: Callable[[T], None] | None = None) -> T:
        """What `work` gives once it has written, in its turn among all that write the archive, and `then` has been
        called with it; both are carried through even if the caller is cancelled. Raises WriteFailed: nothing was
        stored.
        """
        if self._closed or self._reader is None:
            raise ArchiveUnavailable(f"The archive is not open{': it was closed' if self._closed else ''}.")
        if self._writer is None:
            raise WriteFailed("The archive was opened read-only: nothing was stored.")
        writing = self._writer.carry(lambda c: _in_turn(c, work))
        self._writes.add(writing)

        def written(done: asyncio.Future[T]) -> None:
            self._writes.discard(done)
            if not done.cancelled() and done.exception() is None:
                self._checkpoints.wrote()
                if then is not None:
                    then(done.result())

        writing.add_done_callback(written)
        try:
            return await unbroken(writing)
        except sqlite3.Error as error:
            raise unwritable(error, self.path) from error
        except OSError as error:
            raise WriteFailed(
                f"A file beside {self.path} cannot be written: {error.strerror}.",
                f"Check that you may write in {self.path.parent} and that there is room.",
            ) from error

    async def checkpoint(self, *, empty: bool) -> bool:
        """Move the log into the database, and with `empty` leave nothing of it in its file; False if others use it
        just now. Raises as `write` does."""
        return (await self.write(lambda c: self._move(c, empty=empty))).whole

    async def _move_log(self) -> Moved:
        if self._writer is None:
            return Moved(False, 0)
        return await self._writer.begin(lambda c: self._move(c, empty=False))

    def _move(self, connection: sqlite3.Connection, *, empty: bool) -> Moved:
        # The next writer starts the log over: what was moved is noted before that one's turn.
        with in_turn(connection, WRITING_PATIENCE):
            moved = checkpoint(connection, empty=empty)
            if moved.whole:
                self._log.moved(moved.frames)
        return moved


def _empty_log(connection: sqlite3.Connection) -> None:
    with in_turn(connection, CLOSING_PATIENCE):
        checkpoint(connection, empty=True)


def _in_turn(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    with in_turn(connection, WRITING_PATIENCE):
        return work(connection)
