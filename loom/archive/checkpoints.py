"""Moves the write-ahead log into the database, at moments when nobody waits for it.

SQLite before 3.51.3 loses what is written while another connection begins a checkpoint, if that write starts the log
over in between (the WAL-reset bug: the checkpoint then notes as moved what it never read). Writes start the log over,
so no write may run beside a checkpoint: both take their turn at the archive's turnstile, and RESTART and TRUNCATE hold
SQLite's own write lock as well, against programs that are not loom.

The log keeps its length: RESTART lets the next write begin at its front again. Writing over what the disk has
allocated already is what makes an append cheap. TRUNCATE is for a log whose text must go, and for the end.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable
from contextvars import Context
from dataclasses import dataclass

from loom.archive.database import BUSY_TIMEOUT_MS, WRITING_PATIENCE
from loom.archive.errors import ArchiveError
from loom.archive.hops import detached
from loom.archive.logs import Log
from loom.archive.transactions import in_turn

IDLE_SECONDS = 2.0
"""So long after the last write, the log is worth the trouble if it holds IDLE_BYTES."""

IDLE_BYTES = 1_000_000

FULL_BYTES = 8_000_000
"""A log that holds so much is moved without waiting for a pause: reading slows down with it, and what is longer than
`database.LOG_BYTES` has to grow anew each time."""

LOOK_SECONDS = 0.02
"""So long after a write, whether the log holds so much is looked at: not with each of many, which would wait for it."""

RETRY_SECONDS = 0.5
"""A log that others read just now is tried again so soon; then after twice as long, up to RETRY_SECONDS_AT_MOST."""

RETRY_SECONDS_AT_MOST = 30.0

_PATIENCE_MS = 50
"""For those that read the log just now. Writers wait as well meanwhile."""


@dataclass(frozen=True, slots=True)
class Moved:
    """What a checkpoint did."""

    whole: bool
    """False if others read or write just then: a part of the log, or all of it, is still to be moved."""
    frames: int
    """How many pages the log has that are in the database, from its beginning on."""


def checkpoint(connection: sqlite3.Connection, *, empty: bool = False) -> Moved:
    """Move the whole log into the database; `empty` leaves nothing of it in its file.

    Raises sqlite3.Error (SQLITE_BUSY when it was not this connection's turn for too long) or OSError; nothing is lost
    then, the log stays.
    """
    with in_turn(connection, WRITING_PATIENCE):
        connection.execute(f"PRAGMA busy_timeout = {_PATIENCE_MS}").fetchall()
        try:
            mode = "TRUNCATE" if empty else "RESTART"
            (busy, _, moved) = connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
        finally:
            connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}").fetchall()
    return Moved(not busy, max(moved, 0))


def move_if_long(connection: sqlite3.Connection, log: Log) -> None:
    """Move the log into the database if it holds too much: for those that write a lot and no turn. Raises as
    `checkpoint` does."""
    if not log.holds(FULL_BYTES):
        return
    # The next writer starts the log over: what was moved is noted before that one's turn.
    with in_turn(connection, WRITING_PATIENCE):
        moved = checkpoint(connection)
        if moved.whole:
            log.moved(moved.frames)


class Checkpoints:
    """Decides when to call `move`: in the pause after writes, or when the log holds too much."""

    def __init__(self, log: Log, move: Callable[[], Awaitable[Moved]]) -> None:
        self._log = log
        self._move = move
        self._timer: asyncio.TimerHandle | None = None
        self._look: asyncio.TimerHandle | None = None
        self._retry: asyncio.TimerHandle | None = None
        self._retry_seconds = 0.0
        self._moving: asyncio.Task[None] | None = None
        self._last_write = 0.0
        self._stopped = False

    def wrote(self) -> None:
        """To be called after every write, on the event loop."""
        self._last_write = time.monotonic()
        if self._stopped:
            return
        # Timers keep their context as tasks do: see `detached`.
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._pause, context=Context())
        if self._look is None:
            self._look = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look_at_it, context=Context())

    async def stop(self) -> None:
        """No more of it; waits for the one under way."""
        self._stopped = True
        for timer in (self._timer, self._look, self._retry):
            if timer is not None:
                timer.cancel()
        if self._moving is not None:
            await asyncio.wait({self._moving})

    def _pause(self) -> None:
        left = self._last_write + IDLE_SECONDS - time.monotonic()
        if left > 0:
            # Something was written since: one timer is moved on, in place of a new one for each write.
            self._timer = asyncio.get_running_loop().call_later(left, self._pause)
            return
        self._timer = None
        if self._log.holds(IDLE_BYTES):
            self._start()

    def _look_at_it(self) -> None:
        self._look = None
        if self._retry is None and self._log.holds(FULL_BYTES):
            self._start()

    def _try_again(self) -> None:
        self._retry = None
        # Nothing is there when another process has moved it meanwhile.
        if self._log.holds(0):
            self._start()

    def _start(self) -> None:
        if self._stopped or (self._moving is not None and not self._moving.done()):
            return
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None
        self._moving = detached(self._run())

    async def _run(self) -> None:
        try:
            moved = await self._move()
        except (sqlite3.Error, OSError, ArchiveError):
            # Nothing is lost: every turn is in the log, and the next write tries again.
            return
        if moved.whole:
            self._retry_seconds = 0.0
        elif not self._stopped:
            self._retry_seconds = min(2 * self._retry_seconds or RETRY_SECONDS, RETRY_SECONDS_AT_MOST)
            self._retry = asyncio.get_running_loop().call_later(self._retry_seconds, self._try_again)
