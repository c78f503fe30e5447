"""The rows in the leaf pages of a database's tables, read without the database: each as long as it is whole.

A row is `(rowid, columns)`. Which table it is of, whoever asks must see by its columns: the schema may be what is
damaged.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from loom.archive.pages import Pages

Value = str | bytes | int | float | None
Row = tuple[int, tuple[Value, ...]]

_LEAF = 0x0D
_MOST_COLUMNS = 64
_MOST_BYTES = 1_000_000_000
"""SQLite's own limit for a row."""

_RECORD = re.compile(rb"[\x08-\x40](?=\x00\x55|\x55)")
"""Where the record of a turn (NULL for its row id, then a session id of 36 characters) or of a session (its id) may
begin: with the length of its header."""


class Unreadable(Exception):
    """These bytes are no row, or not the whole of one."""


def rows_of(pages: Pages, page: bytes, number: int) -> Iterator[Row]:
    """The rows of one page, by its cell pointers; and, where these do not lead to all of them, those that the bytes
    themselves show."""
    start = 100 if number == 1 else 0
    found = 0
    expected = -1
    if page[start : start + 1] == bytes([_LEAF]):
        expected = int.from_bytes(page[start + 3 : start + 5], "big")
        for n in range(min(expected, (len(page) - start - 8) // 2)):
            at = start + 8 + 2 * n
            try:
                row = _cell(pages, page, int.from_bytes(page[at : at + 2], "big"))
            except Unreadable:
                continue
            found += 1
            yield row
    if found != expected:
        yield from carved(pages, page)


def carved(pages: Pages, page: bytes) -> Iterator[Row]:
    """The rows of turns and sessions that the page's bytes show, whatever its header says."""
    for match in _RECORD.finditer(page):
        at = match.start()
        try:
            header, types = _header(page, at)
            total = header + sum(_width(kind) for kind in types)
        except Unreadable:
            continue
        size = _varint_bytes(total)
        # Before the record stand its row id, in 1 to 9 bytes, and before that its length.
        for width in range(1, 10):
            begin = at - width - len(size)
            if begin < 0 or page[begin : begin + len(size)] != size:
                continue
            try:
                row_id, after = _varint(page, begin + len(size))
                if after == at and row_id > 0:
                    yield _cell(pages, page, begin)
                    break
            except Unreadable:
                continue


def _cell(pages: Pages, page: bytes, at: int) -> Row:
    if at <= 0:
        raise Unreadable
    length, at = _varint(page, at)
    row_id, at = _varint(page, at)
    if not 0 < length <= _MOST_BYTES:
        raise Unreadable
    return row_id, _record(_payload(pages, page, at, length))


def _payload(pages: Pages, page: bytes, at: int, length: int) -> bytes:
    """The record's bytes: those in the page, and those in the chain of overflow pages behind it."""
    usable = pages.size
    if length <= usable - 35:
        if at + length > usable:
            raise Unreadable
        return page[at : at + length]
    least = (usable - 12) * 32 // 255 - 23
    local = least + (length - least) % (usable - 4)
    local = local if local <= usable - 35 else least
    if at + local + 4 > usable:
        raise Unreadable
    parts = [page[at : at + local]]
    rest = length - local
    following = int.from_bytes(page[at + local : at + local + 4], "big")
    seen: set[int] = set()
    while rest > 0:
        overflow = pages.read(following)
        if not overflow or following in seen:
            raise Unreadable
        seen.add(following)
        part = overflow[4 : 4 + min(rest, usable - 4)]
        parts.append(part)
        rest -= len(part)
        following = int.from_bytes(overflow[:4], "big")
    return b"".join(parts)


def _record(data: bytes) -> tuple[Value, ...]:
    at, types = _header(data, 0)
    values: list[Value] = []
    for kind in types:
        width = _width(kind)
        if at + width > len(data):
            raise Unreadable
        values.append(_value(kind, data[at : at + width]))
        at += width
    return tuple(values)


def _header(data: bytes, at: int) -> tuple[int, list[int]]:
    """The length of the record's header, and the serial types in it."""
    length, place = _varint(data, at)
    end = at + length
    if not 1 < length <= 9 * _MOST_COLUMNS or end > len(data):
        raise Unreadable
    types: list[int] = []
    while place < end:
        kind, place = _varint(data, place)
        types.append(kind)
    if place != end or len(types) > _MOST_COLUMNS:
        raise Unreadable
    return length, types


def _width(kind: int) -> int:
    if 0 <= kind < 10:
        return (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)[kind]
    if kind < 12 or kind > 2 * _MOST_BYTES + 13:
        raise Unreadable
    return (kind - 12) // 2


def _value(kind: int, data: bytes) -> Value:
    if kind == 0:
        return None
    if kind == 7:
        (real,) = struct.unpack(">d", data)
        return float(real)
    if kind in (8, 9):
        return kind - 8
    if kind < 10:
        return int.from_bytes(data, "big", signed=True)
    return data.decode("utf-8", "surrogateescape") if kind & 1 else data


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at `at` and the place behind it."""
    value = 0
    for n in range(9):
        if at + n >= len(data):
            raise Unreadable
        byte = data[at + n]
        if n == 8:
            value = value << 8 | byte
            return (value - (1 << 64) if value >> 63 else value), at + 9
        value = value << 7 | byte & 0x7F
        if not byte & 0x80:
            return value, at + n + 1
    raise Unreadable


def _varint_bytes(number: int) -> bytes:
    """A number below 2^56 as SQLite writes it."""
    groups = [number & 0x7F]
    while number := number >> 7:
        groups.append(number & 0x7F | 0x80)
    return bytes(reversed(groups))
