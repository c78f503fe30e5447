"""Looks at what no digest is over: drafts, states, tags and what was noted of requests. Nothing tells whether it is
what was stored, but whether it can be read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from loom.archive.findings import Finding

_SESSIONS = {
    "what was being written when loom ended": "JOIN drafts ON session_id = id WHERE NOT json_valid(turns)",
    "its state": "JOIN session_texts ON session_id = id WHERE NOT json_valid(session_state)",
    "its tags": "WHERE NOT json_valid(tags)",
}
_REQUESTS = """
SELECT reference, min(request), count(*) FROM manifests AS m JOIN cowork_sessions AS s ON s.id = m.session_id
WHERE NOT (json_valid(m.segments) AND json_valid(m.turns) AND json_valid(m.texts) AND json_valid(m.recipe))
GROUP BY s.id ORDER BY s.rowid
"""
_REMEDY = "The session opens all the same; a backup from before the damage has it whole."


def unreadable(connection: sqlite3.Connection) -> Iterator[Finding]:
    """What of it cannot be read. Raises sqlite3.Error."""
    for what, which in _SESSIONS.items():
        for (reference,) in connection.execute(f"SELECT reference FROM cowork_sessions {which}"):  # noqa: S608
            yield Finding("notes", f"Session {reference}: {what} is damaged.", _REMEDY)
    if connection.execute("SELECT 1 FROM pragma_table_info('manifests') WHERE name = 'recipe'").fetchone() is None:
        return  # not migrated yet
    for reference, first, count in connection.execute(_REQUESTS):
        others = f", and of {count - 1} more" if count > 1 else ""
        yield Finding("notes", f"Session {reference}: what was noted of request {first} is damaged{others}.", _REMEDY)
