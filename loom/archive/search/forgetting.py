"""Taking a session out of the index from its end, leaving none of its words in it.

The index can only be told to delete what it was given, so each turn is taken apart once more. For a session of 100,000
turns that takes a minute: it is done before each write, for which all others wait.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import starmap

from loom.archive.search.document import COLUMNS, FINDABLE, TurnRow, found_by, place_of, turn_of
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


def last_names(
    connection: sqlite3.Connection, session_id: str, known: Sequence[TakenApart], first_turns: dict[str, int]
) -> frozenset[str]:
    """The names in these turns, the last ones of the session, that may be in no turn before them. Where each name is
    first is noted in `first_turns`, and looked up once. Raises sqlite3.Error."""
    names = frozenset(name for turn in known for name in turn.names)
    indexed = _indexed(connection, session_id)
    if indexed is None or not known:
        return names
    for name in names - first_turns.keys():
        row = connection.execute(
            "SELECT rowid FROM search_terms WHERE search_terms MATCH ? AND rowid BETWEEN ? AND ?"
            " ORDER BY rowid LIMIT 1",
            (_having(name), *indexed.places_behind(0)),
        ).fetchone()
        if row is not None:
            first_turns[name] = turn_of(row[0])
    return frozenset(name for name in names if first_turns.get(name, known[0].turn_number) >= known[0].turn_number)


def forget_names(connection: sqlite3.Connection, session_id: str, after: int, names: Iterable[str]) -> None:
    """Takes those of the names out of the index that only turns behind number `after` of the session have, which are
    about to go; called inside a transaction. Raises sqlite3.Error."""
    indexed = _indexed(connection, session_id)
    if indexed is not None:
        for name in names:
            _drop_unused_name(connection, name, indexed.places_behind(after))


def forget_end(
    connection: sqlite3.Connection, session_id: str, after: int, known: Sequence[TakenApart], names: Iterable[str]
) -> None:
    """Takes the turns behind number `after`, the last ones, out of the index; called inside the transaction that
    deletes them. `known` are these turns, as `take_apart` gave them (turns never change), and `names` the `last_names`
    of them: where `forget_names` has taken many of them out already, this takes less long.

    An index that `is_outdated` is left as it is. What is freed is overwritten by the connection's `secure_delete`, and
    the words themselves are gone when the index is merged (`merge_all`). Raises sqlite3.Error.
    """
    indexed = _indexed(connection, session_id)
    if indexed is None:
        return
    first, last = indexed.places_behind(after)
    indexed.delete_terms(connection, known)
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
    for name in names:
        # Some may have come back: turns that were indexed since.
        _drop_unused_name(connection, name, (first, last))


def forget_session(connection: sqlite3.Connection, session_id: str) -> None:
    """Takes a session whose turns are gone out of the index; called inside a transaction."""
    indexed = _indexed(connection, session_id)
    if indexed is not None:
        connection.execute("DELETE FROM search_sessions WHERE key = ?", (indexed.key,))


@dataclass(frozen=True, slots=True)
class _Indexed:
    """A session that the index has."""

    key: int
    end: int
    """The last row id that the index has."""

    def places_behind(self, turn_number: int) -> tuple[int, int]:
        """The first and the last place that a turn with a greater number can have."""
        return place_of(self.key, turn_number + 1), place_of(self.key + 1, 0) - 1

    def delete_terms(self, connection: sqlite3.Connection, turns: Iterable[TakenApart]) -> None:
        """Take what the turns are found by out of the index, as far as it has them."""
        for turn in turns:
            if turn.id <= self.end:
                connection.execute(
                    "INSERT INTO search_terms (search_terms, rowid, words, parts, names, facets)"
                    " VALUES ('delete', ?, ?, ?, ?, ?)",
                    (place_of(self.key, turn.turn_number), *turn.columns),
                )


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


def _drop_unused_name(connection: sqlite3.Connection, name: str, places: tuple[int, int]) -> None:
    """If no turn at other places than these has it."""
    row = connection.execute("SELECT id FROM search_names WHERE name = ?", (name,)).fetchone()
    if row is None:
        return
    used = connection.execute(
        "SELECT 1 FROM search_terms WHERE search_terms MATCH :having AND rowid < :first"
        " UNION ALL SELECT 1 FROM search_terms WHERE search_terms MATCH :having AND rowid > :last LIMIT 1",
        {"having": _having(name), "first": places[0], "last": places[1]},
    ).fetchone()
    if used is None:
        connection.execute(
            "INSERT INTO search_name_pieces (search_name_pieces, rowid, name) VALUES ('delete', ?, ?)", (row[0], name)
        )
        connection.execute("DELETE FROM search_names WHERE id = ?", (row[0],))


def _having(name: str) -> str:
    """Of turns that have the name, in FTS5's words."""
    return 'names : "' + name.replace('"', '""') + '"'
