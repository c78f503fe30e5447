"""The pages of a database file as they are on the disk, its write-ahead log laid over them: for files that SQLite
will not read any more.

File format: https://www.sqlite.org/fileformat2.html
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_SIZES = tuple(2**n for n in range(9, 17))
_USUAL = 4096
_SAMPLE = 1 << 24
_LEAF = 0x0D
_WAL_HEADER = 32
_FRAME_HEADER = 24
_WAL_MAGIC = (0x377F0682, 0x377F0683)


class Pages:
    """Every page of a file, by number from 1, in the newest image that was committed.

    `log` is read when it is given. Raises OSError when a file cannot be read at all; a sector that cannot be read is
    zeros.
    """

    def __init__(self, file: BinaryIO, log: BinaryIO | None = None) -> None:
        self._file = file
        self._log = log
        self._length = file.seek(0, 2)
        self.size = self._find_size()
        """Bytes in a page."""
        self._frames: dict[int, int] = {}
        if log is not None:
            self._read_log(log)

    @property
    def count(self) -> int:
        """How many pages there are, in the file or beyond its end in the log."""
        return max([-(-self._length // self.size), *self._frames])

    def behind(self, frames: int) -> list[int]:
        """The pages whose newest image stands in the log behind its first `frames` frames."""
        start = _WAL_HEADER + frames * (_FRAME_HEADER + self.size)
        return sorted(number for number, place in self._frames.items() if place > start)

    def read(self, number: int) -> bytes:
        """The page's bytes, filled up with zeros where the file ends early; empty beyond the end."""
        place = self._frames.get(number)
        if place is not None and self._log is not None:
            return _read(self._log, place, self.size)
        return self.read_below(number)

    def read_below(self, number: int) -> bytes:
        """The page as it is in the file itself, whatever the log says."""
        start = (number - 1) * self.size
        if number < 1 or start >= self._length:
            return b""
        return _read(self._file, start, min(self.size, self._length - start)).ljust(self.size, b"\0")

    def images(self, number: int) -> Iterator[bytes]:
        """The images that there are of a page, the newest first."""
        newest = self.read(number)
        yield newest
        if number in self._frames and (older := self.read_below(number)) and older != newest:
            yield older

    def _find_size(self) -> int:
        head = _read(self._file, 0, 100)
        if head[:16] == b"SQLite format 3\0":
            said = int.from_bytes(head[16:18], "big")
            if said == 1 or said in _SIZES:
                return 65536 if said == 1 else said
        # The header is gone. At the true size and at its divisors all leaves are seen, at its multiples half of them.
        leaves = {size: self._leaves(size) for size in _SIZES}
        most = max(leaves.values())
        return max(size for size in _SIZES if leaves[size] >= 0.8 * most) if most else _USUAL

    def _leaves(self, size: int) -> int:
        """How many pages look like leaves if pages are so large, in the first part of the file."""
        starts = range(size, min(self._length, _SAMPLE) - size + 1, size)
        return sum(_looks_like_leaf(_read(self._file, start, size)) for start in starts)

    def _read_log(self, log: BinaryIO) -> None:
        """Which frame holds each page: the last one of what was committed. Frames of an earlier round have another
        salt; where a checksum does not hold, the log ends."""
        length = log.seek(0, 2)
        header = _read(log, 0, _WAL_HEADER)
        if len(header) < _WAL_HEADER or int.from_bytes(header[:4], "big") not in _WAL_MAGIC:
            return
        order = ">" if header[3] & 1 else "<"
        size = int.from_bytes(header[8:12], "big")
        if size not in _SIZES:
            return
        self.size = size
        salts = header[16:24]
        sums = _checksum(header[:24], (0, 0), order)
        if sums != struct.unpack(">II", header[24:32]):
            return
        pending: dict[int, int] = {}
        place = _WAL_HEADER
        while place + _FRAME_HEADER + size <= length:
            frame = _read(log, place, _FRAME_HEADER + size)
            sums = _checksum(frame[:8], sums, order)
            sums = _checksum(frame[_FRAME_HEADER:], sums, order)
            if frame[8:16] != salts or sums != struct.unpack(">II", frame[16:24]):
                break
            number, committed = struct.unpack(">II", frame[:8])
            pending[number] = place + _FRAME_HEADER
            if committed:
                self._frames.update(pending)
                pending.clear()
            place += _FRAME_HEADER + size


def _looks_like_leaf(page: bytes) -> bool:
    if len(page) < 512 or page[0] != _LEAF:
        return False
    cells = int.from_bytes(page[3:5], "big")
    content = int.from_bytes(page[5:7], "big") or 65536
    return cells > 0 and 8 + 2 * cells <= content <= len(page)


def _read(file: BinaryIO, place: int, length: int) -> bytes:
    try:
        file.seek(place)
        return file.read(length)
    except OSError:
        # A bad sector: what is around it is read piece by piece.
        if length <= 512:
            return b"\0" * length
        pieces = range(0, length, 512)
        return b"".join(_read(file, place + piece, min(512, length - piece)) for piece in pieces)


def _checksum(data: bytes, start: tuple[int, int], order: str) -> tuple[int, int]:
    first, second = start
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second


def open_log(path: Path) -> Path | None:
    """The write-ahead log beside the file at `path`, if it has something in it."""
    log = path.with_name(f"{path.name}-wal")
    return log if log.is_file() and log.stat().st_size > _WAL_HEADER else None
