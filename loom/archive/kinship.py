"""Whether a log and the database beside it go together: seen by reading the archive without and with the log.

Nothing in a log says whose it is. But what was stored is chained: a database that is whole without the log, and is
not whole with it, was not what the log was written on. A log that belongs makes its database whole, however much of it
had been moved already when its process was killed. One that holds every page of another archive is whole as well; then
nothing of what the database has goes on in it.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from loom.archive.chains import follow_chains, lenient
from loom.archive.logindex import LogIndex

_NOT_WHOLE = frozenset({sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
"""What SQLite says of pages that do not go together: a table that is not there is an error of no kind of its own."""

_Ends = dict[str, tuple[int, str]]
"""The number and the digest of each session's last turn."""


def is_foreign(path: Path) -> bool:
    """Whether the log beside the database at `path` is another one's, for certain. To be called by whoever has the
    lock; every page and every turn is read, twice.

    False where the database is not whole without the log either: then nothing can be told.
    """
    index = LogIndex.joined(path)
    try:
        with closing(_opened(path, "immutable=1")) as alone:
            ends = _ends(alone)
        if ends is None:
            return False
        with closing(_opened(path, "mode=ro")) as together:
            return _ends(together) is None or _is_another(together, ends)
    except sqlite3.Error:
        # It cannot be read just now, which says nothing.
        return False
    finally:
        index.leave()


def _opened(path: Path, how: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&{how}", uri=True, isolation_level=None)
    connection.text_factory = lenient
    return connection


def _ends(connection: sqlite3.Connection) -> _Ends | None:
    """None if the archive is not whole. Raises sqlite3.Error if it cannot be read."""
    try:
        if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
            return None
        counts = dict(connection.execute("SELECT id, turn_count FROM cowork_sessions"))
        chains = follow_chains(connection, lambda *_: None)
    except sqlite3.DatabaseError as error:
        if (getattr(error, "sqlite_errorcode", None) or sqlite3.SQLITE_ERROR) & 0xFF in _NOT_WHOLE:
            return None
        raise
    if any(chain.altered or chain.out_of_place for chain in chains.values()):
        return None
    ends = {session: (chain.last_turn, chain.digest) for session, chain in chains.items()}
    return (
        ends if {id: number for id, (number, _) in ends.items()} == {id: n for id, n in counts.items() if n} else None
    )


def _is_another(connection: sqlite3.Connection, ends: _Ends) -> bool:
    """Whether none of these sessions is there any more, or one of them has become another: a purge takes some, and
    nothing takes back what a turn said."""
    stored = [
        connection.execute(
            "SELECT digest FROM conversation_turns WHERE session_id = ? AND turn_number = ?", (session, number)
        ).fetchone()
        for session, (number, _) in ends.items()
    ]
    found = [(row[0], digest) for row, (_, digest) in zip(stored, ends.values(), strict=True) if row is not None]
    return bool(ends) and (not found or any(there != here for there, here in found))
