"""Takes the last turns of a session out of the full-text index, and leaves the rest of it as it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

from loom.archive.search import sketches
from loom.archive.search.document import place_of
from loom.archive.search.forgetting import TakenApart, _drop_unused_name
from loom.archive.search.index import watermark


def unindex_end(connection: sqlite3.Connection, session_id: str, after: int, known: Sequence[TakenApart]) -> None:
    """Take the turns behind number `after` out of the index; called inside the transaction that deletes them. `known`
    is what `take_apart` gave of them. An index that is missing is left as it is. Raises sqlite3.Error."""
    end = watermark(connection)
    row = (
        None
        if end is None
        else connection.execute("SELECT key FROM search_sessions WHERE session_id = ?", (session_id,)).fetchone()
    )
    if end is None or row is None:
        return
    key = int(row[0])
    first, last = place_of(key, after + 1), place_of(key + 1, 0) - 1
    names: set[str] = set()
    for turn in known:
        if turn.id <= end:
            connection.execute(
                "INSERT INTO search_terms (search_terms, rowid, words, parts, names, facets)"
                " VALUES ('delete', ?, ?, ?, ?, ?)",
                (place_of(key, turn.turn_number), *turn.columns),
            )
            names |= turn.names
    connection.execute(
        "UPDATE search_sessions SET turns = turns - gone, characters = characters - shorter"
        " FROM (SELECT count(*) AS gone, coalesce(sum(characters), 0) AS shorter FROM search_marks"
        " WHERE place BETWEEN ? AND ?) WHERE key = ?",
        (first, last, key),
    )
    connection.execute("DELETE FROM search_marks WHERE place BETWEEN ? AND ?", (first, last))
    kept = list(_cut_rows(connection, first, last))
    connection.execute("DELETE FROM search_sketches WHERE place BETWEEN ? AND ?", (first, last))
    for row_left in kept:
        connection.execute(
            "UPDATE search_sketches SET numbers = ?, sketches = ? WHERE place = ?",
            (row_left.numbers, row_left.sketches, row_left.place),
        )
    if not after:
        connection.execute("DELETE FROM search_sessions WHERE key = ?", (key,))
    for name in names:
        _drop_unused_name(connection, name)


def _cut_rows(connection: sqlite3.Connection, first: int, last: int) -> Iterator[sketches.Row]:
    """What is left of the row that begins before the place `first` and ends behind it."""
    for row in sketches.rows_of(connection, [(first, last)]):
        stay = sum(row.place_at(i) < first for i in range(len(row)))
        if stay:
            yield row.part(0, stay)
