"""Sketches of what turns mean: kept in rows, compared all at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom.archive.database import connect
from loom.archive.migrations import prepare, statements
from loom.archive.search import sketches
from loom.archive.search.document import key_of, place_of
from loom.archive.search.index import index_schema
from loom.archive.search.meaning import SKETCH_BYTES
from loom.archive.search.sketches import (
    FARTHEST,
    ROW_TURNS,
    differing,
    distances,
    keep,
    likest,
    places,
    row_of,
    rows_of,
)

EVERYTHING = (0, place_of(1 << 30, 0))
SKETCH = st.binary(min_size=SKETCH_BYTES, max_size=SKETCH_BYTES)
DIRECTION = st.lists(st.integers(-100, 100).map(float), min_size=8 * SKETCH_BYTES, max_size=8 * SKETCH_BYTES)
PLACES = st.sets(st.builds(place_of, st.integers(1, 3), st.integers(1, 5_000)), max_size=20).map(sorted)


def made(number: int) -> bytes:
    return number.to_bytes(SKETCH_BYTES, "little")


def direction_of(sketch: bytes) -> list[float]:
    """One that goes along every coordinate as far, where the sketch's bits say."""
    number = int.from_bytes(sketch, "little")
    return [1.0 if number >> bit & 1 else -1.0 for bit in range(8 * SKETCH_BYTES)]


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    path = tmp_path / "archive.db"
    prepare(path)
    with closing(connect(path)) as opened:
        for statement in statements(index_schema()):
            opened.execute(statement)
        yield opened


@given(DIRECTION, st.lists(SKETCH, max_size=8))
def test_what_differs_counts_as_much_as_the_direction_goes(direction: list[float], others: list[bytes]) -> None:
    """Rounded once for each byte of a sketch."""
    whole = sum(map(abs, direction)) or 1
    found = distances(differing(direction), b"".join(others))
    for distance, sketch in zip(found, others, strict=True):
        number = int.from_bytes(sketch, "little")
        apart = sum(abs(side) for bit, side in enumerate(direction) if (side > 0) != bool(number >> bit & 1))
        assert distance == pytest.approx(FARTHEST * apart / whole, abs=0.5 * SKETCH_BYTES + 0.01)


def test_what_differs_in_everything_fits_a_byte() -> None:
    for direction in (direction_of(made(0)), [0.0] * 191 + [1.0], [1e-9] * 192, [0.0] * 192):
        tables = differing(direction)
        opposite = bytes(table.index(max(table)) for table in tables)
        assert distances(tables, opposite)[0] >= FARTHEST - SKETCH_BYTES or not any(direction)
        assert max(distances(tables, opposite)) < 256


@given(PLACES, st.data())
def test_the_likest_come_first_and_the_newest_among_equals(some_places: list[int], data: st.DataObject) -> None:
    direction = data.draw(DIRECTION)
    tables = differing(direction)
    # Few different ones, so that some are equally like.
    some = data.draw(st.lists(SKETCH, min_size=1, max_size=5))
    kept = {place: data.draw(st.sampled_from(some)) for place in some_places}
    rows = [row_of(list(turns)) for _, turns in groupby(kept.items(), key=lambda turn: key_of(turn[0]))]
    expected = sorted(some_places, key=lambda place: (distances(tables, kept[place]), -place))
    assert list(likest(direction, reversed(rows))) == expected


def test_rows_are_filled_and_another_session_has_its_own(connection: sqlite3.Connection) -> None:
    turns = [(place_of(7, number), made(number)) for number in range(1, 2 * ROW_TURNS + 6)]
    for first in range(0, len(turns), 50):
        keep(connection, turns[first : first + 50])
        keep(connection, [(place_of(8, first + 1), made(first))])
    rows = list(rows_of(connection, [EVERYTHING]))
    assert [len(row) for row in rows] == [6, 5, ROW_TURNS, ROW_TURNS]
    assert [key_of(row.place) for row in rows] == [8, 7, 7, 7]
    kept = [(row.place_at(i), row.part(i, i + 1).sketches) for row in reversed(rows[1:]) for i in range(len(row))]
    assert kept == turns
    assert list(places(connection))[: len(turns)] == [place for place, _ in turns]
    assert len(list(places(connection))) == len(turns) + 6


def test_one_batch_may_fill_several_rows(connection: sqlite3.Connection) -> None:
    turns = [(place_of(1, number), made(number)) for number in range(1, 3 * ROW_TURNS + 1)]
    keep(connection, turns)
    assert [len(row) for row in rows_of(connection, [EVERYTHING])] == [ROW_TURNS] * 3
    keep(connection, [(place_of(1, 9_999), made(9_999))])
    assert next(rows_of(connection, [EVERYTHING])).place == place_of(1, 9_999)


def test_a_stretch_that_begins_within_a_session_has_the_row_it_begins_in(connection: sqlite3.Connection) -> None:
    keep(connection, [(place_of(3, number), made(number)) for number in (1, 5, 9)])
    keep(connection, [(place_of(4, 1), made(1))])
    (row,) = rows_of(connection, [(place_of(3, 6), place_of(4, 0) - 1)])
    assert [row.place_at(i) for i in range(len(row))] == [place_of(3, number) for number in (1, 5, 9)]


def test_a_stretch_has_no_row_that_ends_before_it(connection: sqlite3.Connection) -> None:
    keep(connection, [(place_of(2, number), made(number)) for number in range(1, 4)])
    keep(connection, [(place_of(3, number), made(number)) for number in range(1, 3 * ROW_TURNS + 1)])
    beginnings = (1, 2, ROW_TURNS, ROW_TURNS + 1, 2 * ROW_TURNS, 3 * ROW_TURNS, 3 * ROW_TURNS + 1)
    found = {first: list(rows_of(connection, [(place_of(3, first), place_of(4, 0) - 1)])) for first in beginnings}
    assert [len(found[first]) for first in beginnings] == [3, 3, 3, 2, 2, 1, 1]


def test_of_very_many_the_newest_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sketches, "MOST_COMPARED", 150)
    rows = [row_of([(place_of(1, number), made(0))]) for number in range(400, 0, -1)]
    found = list(likest(direction_of(made(0)), rows))
    assert found[:1] == [place_of(1, 400)]
    assert 150 <= len(found) < 400


def test_a_row_that_damage_has_cut_is_passed_over_and_missed(connection: sqlite3.Connection) -> None:
    keep(connection, [(place_of(1, 1), made(1))])
    keep(connection, [(place_of(2, 1), made(2)), (place_of(2, 2), made(3))])
    connection.execute(
        "UPDATE search_sketches SET sketches = substr(sketches, 1, 30) WHERE place = ?", (place_of(2, 1),)
    )
    rows = list(rows_of(connection, [EVERYTHING]))
    assert list(likest(direction_of(made(1)), rows)) == [place_of(1, 1)]
    assert list(places(connection)) == [place_of(1, 1)]
