"""How much of the write-ahead log is not in the database yet.

The log's length does not say: a log that starts over keeps it. What says it is the salt of the frames: those of the
present round have that of the log's header (https://www.sqlite.org/fileformat2.html#the_write_ahead_log).
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from loom.archive import guard

_HEADER = 32
_FRAME_HEADER = 24
_SALTS = slice(16, 24)
_FRAME_SALTS_AT = 8

_sync = getattr(os, "fdatasync", os.fsync)
"""macOS has no `fdatasync`."""


class Log:
    """The write-ahead log of the database at `path`, as other processes left it too. Only to be used while a
    connection is open: so long the log is not replaced by another file."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(f"{path.name}-wal")
        self._descriptor: int | None = None
        self._moved = (b"", 0)
        """A round of the log, by its header, and how many of its frames are in the database."""

    def holds(self, size: int) -> bool:
        """Whether more than `size` bytes were written to it since it was moved into the database, as far as this
        process knows. Reads some 40 bytes; False when it cannot be read."""
        with suppress(OSError):
            descriptor = self._open()
            header = os.pread(descriptor, _HEADER, 0)
            if len(header) < _HEADER:
                return False
            frame = int.from_bytes(header[8:12], "big") + _FRAME_HEADER
            moved_round, moved = self._moved
            skipped = moved if header == moved_round else 0
            place = _HEADER + (skipped + size // frame) * frame + _FRAME_SALTS_AT
            return os.pread(descriptor, 8, place) == header[_SALTS]
        return False

    def moved(self, frames: int) -> None:
        """So many frames from its beginning are in the database: they stay until the next writer starts it over. To
        be called before anybody can."""
        with suppress(OSError):
            self._moved = (os.pread(self._open(), _HEADER, 0), frames)

    def sync(self) -> None:
        """Wait until the disk has what was written to it: for those that write without waiting, so that the next
        append need not wait for it. Raises OSError."""
        _sync(self._open())

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _open(self) -> int:
        if self._descriptor is None:
            with guard.ours():
                self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        return self._descriptor
