"""Which turns a search looks at: the sessions, and the range of places they lie in."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from loom.archive.search.document import TURN_BITS, key_of, place_of
from loom.archive.search.index import watermark

_FIRST_TAIL_KEY = 1 << 30
"""Sessions that the index does not know yet get keys from here on, for the length of one search."""


@dataclass(frozen=True, slots=True)
class SessionLine:
    """What a hit shows of its session."""

    id: str
    reference: str
    title: str


@dataclass(frozen=True, slots=True)
class Scope:
    """The sessions in scope by key, and what the index knows of them all together."""

    sessions: Mapping[int, SessionLine]
    watermark: int
    """Turns with a higher id are not in the index: all of them if there is none."""
    indexed: bool
    turns: int
    characters: int

    @property
    def first(self) -> int:
        return place_of(min(self.sessions), 0) if self.sessions else 0

    @property
    def last(self) -> int:
        return place_of(max(self.sessions) + 1, 0) - 1 if self.sessions else -1

    @property
    def is_one_session(self) -> bool:
        return len(self.sessions) == 1

    def holds(self, place: int) -> bool:
        return place >> TURN_BITS in self.sessions

    def session_of(self, place: int) -> SessionLine:
        return self.sessions[key_of(place)]


_KNOWN = (
    "SELECT session_id, key, turns, characters FROM search_sessions WHERE :session IS NULL OR session_id = :session"
)
_SESSIONS = "SELECT id, reference, title FROM cowork_sessions WHERE is_active = 1"


def scope_of(
    connection: sqlite3.Connection,
    *,
    session_id: str | None,
    workspace: str | None,
    named: str | None,
    use_index: bool = True,
) -> Scope:
    """The active sessions that are meant: one by id, those of a workspace, those whose reference is `named`, whose
    id begins with it or whose title has it; all where nothing is given."""
    sql = _SESSIONS
    bound: dict[str, str] = {}
    for name, (condition, value) in {
        "session": ("id = :session", session_id),
        "workspace": ("workspace_path = :workspace", workspace),
        "named": (
            "(reference = :named OR substr(id, 1, length(:named)) = :named OR instr(lower(title), lower(:named)) > 0)",
            named,
        ),
    }.items():
        if value is not None:
            sql += f" AND {condition}"
            bound[name] = value
    rows = connection.execute(sql, bound).fetchall()
    end = watermark(connection) if use_index else None
    known: dict[str, tuple[int, int, int]] = {}
    if end is not None:
        known = {
            row[0]: row[1:] for row in connection.execute(_KNOWN, {"session": rows[0][0] if len(rows) == 1 else None})
        }
    sessions: dict[int, SessionLine] = {}
    turns_in_scope = characters_in_scope = 0
    for i, (found, reference, title) in enumerate(rows):
        key, turns, characters = known.get(found, (_FIRST_TAIL_KEY + i, 0, 0))
        sessions[key] = SessionLine(found, reference, title)
        turns_in_scope += turns
        characters_in_scope += characters
    return Scope(sessions, end or 0, end is not None, turns_in_scope, characters_in_scope)
