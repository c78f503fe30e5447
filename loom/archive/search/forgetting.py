"""Taking a session out of the index, leaving none of its words in it.

The index can only be told to delete what it was given, so each turn is taken apart once more. For a session of 100,000
turns that takes a minute: it is done before the write, for which all others wait.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, starmap

from loom.archive.search.document import COLUMNS, FINDABLE, TurnRow, found_by, place_of
from loom.archive.search.index import Columns, columns_of, watermark
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
    end = watermark(connection)
    row = (
        None
        if end is None
        else connection.execute("SELECT key FROM search_sessions WHERE session_id = ?", (session_id,)).fetchone()
    )
    if end is None or row is None:
        return
    key = int(row[0])
    names: set[str] = set()
    later = take_apart(connection, session_id, known[-1].turn_number if known else 0)
    for turn in chain(known, later):
        if turn.id > end:
            continue
        connection.execute(
            "INSERT INTO search_terms (search_terms, rowid, words, parts, names, facets)"
            " VALUES ('delete', ?, ?, ?, ?, ?)",
            (place_of(key, turn.turn_number), *turn.columns),
        )
        names |= turn.names
    for table in ("search_marks", "search_sketches"):
        connection.execute(
            f"DELETE FROM {table} WHERE place BETWEEN ? AND ?",  # noqa: S608
            (place_of(key, 0), place_of(key + 1, 0) - 1),
        )
    connection.execute("DELETE FROM search_sessions WHERE key = ?", (key,))
    for name in names:
        _drop_unused_name(connection, name)
    for table in ("search_terms", "search_name_pieces"):
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")  # noqa: S608


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
