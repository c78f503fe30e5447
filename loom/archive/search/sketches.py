"""What turns mean, in a bit for each coordinate (meaning.py): kept together, so that hundreds of thousands can be
compared at once.

A row of `search_sketches` holds up to ROW_TURNS turns of a session that were said one after another.
"""

from __future__ import annotations

import sqlite3
import struct
from bisect import bisect_right
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, starmap

from loom.archive.search.document import key_of, place_of, turn_of
from loom.archive.search.leaping import Stretch
from loom.archive.search.meaning import SKETCH_BYTES

ROW_TURNS = 128
"""Turns of a row, 3.6 kB: it fits a page of the file."""
MOST_COMPARED = 100_000
"""Turns, of the newest sessions first: 100 ns each, 40 of them to read the rows."""
ROWS_AT_ONCE = 64
"""Compared in one go, 0.4 ms; three times as fast as one by one."""
FARTHEST = 240
"""What is added up of the rounded bytes of a sketch fits a byte."""

_WHOLE = f"length(numbers) % 4 = 0 AND length(sketches) = length(numbers) * {SKETCH_BYTES // 4}"
"""Of a row that no damage has cut."""
_ROWS = (
    "SELECT place, numbers, sketches FROM search_sketches"  # noqa: S608
    " WHERE place BETWEEN (SELECT coalesce(max(place), :first) FROM search_sketches"
    f" WHERE place BETWEEN :begins AND :first) AND :last AND {_WHOLE} ORDER BY place DESC"
)
_PLACES = f"SELECT place, numbers FROM search_sketches WHERE {_WHOLE} ORDER BY place"  # noqa: S608
_WRITE = "INSERT OR REPLACE INTO search_sketches VALUES (?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Row:
    """Turns of one session."""

    place: int
    """That of its first turn."""
    numbers: bytes
    """The numbers of the turns in their session, four bytes each, the lowest first."""
    sketches: bytes
    """SKETCH_BYTES for each of them."""

    def __len__(self) -> int:
        return len(self.numbers) // 4

    def place_at(self, i: int) -> int:
        """The place of one of the turns."""
        (number,) = struct.unpack_from("<I", self.numbers, 4 * i)
        return place_of(key_of(self.place), number)

    def part(self, first: int, end: int) -> Row:
        """The turns from one up to, without, another."""
        numbers = self.numbers[4 * first : 4 * end]
        return Row(self.place_at(first), numbers, self.sketches[SKETCH_BYTES * first : SKETCH_BYTES * end])


def row_of(turns: Sequence[tuple[int, bytes]]) -> Row:
    """A row of turns of one session, given by their places."""
    numbers = struct.pack(f"<{len(turns)}I", *(turn_of(place) for place, _ in turns))
    return Row(turns[0][0], numbers, b"".join(sketch for _, sketch in turns))


def keep(connection: sqlite3.Connection, turns: Sequence[tuple[int, bytes]]) -> None:
    """Adds turns of one session, in their order, behind those that are kept of it."""
    row = row_of(turns)
    last = next(rows_of(connection, [_session(row.place)]), None)
    if last is not None and len(last) < ROW_TURNS:
        row = Row(last.place, last.numbers + row.numbers, last.sketches + row.sketches)
    for first in range(0, len(row), ROW_TURNS):
        part = row.part(first, first + ROW_TURNS)
        connection.execute(_WRITE, (part.place, part.numbers, part.sketches))


def rows_of(connection: sqlite3.Connection, stretches: Iterable[Stretch]) -> Generator[Row]:
    """The rows with the turns of the stretches, the newest first; the row in which one begins is whole."""
    for first, last in stretches:
        begins, _ = _session(first)
        yield from starmap(Row, connection.execute(_ROWS, {"begins": begins, "first": first, "last": last}))


def places(connection: sqlite3.Connection) -> Iterator[int]:
    """The places of all turns that there are sketches of, in the order in which these are kept."""
    for place, numbers in connection.execute(_PLACES):
        yield from (place_of(key_of(place), number) for (number,) in struct.iter_unpack("<I", numbers))


def likest(direction: Sequence[float], rows: Iterable[Row]) -> Iterator[int]:
    """The places of the turns of the first MOST_COMPARED, or somewhat more, of these rows: those first that differ
    least from a direction, and the newest among equals."""
    tables = differing(direction)
    compared: list[Row] = []
    starts: list[int] = []
    apart: list[bytes] = []
    total = 0
    rows = iter(rows)
    while total < MOST_COMPARED and (some := list(islice(rows, ROWS_AT_ONCE))):
        for row in some:
            starts.append(total)
            total += len(row)
        compared += some
        apart.append(distances(tables, b"".join(row.sketches for row in some)))
    all_apart = b"".join(apart)

    def place(at: int) -> int:
        i = bisect_right(starts, at) - 1
        return compared[i].place_at(at - starts[i])

    return chain.from_iterable(
        sorted(map(place, _positions(all_apart, distance)), reverse=True) for distance in range(256)
    )


def distances(tables: Sequence[bytes], sketches: bytes) -> bytes:
    """How far each of the sketches is from the direction that the tables were made of: a byte each.

    Byte by byte of the sketches, for all of them at once: a table says how far it differs, and adding up what it says
    of all sketches is adding large numbers.
    """
    columns = (sketches[i::SKETCH_BYTES].translate(table) for i, table in enumerate(tables))
    return sum(int.from_bytes(column, "little") for column in columns).to_bytes(len(sketches) // SKETCH_BYTES, "little")


def differing(direction: Sequence[float]) -> list[bytes]:
    """For each byte of a sketch how far each of its 256 values differs from a direction: each coordinate whose sign is
    another counts as much as the direction goes along it (as the asymmetric distance of Gordo and others 2014), all of
    them together FARTHEST."""
    scale = FARTHEST / (sum(map(abs, direction)) or 1)
    tables = []
    for first in range(0, len(direction), 8):
        table = [0.0]
        for side in direction[first : first + 8]:
            unset, is_set = (side * scale, 0.0) if side > 0 else (0.0, -side * scale)
            table = [far + unset for far in table] + [far + is_set for far in table]
        tables.append(bytes(map(round, table)))
    return tables


def _positions(text: bytes, byte: int) -> Iterator[int]:
    at = text.find(byte)
    while at >= 0:
        yield at
        at = text.find(byte, at + 1)


def _session(place: int) -> Stretch:
    """All places of the session of one."""
    key = key_of(place)
    return place_of(key, 0), place_of(key + 1, 0) - 1
