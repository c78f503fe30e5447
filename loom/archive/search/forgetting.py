"""Taking a session, or the end of one, out of the index, leaving none of its words in it.

The index can only be told to delete what it was given, so each turn is taken apart once more. For a session of 100,000
turns that takes a minute: it is done before the write, for which all others wait.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, starmap

from loom.archive.search.document import COLUMNS, FINDABLE, TurnRow, found_by, place_of
from loom.archive.search.index import Columns, columns_of, watermark
from loom.archive.search.sketches import Row, rows_of
from loom.archive.search.words import without_lines

_READ_AT_ONCE = 20
"""Turns: a cursor that stays open keeps the log from being moved."""
_SOME = (
    f"SELECT {COLUMNS} FROM conversation_turns WHERE session_id = ? AND turn_number > ? AND {FINDABLE}"  # noqa: S608
    " ORDER BY turn_number LIMIT ?"
)


@dataclass(frozen=True, slots=True)
class TakenApart:
    """What the index has of a turn, or will have."""

    id: int
    turn_number: int
    columns: Columns
    names: frozenset[str]


def take_apart(connection: sqlite3.Connection, session_id: str, after: int = 0) -> Iterator[TakenApart]:
    """The session's turns behind number `after`, in order."""
    while found := connection.execute(_SOME, (session_id, after, _READ_AT_ONCE)).fetchall():
        for row in starmap(TurnRow, found):
            after = row.turn_number
            if (found_as := found_by(row)) is not None:
                names = frozenset(without_lines(found_as.terms.names))
                yield TakenApart(row.id, row.turn_number, columns_of(found_as), names)


def forget(connection: sqlite3.Connection, session_id: str, known: Sequence[TakenApart] = ()) -> None:
    """Takes a session out of the index; called inside the transaction of a purge, before the turns are deleted. `known`
    are its first turns, as `take_apart` gave them: turns never change. An index that `is_outdated` is left as it is.
    Secure deletion of the freed pages is the connection's `secure_delete`."""
    indexed = _indexed(connection, session_id)
    if indexed is None:
        return
    later = take_apart(connection, session_id, known[-1].turn_number if known else 0)
    names = indexed.delete_terms(connection, chain(known, later))
    for table in ("search_marks", "search_sketches"):
        connection.execute(
            f"DELETE FROM {table} WHERE place BETWEEN ? AND ?",  # noqa: S608
            (place_of(indexed.key, 0), place_of(indexed.key + 1, 0) - 1),
        )
    connection.execute("DELETE FROM search_sessions WHERE key = ?", (indexed.key,))
    for name in names:
        _drop_unused_name(connection, name)
    for table in ("search_terms", "search_name_pieces"):
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")  # noqa: S608


def forget_end(connection: sqlite3.Connection, session_id: str, after: int, known: Sequence[TakenApart]) -> None:
    """Takes the turns behind number `after` out of the index, and the session with the last of them; called inside the
    transaction that deletes them. `known` are these turns, as `take_apart` gave them. Raises sqlite3.Error."""
    indexed = _indexed(connection, session_id)
    if indexed is None:
        return
    first, last = place_of(indexed.key, after + 1), place_of(indexed.key + 1, 0) - 1
    names = indexed.delete_terms(connection, known)
    connection.execute(
        "UPDATE search_sessions SET turns = turns - gone, characters = characters - shorter"
        " FROM (SELECT count(*) AS gone, coalesce(sum(characters), 0) AS shorter FROM search_marks"
        " WHERE place BETWEEN ? AND ?) WHERE key = ?",
        (first, last, indexed.key),
    )
    connection.execute("DELETE FROM search_marks WHERE place BETWEEN ? AND ?", (first, last))
    kept = list(_cut_rows(connection, first, last))
    connection.execute("DELETE FROM search_sketches WHERE place BETWEEN ? AND ?", (first, last))
    for row in kept:
        connection.execute(
            "UPDATE search_sketches SET numbers = ?, sketches = ? WHERE place = ?",
            (row.numbers, row.sketches, row.place),
        )
    if not after:
        connection.execute("DELETE FROM search_sessions WHERE key = ?", (indexed.key,))
    for name in names:
        _drop_unused_name(connection, name)


@dataclass(frozen=True, slots=True)
class _Indexed:
    """A session that the index has."""

    key: int
    end: int
    """The last row id that the index has."""

    def delete_terms(self, connection: sqlite3.Connection, turns: Iterable[TakenApart]) -> set[str]:
        """Take what the turns are found by out of the index, as far as it has them; gives the names in them."""
        names: set[str] = set()
        for turn in turns:
            if turn.id <= self.end:
                connection.execute(
                    "INSERT INTO search_terms (search_terms, rowid, words, parts, names, facets)"
                    " VALUES ('delete', ?, ?, ?, ?, ?)",
                    (place_of(self.key, turn.turn_number), *turn.columns),
                )
                names |= turn.names
        return names


def _indexed(connection: sqlite3.Connection, session_id: str) -> _Indexed | None:
    end = watermark(connection)
    if end is None:
        return None
    row = connection.execute("SELECT key FROM search_sessions WHERE session_id = ?", (session_id,)).fetchone()
    return None if row is None else _Indexed(int(row[0]), end)


def _cut_rows(connection: sqlite3.Connection, first: int, last: int) -> Iterator[Row]:
    """What is left of the row that begins before the place `first` and ends behind it."""
    for row in rows_of(connection, [(first, last)]):
        stay = sum(row.place_at(i) < first for i in range(len(row)))
        if stay:
            yield row.part(0, stay)


def _drop_unused_name(connection: sqlite3.Connection, name: str) -> None:
    used = connection.execute(
        "SELECT 1 FROM search_terms WHERE search_terms MATCH ? LIMIT 1", ('names : "' + name.replace('"', '""') + '"',)
    ).fetchone()
    row = connection.execute("SELECT id FROM search_names WHERE name = ?", (name,)).fetchone()
    if used is None and row is not None:
        connection.execute(
            "INSERT INTO search_name_pieces (search_name_pieces, rowid, name) VALUES ('delete', ?, ?)", (row[0], name)
        )
        connection.execute("DELETE FROM search_names WHERE id = ?", (row[0],))
