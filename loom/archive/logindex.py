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

from loom.archive import guard

_SIZE = 100
_COPY = 48
_FRAMES = struct.Struct("=I")
_FRAMES_AT = 16
_SALTS = slice(32, 40)
_MOVED_AT = 96
_NO_FRAMES = bytes(4)

_TRIES = 50


@dataclass(frozen=True, slots=True)
class IndexHead:
    """What an index says of its log."""

    frames: int
    """Committed frames of the present round; 0 when the log holds nothing that is not in the database."""
    salts: bytes
    """8 bytes, as the log's header has them while there are frames."""
    moved: int
    """How many of the frames are in the database as well."""


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
                    self._descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                return
            self.inode = os.fstat(self._descriptor).st_ino

    def salts(self) -> bytes:
        """Of the log that it is about; empty when that holds nothing. The fast half of `head`, for whoever has the
        turn: nobody changes it meanwhile. Raises OSError."""
        if self._descriptor is None:
            return b""
        data = os.pread(self._descriptor, _SALTS.stop - _FRAMES_AT, _FRAMES_AT)
        return data[-8:] if data[:4] != _NO_FRAMES else b""

    def head(self) -> IndexHead:
        """What it says now. Raises OSError."""
        if self._descriptor is None:
            return IndexHead(0, b"", 0)
        data = b""
        for _ in range(_TRIES):
            data = os.pread(self._descriptor, _SIZE, 0)
            # Two copies: who reads in the middle of a change sees that they differ.
            if len(data) == _SIZE and data[:_COPY] == data[_COPY : 2 * _COPY]:
                break
        else:
            return IndexHead(0, b"", 0)
        return IndexHead(_number(data, _FRAMES_AT), data[_SALTS], _number(data, _MOVED_AT))


def _number(data: bytes, at: int) -> int:
    (number,) = _FRAMES.unpack_from(data, at)
    return int(number)
