"""Which turns a search looks at: the sessions, and the range of places they lie in."""

from __future__ import annotations

import sqlite3
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from loom.archive.search.document import TURN_BITS, key_of, place_of, turn_of
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
    ranges: tuple[tuple[int, int], ...]
    """First and last place of the stretches that the sessions lie in, the newest first."""
    is_pure: bool
    """Whether nothing else lies between the first and the last place."""
    turns_by_key: Mapping[int, int]
    """Indexed turns of each session in scope."""

    @property
    def first(self) -> int:
        return self.ranges[-1][0] if self.ranges else 0

    @property
    def last(self) -> int:
        return self.ranges[0][1] if self.ranges else -1

    @property
    def is_one_session(self) -> bool:
        return len(self.sessions) == 1

    def holds(self, place: int) -> bool:
        return place >> TURN_BITS in self.sessions

    def turns_from(self, place: int) -> int:
        """About how many indexed turns of the scope stand at this place or after it."""
        key, turn = key_of(place), turn_of(place)
        after = sum(turns for other, turns in self.turns_by_key.items() if other > key)
        return after + max(1, self.turns_by_key.get(key, 0) - turn + 1)

    def session_of(self, place: int) -> SessionLine:
        return self.sessions[key_of(place)]


MAX_RANGES = 40
"""Stretches of places that a common word is looked up in one by one; more are joined where the gaps are smallest."""

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
        only = rows[0][0] if len(rows) == 1 else None
        known = {row[0]: row[1:] for row in connection.execute(_KNOWN, {"session": only})}
    sessions: dict[int, SessionLine] = {}
    turns_by_key: dict[int, int] = {}
    characters_in_scope = 0
    for i, (found, reference, title) in enumerate(rows):
        key, turns, characters = known.get(found, (_FIRST_TAIL_KEY + i, 0, 0))
        sessions[key] = SessionLine(found, reference, title)
        turns_by_key[key] = turns
        characters_in_scope += characters
    stretches = _stretches(known.values(), sessions)
    return Scope(
        sessions=sessions,
        watermark=end or 0,
        indexed=end is not None,
        turns=sum(turns_by_key.values()),
        characters=characters_in_scope,
        ranges=tuple((place_of(first, 0), place_of(last + 1, 0) - 1) for first, last in _joined(stretches)),
        is_pure=len(stretches) <= 1,
        turns_by_key=turns_by_key,
    )


def _stretches(known: Iterable[tuple[int, int, int]], sessions: Container[int]) -> list[tuple[int, int]]:
    """The first and last keys of unbroken runs of sessions in scope, the newest first."""
    stretches: list[tuple[int, int]] = []
    going_on = False
    for key in sorted((key for key, _, _ in known), reverse=True):
        if key not in sessions:
            going_on = False
            continue
        stretches.append((key, stretches.pop()[1] if going_on else key))
        going_on = True
    return stretches


def _joined(stretches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """At most `MAX_RANGES` stretches, those with the fewest sessions of others between them joined."""
    if len(stretches) <= MAX_RANGES:
        return stretches
    gaps = sorted(range(1, len(stretches)), key=lambda i: stretches[i - 1][0] - stretches[i][1])
    closed = frozenset(gaps[: len(stretches) - MAX_RANGES])
    joined = stretches[:1]
    for i, (first, last) in enumerate(stretches[1:], 1):
        joined.append((first, joined.pop()[1] if i in closed else last))
    return joined
