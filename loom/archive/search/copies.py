"""Turns that a fork copied: each is found once, in one session of those in scope.

A fork has the first turns of its parent, with their numbers and digests. Of such a turn the session that asks gives
its own; otherwise the original gives it, or the oldest fork in scope where that is not.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

_EVERY: Final = 2**62
"""More turns than any session has."""

# That the digests agree proves the copy: each is chained to all turns before it.
_FORKS = """
SELECT id, parent_id, fork_turn, turn_count FROM cowork_sessions
WHERE {} AND parent_id IS NOT NULL
AND (SELECT digest FROM conversation_turns WHERE session_id = cowork_sessions.id AND turn_number = fork_turn)
    = (SELECT digest FROM conversation_turns WHERE session_id = parent_id AND turn_number = fork_turn)
ORDER BY cowork_sessions.rowid
"""


@dataclass(frozen=True, slots=True)
class _Fork:
    parent: str
    copied: int
    turns: int


class Copies:
    """Which of the sessions in scope give the turns that several have; sessions are named by id."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        condition: str,
        bound: Mapping[str, str | None],
        *,
        is_in_scope: Callable[[str], bool],
        at_hand: str | None,
    ) -> None:
        """The sessions in scope are those that meet the SQL condition, which `bound` is bound to."""
        self._connection = connection
        self._is_in_scope = is_in_scope
        forks = self._read(condition, bound)
        self._forks: dict[str, _Fork | None] = {**forks}  # and ancestors outside of the scope; None: no fork
        self._break_circles(forks)
        self._settled: dict[str, int] = {}
        self._given: dict[str, int] = {}  # how many of the first turns of a session those settled so far give
        if at_hand is not None and at_hand in forks:
            self._settle(at_hand)
        for session_id in forks:
            ancestors = [one for one, _ in self._line(session_id) if self._is_in_scope(one)]
            for one in reversed(ancestors):
                self._settle(one)
        self.hidden = {session_id: count for session_id, count in self._settled.items() if count}
        """How many of its first turns another session gives, by session."""
        self._families: defaultdict[str, list[str]] = defaultdict(list)
        for session_id in self.hidden:
            self._families[self._origin(session_id, 1)].append(session_id)

    def share(self, session_id: str) -> float:
        """Which share of a session's turns another session gives, 0 to 1."""
        fork = self._forks.get(session_id)
        turns = fork.turns if fork is not None else self._turns(session_id)
        return min(1.0, self.hidden.get(session_id, 0) / max(1, turns))

    def others(self, session_id: str, turn_number: int) -> list[str]:
        """The sessions in scope that have this turn, too, and do not give it."""
        family = self._families.get(self._origin(session_id, 1), [])
        origin = self._origin(session_id, turn_number)
        return [
            other
            for other in family
            if other != session_id and turn_number <= self.hidden[other] and self._origin(other, turn_number) == origin
        ]

    def _break_circles(self, sessions: Iterable[str]) -> None:
        """Let a session that descends from itself, as only a damaged archive has it, be no fork."""
        ending: set[str] = set()  # those whose line of ancestors is known to end
        for session_id in sessions:
            line: set[str] = set()
            one: str | None = session_id
            while one is not None and one not in ending:
                line.add(one)
                fork = self._fork(one)
                if fork is not None and fork.parent in line:
                    self._forks[one] = fork = None
                one = fork.parent if fork is not None else None
            ending |= line

    def _settle(self, session_id: str) -> None:
        """Let the session give what none gives yet."""
        if session_id in self._settled:
            return
        line = list(self._line(session_id))
        self._settled[session_id] = max(min(has, self._given.get(ancestor, 0)) for ancestor, has in line)
        for ancestor, has in line:
            self._given[ancestor] = max(has, self._given.get(ancestor, 0))

    def _line(self, session_id: str) -> Iterator[tuple[str, int]]:
        """The session, its parent and so on, each with how many of its first turns the session has; no further than
        to one that is settled."""
        has = _EVERY
        yield session_id, has
        while (fork := self._fork(session_id)) is not None:
            session_id, has = fork.parent, min(has, fork.copied)
            yield session_id, has
            if self._given.get(session_id) == _EVERY:
                return

    def _origin(self, session_id: str, turn_number: int) -> str:
        """The session that a turn was first stored in."""
        while (fork := self._fork(session_id)) is not None and turn_number <= fork.copied:
            session_id = fork.parent
        return session_id

    def _fork(self, session_id: str) -> _Fork | None:
        if session_id not in self._forks:
            outside = {} if self._is_in_scope(session_id) else self._read("id = :id", {"id": session_id})
            self._forks[session_id] = outside.get(session_id)
        return self._forks[session_id]

    def _read(self, condition: str, bound: Mapping[str, str | None]) -> dict[str, _Fork]:
        rows = self._connection.execute(_FORKS.format(condition), bound)
        return {session_id: _Fork(parent, copied, turns) for session_id, parent, copied, turns in rows}

    def _turns(self, session_id: str) -> int:
        (turns,) = self._connection.execute(
            "SELECT turn_count FROM cowork_sessions WHERE id = ?", (session_id,)
        ).fetchone()
        return int(turns)
