"""One process at a time keeps the index: several at it would take the same turns apart, for one of them to be written.

The claim spares work and is no more than that. What a batch rests on is the watermark, which is compared again where it
is written: two that index side by side, because one of them stands still, do no harm.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from pathlib import Path

from loom.archive.flocks import lock_at_once, open_lock
from loom.archive.search.index import newest_turn, watermark

STALLED_SECONDS = 30.0
"""So long without a step forward, and who has the claim is taken for a process that was stopped: the others go on."""

_LOOK_AGAIN = 0.2
"""Seconds between two looks at how far the other one is."""


class Claim:
    """The right to index the archive at `path`: a file lock beside it, that the kernel frees when its process ends.

    For one thread. Who does not have it waits here while the other one indexes for both.
    """

    def __init__(self, path: Path, stopped: threading.Event | None = None) -> None:
        """`stopped`, once set, ends all waiting."""
        self._path = path.with_name(f"{path.name}-index")
        self._stopped = stopped or threading.Event()
        self._descriptor: int | None = None
        self.waiting = threading.Event()
        """Set while another process has the claim and this one waits for it."""

    def take(self, connection: sqlite3.Connection, *, insist: bool = False) -> bool:
        """Waits until there is nobody else to do it; false when the indexer is to stop, or, unless told to insist, when
        another one has indexed all turns that were there when this was called.

        Raises OSError if the lock file cannot be made, or sqlite3.Error.
        """
        wanted = newest_turn(connection)
        reached, since = watermark(connection), time.monotonic()
        try:
            while not self._stopped.is_set():
                if self.take_at_once():
                    return True
                self.waiting.set()
                now = watermark(connection)
                if not insist and now is not None and now >= wanted:
                    return False
                if now != reached:
                    reached, since = now, time.monotonic()
                elif time.monotonic() - since > STALLED_SECONDS:
                    return True
                self._stopped.wait(_LOOK_AGAIN)
            return False
        finally:
            self.waiting.clear()

    def take_at_once(self) -> bool:
        """Takes it if nobody has it; whether that was so. Raises OSError if the lock file cannot be made."""
        descriptor = open_lock(self._path)
        mine = False
        try:
            mine = lock_at_once(descriptor)
        finally:
            if not mine:
                os.close(descriptor)
        self._descriptor = descriptor if mine else None
        return mine

    def free(self) -> None:
        """Lets another process index."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
