"""Deletes a session from a database, also where its rows or what is derived from them are damaged.

In parts, behind a first step that hides it. Its row, without its words, stays to the end, and says under which
reference the purge goes on if it is cut off.

An index can only be told to delete what it was given: where a turn is not what was stored, or an index does not agree
with its table, the index is made anew in place of being changed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from loom.archive.chains import follow_chain, lenient
from loom.archive.database import open_database
from loom.archive.errors import LeaseLost, UnknownSession
from loom.archive.faults import is_damage
from loom.archive.references import half_purged_reference, is_half_purged
from loom.archive.removal import LONG, SHORT, Share, take_away, take_row, unfinished
from loom.archive.transactions import transaction

_TABLES = ("conversation_turns", "manifests", "drafts", "session_texts")
"""What holds a session's words, each with an index of its own that begins with the session."""


@dataclass(frozen=True, slots=True)
class Erased:
    """A session of which nothing is left in a database but its row, hidden and without words."""

    turns: int
    damaged: tuple[int, ...]
    """Numbers of the turns that were not what was stored, ascending: what they had been is not known."""
    indexed_anew: bool
    """The full-text index was thrown away; it is empty until it is filled again."""


def erase(
    connection: sqlite3.Connection,
    session_id: str,
    *,
    epoch: int | None = None,
    share: Share = SHORT,
    gone: Callable[[int], None] = lambda turns: None,
) -> Erased:
    """Hide the session, and delete all that it has, `share` by `share`; `gone` is called between with how many turns
    went. `leave_no_word` and `take_row` end it.

    Needs `secure_delete`. Raises UnknownSession, LeaseLost when an epoch is given and the session has another one, or
    sqlite3.Error: if the session `is_half` then, doing it again goes on. Where an index does not agree with its table
    the rest goes in one transaction, and others wait for as long as it takes to make all indexes anew.
    """
    taken = 0
    anew = False
    damaged: list[int] | None = None

    def count(turns: int) -> None:
        nonlocal taken
        taken += turns
        gone(turns)

    try:
        damaged = _damaged_turns(connection, session_id)
        anew = _without_old_words(connection, damaged)
        with transaction(connection):
            _hide(connection, session_id, epoch)
        take_away(connection, session_id, share, count)
        return Erased(taken, tuple(damaged), anew)
    except sqlite3.DatabaseError as error:
        # A trigger refuses a row that names another session than the index does.
        if not (is_damage(error) or isinstance(error, sqlite3.IntegrityError)):
            raise
    return _erase_whatever(connection, session_id, epoch, taken, damaged)


def leave_no_word(connection: sqlite3.Connection, merged: Callable[[], None] = lambda: None) -> bool:
    """Leave nothing in the full-text index of what was taken out of it; whether it had to be thrown away for that. In
    short transactions, between which `merged` is called. Raises sqlite3.Error."""
    from loom.archive.search.index import rebuild
    from loom.archive.search.merging import merge_all

    try:
        merge_all(connection, merged)
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        rebuild(connection)
        return True
    return False


def is_half(connection: sqlite3.Connection, session_id: str) -> bool:
    """Whether the session is hidden because its purge has begun."""
    row = connection.execute("SELECT reference FROM cowork_sessions WHERE id = ?", (session_id,)).fetchone()
    return row is not None and is_half_purged(row[0])


def erase_in_backup(backup: Path, session_id: str) -> Erased | None:
    """Take the session out of a backup; None if it is not in there. Raises sqlite3.Error or ArchiveError."""
    with closing(open_database(backup)) as connection:
        connection.execute("PRAGMA secure_delete = ON").fetchall()
        connection.execute("PRAGMA foreign_keys = ON").fetchall()
        if connection.execute("SELECT 1 FROM cowork_sessions WHERE id = ?", (session_id,)).fetchone() is None:
            return None
        # Nobody is making them here.
        for fork in unfinished(connection, session_id):
            take_away(connection, fork, LONG)
            take_row(connection, fork)
        erased = erase(connection, session_id, share=LONG)
        leave_no_word(connection)
        take_row(connection, session_id)
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


def _without_old_words(connection: sqlite3.Connection, damaged: list[int]) -> bool:
    """Throw the index away if words of turns cannot be taken out of it; whether it was."""
    from loom.archive.search.index import is_outdated, rebuild

    # An older loom's index holds its words otherwise, and that of a backup nobody would ever make anew.
    anew = bool(damaged) or is_outdated(connection)
    if anew:
        rebuild(connection)
    return anew


def _hide(connection: sqlite3.Connection, session_id: str, epoch: int | None) -> None:
    """Inside a transaction: from here on nobody sees the session, and none of its words is in its row. Nobody appends
    to it any more, either: no append takes a session for one without turns that it remembers."""
    row = connection.execute(
        "SELECT reference, lease_epoch FROM cowork_sessions WHERE id = ?", (session_id,)
    ).fetchone()
    if row is None:
        raise UnknownSession(f"There is no session {session_id} in the archive.")
    if epoch is not None and epoch != row[1]:
        raise LeaseLost
    if not is_half_purged(row[0]):
        connection.execute(
            "UPDATE cowork_sessions SET reference = ?, is_active = 0, title = '', focus = '', tags = '[]',"
            " turn_count = 0 WHERE id = ?",
            (half_purged_reference(row[0]), session_id),
        )
    for table in ("drafts", "session_texts"):
        connection.execute(f"DELETE FROM {table} WHERE session_id = ?", (session_id,))  # noqa: S608


def _erase_whatever(
    connection: sqlite3.Connection, session_id: str, epoch: int | None, taken: int, damaged: list[int] | None
) -> Erased:
    """What is left when so many turns were `taken`, in one transaction."""
    from loom.archive.search.index import rebuild

    rebuild(connection)
    with transaction(connection):
        astray = list(_turns_astray(connection, session_id))
        for table in (*_TABLES, "cowork_sessions"):
            connection.execute(f"REINDEX {table}")
        if damaged is None:
            damaged = _damaged_turns(connection, session_id)
        taken += _delete(connection, session_id)
        _hide(connection, session_id, epoch)
    return Erased(taken, tuple(sorted({*damaged, *astray})), True)


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
    """Inside a transaction: delete what the session has, and whatever `purging` names; gives how many turns that
    were."""
    connection.execute("INSERT INTO purging (session_id) VALUES (?)", (session_id,))
    counts = [
        connection.execute(f"DELETE FROM {table} WHERE session_id IN (SELECT session_id FROM purging)").rowcount  # noqa: S608
        for table in _TABLES
    ]
    connection.execute("DELETE FROM purging")
    return counts[0]
