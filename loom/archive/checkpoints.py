"""Moves the write-ahead log into the database, at moments when nobody waits for it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path

from loom.archive.database import BUSY_TIMEOUT_MS
from loom.archive.flocks import lock_file, locked_if_free

IDLE_SECONDS = 2.0
"""So long after the last write, the log is worth the trouble if it has IDLE_BYTES."""

IDLE_BYTES = 1_000_000

FULL_BYTES = 32_000_000
"""A log of this size is moved without waiting for a pause: reading slows down with its length."""

RETRY_SECONDS = 0.5
"""A log that others read just now is tried again so soon; then after twice as long, up to RETRY_SECONDS_AT_MOST."""

RETRY_SECONDS_AT_MOST = 30.0

_PATIENCE_MS = 250


def checkpoint(connection: sqlite3.Connection, path: Path) -> bool:
    """Move the whole log into the database and empty it; False if others read or write or do so just now.

    Under the archive's lock: two processes that do this at once can corrupt the database (the WAL-reset bug of
    SQLite before 3.51.3). Raises sqlite3.Error or OSError; nothing is lost then, the log stays.
    """
    with locked_if_free(lock_file(path)) as free:
        if not free:
            return False
        connection.execute(f"PRAGMA busy_timeout = {_PATIENCE_MS}").fetchall()
        try:
            (busy, _log, _moved) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}").fetchall()
        return not busy


class Checkpoints:
    """Decides when to call `move`: in the pause after writes, or when the log has grown too long."""

    def __init__(self, path: Path, move: Callable[[], Awaitable[bool]]) -> None:
        self._log = path.with_name(f"{path.name}-wal")
        self._move = move
        self._timer: asyncio.TimerHandle | None = None
        self._retry: asyncio.TimerHandle | None = None
        self._retry_seconds = 0.0
        self._moving: asyncio.Task[None] | None = None
        self._stopped = False

    def wrote(self) -> None:
        """To be called after every write, on the event loop."""
        if self._timer is not None:
            self._timer.cancel()
        if self._log_size() >= FULL_BYTES:
            self._start()
        self._timer = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._pause)

    async def stop(self) -> None:
        """No more of it; waits for the one under way."""
        self._stopped = True
        for timer in (self._timer, self._retry):
            if timer is not None:
                timer.cancel()
        if self._moving is not None:
            await asyncio.wait({self._moving})

    def _pause(self) -> None:
        if self._log_size() >= IDLE_BYTES:
            self._start()

    def _try_again(self) -> None:
        # Empty when another process has moved it meanwhile.
        if self._log_size():
            self._start()

    def _start(self) -> None:
        if self._retry is not None:
            self._retry.cancel()
        if self._moving is None or self._moving.done():
            self._moving = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        try:
            moved = await self._move()
        except (sqlite3.Error, OSError):
            # Nothing is lost: every turn is in the log, and the next write tries again.
            return
        if moved:
            self._retry_seconds = 0.0
        elif not self._stopped:
            self._retry_seconds = min(2 * self._retry_seconds or RETRY_SECONDS, RETRY_SECONDS_AT_MOST)
            self._retry = asyncio.get_running_loop().call_later(self._retry_seconds, self._try_again)

    def _log_size(self) -> int:
        try:
            return self._log.stat().st_size
        except OSError:
            return 0
