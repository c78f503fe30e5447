"""The thread that keeps the index up to date while turns are appended."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loom.archive.checkpoints import move_if_long
from loom.archive.database import connect, pragma
from loom.archive.errors import ArchiveError, Displaced
from loom.archive.logs import Log
from loom.archive.migrations import MIGRATIONS
from loom.archive.search.claim import Claim
from loom.archive.search.index import index_batch, is_others, newest_turn, rebuild, watermark
from loom.archive.search.merging import merge_some, scattered

_GATHER = 0.2
"""Seconds between an append and its indexing: the turns of one step of a conversation go in one batch."""
_REST = 1.0
"""Rest after a batch, in lengths of that batch: half of the time belongs to everybody else."""
_RETRY = 5.0
"""Seconds until the next try after a failure (a full disk, a database locked for long)."""


class Indexer(threading.Thread):
    """Indexes what is behind the watermark whenever it is woken. Without it searches are as exact, and slower."""

    def __init__(self, path: Path) -> None:
        super().__init__(name="loom-index", daemon=True)
        self._path = path
        self._log = Log(path)
        self._changed = threading.Condition()
        self._wanted = 0  # counts calls of `wake`
        self._done = 0  # how many of them the last finished pass had seen
        self._stopped = threading.Event()
        self._damaged = False
        self._made_anew = False  # since the last pass that did not fail
        self._was_ours = False  # the index, since this loom began
        self._waiters = 0
        self.claim = Claim(path, self._stopped)
        self.error: Exception | None = None
        """Why the last pass failed; None after one that did not."""

    def wake(self) -> int:
        """There may be turns to index. Returns at once, with a number to `settle` for."""
        with self._changed:
            self._wanted += 1
            self._changed.notify_all()
            return self._wanted

    def distrust(self) -> None:
        """A search found the index damaged: make it anew."""
        self._damaged = True
        self.wake()

    def stop(self) -> None:
        """Ends the thread after the batch it is at; call `join` to wait for that."""
        self._stopped.set()
        self.wake()

    @contextmanager
    def hurried(self) -> Iterator[None]:
        """Somebody waits for the index while this lasts: no rest between two batches."""
        with self._changed:
            self._waiters += 1
        try:
            yield
        finally:
            with self._changed:
                self._waiters -= 1

    def await_batch(self, seconds: float) -> None:
        """Blocks until the next batch is in the index, or for that many seconds: another process may index."""
        with self._changed:
            self._changed.wait(seconds)

    def settle(self) -> bool:
        """Blocks until everything appended so far is indexed, or cannot be; whether it is."""
        wanted = self.wake()
        with self._changed:
            self._changed.wait_for(lambda: self._done >= wanted or self._stopped.is_set())
        return self.error is None and not self._stopped.is_set()

    def run(self) -> None:
        connection: sqlite3.Connection | None = None
        try:
            while not self._stopped.is_set():
                seen = self._wanted
                try:
                    connection = connection or self._open()
                    self._pass(connection, seen)
                except Displaced as error:
                    # No turn depends on this connection; the next pass has its own.
                    self._log.close()
                    if connection is not None:
                        connection.close()
                    connection, self.error = None, error
                    self._report(seen)
                except (sqlite3.Error, ArchiveError, OSError) as error:
                    # The turns are safe and searches scan what is missing here, so nobody need be stopped by this.
                    self.error = error
                    # Where making it anew did not help, it would not help again.
                    self._damaged = self._damaged or (_is_damage(error) and not self._made_anew)
                    self._report(seen)
                self._rest(seen)
        finally:
            if connection is not None:
                self._log.close()
                connection.close()

    def _pass(self, connection: sqlite3.Connection, seen: int) -> None:
        """Everything that is there now gets indexed: here, or in another process that is at it."""
        mine = self.claim.take(connection, insist=self._damaged)
        try:
            if mine:
                self._catch_up(connection)
            self._was_ours = True
            self.error = None
            self._report(seen)
            if mine:
                self._merge(connection, seen)
            self._made_anew = False
        finally:
            self.claim.free()

    def _report(self, seen: int) -> None:
        """Everything that was there when the pass began is indexed, or cannot be."""
        with self._changed:
            self._done = seen
            self._changed.notify_all()

    def _rest(self, seen: int) -> None:
        """Waits until there is something to do again."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._wanted > seen or self._stopped.is_set(), None if self.error is None else _RETRY
            )
        self._stopped.wait(_GATHER)

    def _open(self) -> sqlite3.Connection:
        connection = connect(self._path)
        if int(pragma(connection, "user_version")) > len(MIGRATIONS):
            connection.close()
            raise ArchiveError("A newer loom keeps the index of this archive.")
        # A batch that a power cut takes is indexed again: nobody waits for the disk while it is written. The wait comes
        # behind it, where it keeps no writer outside.
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection

    def _catch_up(self, connection: sqlite3.Connection) -> None:
        if self._damaged:
            rebuild(connection)
            self._damaged, self._made_anew = False, True
        begun = time.monotonic()
        while not self._stopped.is_set():
            if self._was_ours and is_others(connection):
                # Whoever began last has it: two that make it anew for each other's turns would never come to an end.
                raise ArchiveError("A loom of another version keeps the index of this archive.")
            if not index_batch(connection):
                break
            self._was_ours = True
            self._log.sync()
            with self._changed:
                self._changed.notify_all()
            self._pause(connection, begun)
            begun = time.monotonic()

    def _merge(self, connection: sqlite3.Connection, seen: int) -> None:
        """Puts the index in order, until that is done or turns wait to be indexed, of other processes too."""
        for merge in scattered(connection):
            begun = time.monotonic()
            while not self._is_wanted(connection, seen) and merge_some(connection, merge):
                self._log.sync()
                self._pause(connection, begun)
                begun = time.monotonic()

    def _is_wanted(self, connection: sqlite3.Connection, seen: int) -> bool:
        return self._wanted != seen or self._stopped.is_set() or newest_turn(connection) > (watermark(connection) or 0)

    def _pause(self, connection: sqlite3.Connection, begun: float) -> None:
        """Leaves the archive to others for as long as the last step took; before that, moves a long log."""
        move_if_long(connection, self._log)
        if not self._waiters:
            self._stopped.wait((time.monotonic() - begun) * _REST)


def _is_damage(error: Exception) -> bool:
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(
        error, sqlite3.OperationalError | sqlite3.IntegrityError | sqlite3.ProgrammingError
    )
