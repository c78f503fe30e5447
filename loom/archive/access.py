"""The archive's two connections, and what becomes of their errors: one that reads, one that writes."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from loom.archive.checkpoints import Checkpoints, Moved, checkpoint
from loom.archive.database import CLOSING_PATIENCE, WRITING_PATIENCE, ArchiveConnection
from loom.archive.errors import ArchiveError, ArchiveUnavailable, Displaced, WriteFailed
from loom.archive.faults import unreadable, unwritable, unwritable_beside
from loom.archive.forgiving import forgiving
from loom.archive.hops import Hops, detached, unbroken
from loom.archive.logindex import LogIndex
from loom.archive.logs import Log
from loom.archive.migrations import prepare
from loom.archive.mounts import require_local
from loom.archive.stranded import Stranded, StrandedSession
from loom.archive.transactions import in_turn

T = TypeVar("T")

LOOK_SECONDS = 1.0
"""How often is looked whether the files that are open still have their names."""

RELEASE_SECONDS = 10.0
"""So long it is waited for whatever else in this process reads the archive (the day's backup), when all connections
have to be opened anew."""

_MENDS = 3
"""So often is one write tried again: files can be removed again meanwhile."""


class Access:
    """Runs functions with a connection, off the event loop. Reads never wait for writes."""

    def __init__(self, path: Path, others_at_rest: Callable[[], AbstractAsyncContextManager[None]]) -> None:
        """While `others_at_rest` lasts, the store has no other connections than these; they are opened anew when they
        are needed."""
        self.path = path
        self.tell: Callable[[ArchiveError], None] = lambda error: None
        """Called, on the event loop, when files of the archive lost their names: put right, or not to be."""
        self.keep: Callable[[Sequence[StrandedSession]], None] | None = None
        """Keeps, in a thread, what is in a log that the archive has gone on without. Raises WriteFailed."""
        self._kept: Sequence[StrandedSession] = ()
        self._keeping = asyncio.Lock()
        self._others_at_rest = others_at_rest
        self._readonly = False
        self._mending = asyncio.Lock()
        self._mended = 0
        self._reopens = False
        self._left: LogIndex | None = None
        """The index that must not be in use any more when everything is opened anew."""
        self._looking: asyncio.Task[None] | None = None
        self._reader: Hops | None = None
        self._writer: Hops | None = None
        self._log = Log(path)
        self._checkpoints = Checkpoints(self._log, self._move_log)
        self._writes: set[asyncio.Future[Any]] = set()
        self._closed = False

    @property
    def readonly(self) -> bool:
        """True when nothing can be written."""
        return self._readonly

    async def open(self, *, readonly: bool) -> None:
        """See `ConversationStore.initialize`."""
        self._readonly = readonly
        if readonly:
            # Reading goes through shared memory and locks as well.
            await asyncio.to_thread(require_local, self.path)
        else:
            await asyncio.to_thread(prepare, self.path)
        await self._connect()
        if not readonly:
            self._looking = detached(self._look_now_and_then())

    async def _connect(self) -> None:
        writer = None if self._readonly else await Hops.opened(self.path)
        try:
            self._reader = await Hops.opened(self.path, readonly=True)
        except BaseException:
            if writer is not None:
                await writer.close()
            raise
        self._writer = writer

    async def finish(self) -> None:
        """Refuse every further write, and wait for those that were handed in."""
        self._closed = True
        while self._writes:
            await asyncio.wait(self._writes)

    async def close(self) -> None:
        """Finish what was handed in, move the log into the database, and let the files go."""
        await self.finish()
        await self._checkpoints.stop()
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait({self._looking})
        # What is being opened anew is closed when that is done.
        async with self._mending:
            displaced = False
            if self._writer is not None:
                # A log that cannot be moved now loses nothing: the next start goes on with it.
                try:
                    await self._writer.begin(_empty_log)
                except ArchiveError as error:
                    displaced = True
                    if isinstance(error, Stranded):
                        await self._told(error)
                except (sqlite3.Error, OSError):
                    pass
            await self._disconnect(displaced=displaced)

    async def _disconnect(self, *, displaced: bool) -> None:
        """The last connection to close tidies up by name, if it may write: not when the names are other files'."""
        self._log.close()
        reader, writer = self._reader, self._writer
        self._reader = self._writer = None
        for connection in (writer, reader) if displaced else (reader, writer):
            if connection is not None:
                await connection.close()

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What `work` reads. Raises ArchiveUnavailable or ArchiveDamaged."""
        seen = await self._whole()
        try:
            return await self._read(work)
        except ArchiveUnavailable:
            with suppress(ArchiveError):
                if await self._looked(seen):
                    return await self._read(work)
            raise

    async def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
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
        seen = self._mended
        try:
            return await self._write(work, then)
        except Displaced as error:
            displaced = error
        return await unbroken(asyncio.ensure_future(self._write_again(displaced, seen, work, then)))

    async def _write_again(
        self, error: Displaced, seen: int, work: Callable[[sqlite3.Connection], T], then: Callable[[T], None] | None
    ) -> T:
        for _ in range(_MENDS):
            await self._mend(error, seen)
            seen = self._mended
            try:
                return await self._write(work, then)
            except Displaced as again:
                error = again
        raise error

    async def _write(self, work: Callable[[sqlite3.Connection], T], then: Callable[[T], None] | None) -> T:
        if self._closed:
            raise ArchiveUnavailable("The archive is not open: it was closed.")
        if self._readonly:
            raise WriteFailed("The archive was opened read-only: nothing was stored.")
        if self._reader is None or self._mending.locked():
            await self._whole()
        if self._writer is None:
            raise ArchiveUnavailable("The archive is not open.")
        writing = self._writer.carry(partial(_in_turn, work))
        self._writes.add(writing)
        try:
            return await unbroken(writing)
        except Stranded as error:
            raise await self._told(error) from error
        except sqlite3.Error as error:
            raise unwritable(error, self.path) from error
        except OSError as error:
            raise unwritable_beside(error, self.path) from error
        finally:
            # Here and not in a callback of its own, which each append would wait for.
            self._writes.discard(writing)
            if writing.done() and not writing.cancelled() and writing.exception() is None:
                self._checkpoints.wrote()
                if then is not None:
                    then(writing.result())

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

    # Files that lost their names: see `loom.archive.openfiles`

    async def _look_now_and_then(self) -> None:
        """So that a log without a name is saved while nobody writes, too."""
        said = ""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self._looked(self._mended)
                said = ""
            except ArchiveError as error:
                # Once, until it is another fault or none.
                if str(error) != said:
                    said = str(error)
                    self.tell(error)

    async def _looked(self, seen: int) -> bool:
        """Whether the connections are others than when `seen` was read, opened anew if that was necessary. Raises
        ArchiveError when files have lost their names and that cannot be put right."""
        await self._whole()
        if self._writer is not None and self._mended == seen and not self._closed:
            try:
                with suppress(sqlite3.Error, OSError):
                    await self._writer.begin(_look)
            except Stranded as error:
                raise await self._told(error) from error
            except Displaced as error:
                # In the middle of it nothing is open.
                await unbroken(asyncio.ensure_future(self._mend(error, seen)))
        return self._mended != seen

    async def _told(self, error: Stranded) -> WriteFailed:
        """The error, once what it is about is kept; another one if that cannot be."""
        return await unbroken(asyncio.ensure_future(self._keep_stranded(error)))

    async def _keep_stranded(self, error: Stranded) -> WriteFailed:
        async with self._keeping:
            if self._kept is not error.sessions:
                if self.keep is None:
                    return error.unkept()
                try:
                    await asyncio.to_thread(self.keep, error.sessions)
                except WriteFailed:
                    return error.unkept()
                self._kept = error.sessions
        return error

    async def _mend(self, error: Displaced, seen: int) -> None:
        """Open everything anew, unless that has happened since `seen`. Raises an ArchiveError."""
        async with self._mending:
            if self._mended != seen:
                return
            if self._closed:
                raise error
            await self._open_anew()
            self._mended += 1
        self.tell(error)

    async def _open_anew(self) -> None:
        """Close and open everything. Raises an ArchiveError: what is open then can be read at most."""
        async with self._others_at_rest():
            if self._writer is not None:
                self._left = await self._writer.begin(_index)
            # All of them first: a process has one index for all of its connections.
            await self._disconnect(displaced=True)
            self._reopens = True
            let_go = self._left is None or await asyncio.to_thread(self._left.let_go.wait, RELEASE_SECONDS)
            await self._connect()
        if not let_go:
            raise WriteFailed(
                f"The log or its index beside {self.path} was removed or replaced, and another part of this loom still "
                "reads the archive as it was (a backup does so): nothing was stored.",
                "Retry in a moment: no turn is lost.",
            )

    async def _whole(self) -> int:
        """Wait until what is open is open again, and try if it could not be opened; how often it was mended."""
        if self._reader is None or self._mending.locked():
            async with self._mending:
                if self._reader is None and self._reopens and not self._closed:
                    await self._open_anew()
        return self._mended


def _index(connection: sqlite3.Connection) -> LogIndex | None:
    return connection.index if isinstance(connection, ArchiveConnection) else None


def _look(connection: sqlite3.Connection) -> None:
    if isinstance(connection, ArchiveConnection):
        connection.forget_names()
    with in_turn(connection, CLOSING_PATIENCE):
        pass


def _empty_log(connection: sqlite3.Connection) -> None:
    with in_turn(connection, CLOSING_PATIENCE):
        checkpoint(connection, empty=True)


def _in_turn(work: Callable[[sqlite3.Connection], T], connection: sqlite3.Connection) -> T:
    with in_turn(connection, WRITING_PATIENCE):
        return work(connection)
