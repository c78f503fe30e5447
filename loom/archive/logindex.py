"""The index of the write-ahead log (-shm): which log it is about, and how much of that log there is.

SQLite has it mapped into memory and locks parts of it. Its locks belong to the process and go when anything in the
process closes the file, so the descriptor that is read here is kept until no connection of this process is open
(https://www.sqlite.org/walformat.html#the_wal_index_file_format).
"""

from __future__ import annotations

import os
import struct
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from loom.archive import guard

_SIZE = 100
_COPY = 48
_END = struct.Struct("=HIIII8s56xI")
"""Size of a page, committed frames, pages of the database, the last frame's two checksums, salts; how many frames were
moved."""
_END_AT = 14
_SUMS = struct.Struct(">II")

_LOG_HEADER = 32
_FRAME_HEADER = 24
_CHECKED_AT = 8
_CHECKED = 16
_SALTS = 8

_TRIES = 50


class LogEnd(NamedTuple):
    """Where the log ends that an index is about, and with what."""

    place: int
    """Of the last committed frame, in bytes."""
    checked: bytes
    """Its salts and its checksum, which is that of the whole log up to there: two logs that end alike are alike."""
    moved: int
    """How many frames of the log are in the database as well."""

    @property
    def round(self) -> tuple[bytes, int]:
        """Changes with everything that is moved from the log into the database."""
        return self.checked[:_SALTS], self.moved

    def is_of(self, log: int) -> bool:
        """Whether the log that is open under this descriptor is that one. Raises OSError."""
        return os.pread(log, _CHECKED, self.place + _CHECKED_AT) == self.checked


@dataclass(frozen=True, slots=True)
class IndexHead:
    """What an index says of its log."""

    frames: int
    """Committed frames of the present round; 0 when the log holds nothing that is not in the database."""
    salts: bytes
    """8 bytes, as the log's header has them while there are frames."""
    moved: int
    """How many of the frames are in the database as well."""
    end: LogEnd | None
    """None when there are no frames."""


class LogIndex:
    """The index that this process has open for one database: the same for all of its connections, as in SQLite."""

    _open: dict[tuple[int, int], LogIndex] = {}  # noqa: RUF012 - what SQLite keeps for the process, kept for the process
    _state = threading.Lock()

    def __init__(self, key: tuple[int, int]) -> None:
        self._key = key
        self._users = 0
        self._descriptor: int | None = None
        self.inode: int | None = None
        """None while there is no index: a backup has none."""
        self.seen: tuple[int, int, LogEnd | None] | None = None
        """The database's time of change and size, and the log's end, when all files last had their names."""
        self.let_go = threading.Event()
        """Set when nothing in this process has it open any more: the next connection begins with another."""

    @classmethod
    def joined(cls, database: Path) -> LogIndex:
        """The one of the database at this path, for a connection that is about to be opened; `leave` follows when it
        is closed. Raises OSError."""
        status = database.stat()
        with cls._state:
            key = status.st_dev, status.st_ino
            index = cls._open.setdefault(key, cls(key))
            index._users += 1
            return index

    @classmethod
    def beginning(cls, database: Path, size: int) -> bytes:
        """The first bytes of a database; none if this process has it open, as closing the file would drop SQLite's
        locks. Raises OSError."""
        status = database.stat()
        with cls._state:
            if (status.st_dev, status.st_ino) in cls._open:
                return b""
            with guard.ours(), database.open("rb") as file:
                return file.read(size)

    def leave(self) -> None:
        """The connection is closed."""
        with self._state:
            self._users -= 1
            if self._users:
                return
            self._open.pop(self._key, None)
            self.let_go.set()
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None

    def find(self, file: Path) -> None:
        """Open `file`, the index that a connection of this process has just begun to use, unless that has happened.
        Raises OSError but for one that is not there."""
        with self._state:
            if self._descriptor is not None:
                return
            try:
                with guard.ours():
                    # A pipe in its place would keep everybody waiting who opens it.
                    self._descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            except FileNotFoundError:
                return
            self.inode = os.fstat(self._descriptor).st_ino

    def end(self) -> LogEnd | None:
        """Of the log that it is about; None when that holds nothing. The fast half of `head`, for whoever has the turn:
        nobody changes it meanwhile. Raises OSError."""
        if self._descriptor is None:
            return None
        data = os.pread(self._descriptor, _END.size, _END_AT)
        return _end(data) if len(data) == _END.size else None

    def head(self) -> IndexHead:
        """What it says now. Raises OSError."""
        if self._descriptor is None:
            return _NOTHING
        for _ in range(_TRIES):
            data = os.pread(self._descriptor, _SIZE, 0)
            # Two copies: who reads in the middle of a change sees that they differ.
            if len(data) == _SIZE and data[:_COPY] == data[_COPY : 2 * _COPY]:
                break
        else:
            return _NOTHING
        _, frames, *_, salts, moved = _END.unpack_from(data, _END_AT)
        return IndexHead(frames, salts, moved, _end(data[_END_AT:]))


_NOTHING = IndexHead(0, b"", 0, None)


def _end(data: bytes) -> LogEnd | None:
    said, frames, _, first, second, salts, moved = _END.unpack(data)
    if not frames:
        return None
    # 64 kB, which 16 bits cannot hold, is written as 1.
    frame = _FRAME_HEADER + (said & 0xFE00) + ((said & 1) << 16)
    # The log has its numbers the other way round than most machines.
    return LogEnd(_LOG_HEADER + (frames - 1) * frame, salts + _SUMS.pack(first, second), moved)
