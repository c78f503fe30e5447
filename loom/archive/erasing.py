"""Deletes a session from a database, also where its rows or what is derived from them are damaged.

An index can only be told to delete what it was given: where a turn is not what was stored, or an index does not agree
with its table, the index is made anew in place of being changed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from loom.archive.chains import follow_chain, lenient
from loom.archive.database import open_database
from loom.archive.errors import UnknownSession
from loom.archive.forks import take_away, unfinished
from loom.archive.transactions import transaction

_TABLES = ("conversation_turns", "manifests", "drafts", "session_texts")
"""What holds a session's words, each with an index of its own that begins with the session."""


@dataclass(frozen=True, slots=True)
class Erased:
    """A session that is gone from a database."""

    turns: int
    damaged: tuple[int, ...]
    """Numbers of the turns that were not what was stored, ascending: what they had been is not known."""
    indexed_anew: bool
    """The full-text index was thrown away; it is empty until it is filled again."""


def erase(connection: sqlite3.Connection, session_id: str) -> Erased:
    """Delete the session and all that belongs to it, in one transaction.

    Needs `secure_delete`. Raises UnknownSession, or sqlite3.Error: then nothing of it is deleted. Where an index does
    not agree with its table, others wait for as long as it takes to make all of them anew.
    """
    damaged: list[int] | None = None
    try:
        damaged = _damaged_turns(connection, session_id)
        return _erase_what_agrees(connection, session_id, damaged)
    except sqlite3.DatabaseError as error:
        # A trigger refuses a row that names another session than the index does.
        if not (is_damage(error) or isinstance(error, sqlite3.IntegrityError)):
            raise
    return _erase_whatever(connection, session_id, damaged)


def _erase_what_agrees(connection: sqlite3.Connection, session_id: str, damaged: list[int]) -> Erased:
    from loom.archive.search.forgetting import forget, take_apart
    from loom.archive.search.index import is_outdated, rebuild

    # An older loom's index holds its words otherwise, and that of a backup nobody would ever make anew.
    anew = bool(damaged) or is_outdated(connection)
    if anew:
        rebuild(connection)
    taken_apart = [] if anew else list(take_apart(connection, session_id))
    with transaction(connection):
        forget(connection, session_id, taken_apart)
        connection.execute("DELETE FROM purging")
        turns = _delete(connection, session_id)
    return Erased(turns, tuple(damaged), anew)


def _erase_whatever(connection: sqlite3.Connection, session_id: str, damaged: list[int] | None) -> Erased:
    from loom.archive.search.index import rebuild

    rebuild(connection)
    with transaction(connection):
        astray = list(_turns_astray(connection, session_id))
        for table in (*_TABLES, "cowork_sessions"):
            connection.execute(f"REINDEX {table}")
        if damaged is None:
            damaged = _damaged_turns(connection, session_id)
        turns = _delete(connection, session_id)
    return Erased(turns, tuple(sorted({*damaged, *astray})), True)


def erase_in_backup(backup: Path, session_id: str) -> Erased | None:
    """Take the session out of a backup; None if it is not in there. Raises sqlite3.Error or ArchiveError."""
    with closing(open_database(backup)) as connection:
        connection.execute("PRAGMA secure_delete = ON").fetchall()
        connection.execute("PRAGMA foreign_keys = ON").fetchall()
        if connection.execute("SELECT 1 FROM cowork_sessions WHERE id = ?", (session_id,)).fetchone() is None:
            return None
        # Nobody is making them here.
        for fork in unfinished(connection, session_id):
            take_away(connection, fork)
        erased = erase(connection, session_id)
        # What the copy had kept between cells goes too; nobody else has a backup open.
        connection.execute("VACUUM")
    return erased


@contextmanager
def any_bytes(connection: sqlite3.Connection) -> Iterator[None]:
    """While it lasts, bytes that are no UTF-8 are read (see `lenient`): they must keep nobody from purging them."""
    connection.text_factory = lenient
    try:
        yield
    finally:
        connection.text_factory = str


def _damaged_turns(connection: sqlite3.Connection, session_id: str) -> list[int]:
    with any_bytes(connection):
        return follow_chain(connection, session_id).altered


def _turns_astray(connection: sqlite3.Connection, session_id: str) -> Iterator[int]:
    """The numbers of the turns whose row names a session that never was, where the index still has the true one. What
    they name is noted in `purging`, as is what other rows of the session name: as soon as the indexes are made anew
    nothing else tells whose they are."""
    connection.execute("DELETE FROM purging")
    for table in _TABLES:
        connection.execute(
            f"INSERT OR IGNORE INTO purging (session_id) SELECT session_id FROM {table} NOT INDEXED"  # noqa: S608
            f" WHERE rowid IN (SELECT rowid FROM {table} INDEXED BY sqlite_autoindex_{table}_1 WHERE session_id = :id)"
            " AND session_id <> :id AND session_id NOT IN (SELECT id FROM cowork_sessions)",
            {"id": session_id},
        )
    for (number,) in connection.execute(
        "SELECT turn_number FROM conversation_turns NOT INDEXED WHERE session_id IN (SELECT session_id FROM purging)"
    ):
        yield number


def _delete(connection: sqlite3.Connection, session_id: str) -> int:
    """Inside a transaction: delete the session, and whatever `purging` names; gives how many turns that were."""
    connection.execute("INSERT INTO purging (session_id) VALUES (?)", (session_id,))
    counts = [
        connection.execute(f"DELETE FROM {table} WHERE session_id IN (SELECT session_id FROM purging)").rowcount  # noqa: S608
        for table in _TABLES
    ]
    # A fork stays, with nowhere to come from.
    connection.execute("UPDATE cowork_sessions SET parent_id = NULL WHERE parent_id = ?", (session_id,))
    gone = connection.execute("DELETE FROM cowork_sessions WHERE id = ?", (session_id,))
    connection.execute("DELETE FROM purging")
    if not gone.rowcount:
        raise UnknownSession(f"There is no session {session_id} in the archive.")
    return counts[0]


def is_damage(error: sqlite3.Error) -> bool:
    """Whether SQLite found something that does not hold together."""
    code: int = getattr(error, "sqlite_errorcode", None) or sqlite3.SQLITE_ERROR
    return code & 0xFF == sqlite3.SQLITE_CORRUPT
