"""Which turns a search looks at: the sessions, and the stretches of places they lie in.

Of everything there may be ten thousands of sessions: what is not asked for is not read.
"""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from math import ceil
from typing import NamedTuple

from loom.archive.search.copies import Copies
from loom.archive.search.document import key_of, place_of, turn_of
from loom.archive.search.index import watermark
from loom.archive.search.leaping import Stretch
from loom.archive.search.words import fold
from loom.archive.workspaces import Workspace

_FIRST_TAIL_KEY = 1 << 30
"""Sessions that the index does not know yet get keys from here on, for the length of one search."""

_NAMED = "id IN (SELECT value FROM json_each(:named))"
_ALL_NAMES = "SELECT id, reference, title FROM cowork_sessions WHERE is_active = 1"
_SESSION = "SELECT id, reference, title FROM cowork_sessions WHERE id = :id AND "
_SIZES = (
    "SELECT key, turns, characters FROM search_sessions JOIN cowork_sessions ON id = session_id WHERE {} ORDER BY key"
)
_AT_PATH = "workspace_path = :workspace"
_HERE = f"({_AT_PATH} OR workspace_commit = :commit)"
"""As the list of sessions has it: another checkout of the same history is the same workspace."""
_LINE = "SELECT id, reference, title FROM search_sessions JOIN cowork_sessions ON id = session_id WHERE key = ?"
_NEWEST = "SELECT id, reference, title FROM cowork_sessions WHERE {} ORDER BY last_active_at DESC LIMIT :limit"
_END = (
    "SELECT {}(created_at) FROM conversation_turns"
    " WHERE (session_id, turn_number) IN (SELECT id, {} FROM cowork_sessions WHERE {})"
)
_EVERY_SIZE = "SELECT key, turns, characters FROM search_sessions ORDER BY key"
_SIZE = "SELECT key, turns, characters FROM search_sessions WHERE key = ?"
_TOTAL = "SELECT coalesce(max(key), 0), coalesce(sum(turns), 0), coalesce(sum(characters), 0) FROM search_sessions"


@dataclass(frozen=True, slots=True)
class SessionLine:
    """What a hit shows of its session."""

    id: str
    reference: str
    title: str


class Widest(NamedTuple):
    """The stretch of a scope with the most turns."""

    stretch: Sequence[Stretch]
    """It alone; none where nothing is indexed."""
    others: Sequence[Stretch]
    newer: int
    """About how many turns of the scope are newer than all of its."""


class Scope:
    """The active sessions that are meant: one by id, those of a workspace, those whose reference is `named`, whose
    id begins with it or whose title has it; all where nothing is given. Of a session that was deleted while it is open
    its own turns are meant where it asks for these alone.

    For one search: to be used inside of its transaction.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        session_id: str | None,
        workspace: Workspace | None,
        named: str | None,
        at_hand: str | None = None,
        use_index: bool = True,
    ) -> None:
        """`at_hand` is the session that asks: of the turns that it has in common with others its own are meant."""
        self._connection = connection
        place = workspace or Workspace("", None)
        self._bound: dict[str, str | None] = {
            "session": session_id,
            "workspace": None if workspace is None else place.path,
            "named": None if named is None else json.dumps(_ids_of(named, connection)),
        }
        given = {"session": "id = :session", "workspace": _HERE if place.commit else _AT_PATH, "named": _NAMED}
        conditions = [sql for name, sql in given.items() if self._bound[name] is not None]
        self._bound["commit"] = place.commit
        own = session_id is not None and session_id == at_hand
        self._condition = " AND ".join([*([] if own else ["is_active = 1"]), *conditions])
        self.session_id = session_id
        """The only session in scope, where it was given."""
        end = watermark(connection) if use_index else None
        self.indexed = end is not None
        self.watermark = end or 0
        """Turns with a higher id are not in the index: all of them if there is none."""
        self.turns = self.characters = 0
        """Of the index, in scope, each turn that forks have in common once."""
        self.stretches: tuple[Stretch, ...] = ()
        """What the turns in scope, and nothing else, lie in, the newest first."""
        self._keys: dict[str, int | None] = {}
        self._lines: dict[int, SessionLine] = {}
        self._after: tuple[list[int], list[int]] = ([], [])  # keys, and turns from each on; read when needed
        self._copies: Copies | None = None
        self._copied: dict[int, tuple[int, float]] = {}  # first turns that another session gives, and their share
        if session_id is None:
            self._find_copies(at_hand)
        self._everything = not conditions
        self._inactive: frozenset[int] = frozenset()  # the keys that everything does without
        if self.indexed:
            self._measure()

    def key_of(self, session_id: str) -> int | None:
        """The key of a session, one for this search if the index does not know it; None if it is not in scope."""
        if session_id not in self._keys:
            row = self._connection.execute(_SESSION + self._condition, {**self._bound, "id": session_id}).fetchone()
            known = (
                self._connection.execute(
                    "SELECT key FROM search_sessions WHERE session_id = ?", (session_id,)
                ).fetchone()
                if self.indexed
                else None
            )
            key = int(known[0]) if known else _FIRST_TAIL_KEY + len(self._keys)
            self._keys[session_id] = None if row is None else key
            if row is not None:
                self._lines[key] = SessionLine(*row)
        return self._keys[session_id]

    def place_in(self, session_id: str, turn_number: int) -> int | None:
        """The place of a session's turn; None if the session is not in scope, or another one in it gives the turn."""
        key = self.key_of(session_id)
        place = None if key is None else place_of(key, turn_number)
        return None if place is None or self.is_copy(place) else place

    def session_of(self, place: int) -> SessionLine:
        """The session that a place lies in."""
        key = key_of(place)
        if key not in self._lines:
            row = self._connection.execute(_LINE, (key,)).fetchone()
            self._lines[key] = SessionLine(*row)
        return self._lines[key]

    def newest_sessions(self, limit: int) -> list[SessionLine]:
        """The sessions in scope that were active last."""
        rows = self._connection.execute(_NEWEST.format(self._condition), {**self._bound, "limit": limit})
        return [SessionLine(*row) for row in rows]

    def oldest_and_newest(self) -> tuple[str, str] | None:
        """When the first turns of the sessions in scope begin and the last ones end; None without a turn."""
        oldest, newest = (
            self._connection.execute(_END.format(extreme, number, self._condition), self._bound).fetchone()[0]
            for extreme, number in (("min", "1"), ("max", "turn_count"))
        )
        return None if oldest is None else (oldest, newest)

    def also_in(self, place: int) -> tuple[str, ...]:
        """The references of the other sessions in scope that have the turn at a place."""
        if not self._copied or self._copies is None:
            return ()
        keys = map(self.key_of, self._copies.others(self.session_of(place).id, turn_of(place)))
        return tuple(self._lines[key].reference for key in keys if key is not None)

    def is_copy(self, place: int) -> bool:
        """Whether another session in scope gives the turn at a place."""
        known = self._copied.get(key_of(place))
        return known is not None and turn_of(place) <= known[0]

    def without_copies(self, places: Iterable[int]) -> list[int]:
        """The places whose turns no other session in scope gives."""
        return [place for place in places if not self.is_copy(place)] if self._copied else list(places)

    def turns_from(self, place: int) -> int:
        """About how many indexed turns stand at this place of the scope or after it."""
        if not self._after[0]:
            sizes = self._sizes_of_all() if self._everything else self._sizes(self._condition)
            self._after = [size[0] for size in sizes], _sums([size[1] for size in sizes])
        keys, behind = self._after
        key = key_of(place)
        at = bisect_left(keys, key)
        if at == len(keys):
            return 1
        # A session that was purged has no key: what stands behind it begins with the next one.
        copied, _ = self._copied.get(key, (0, 0.0))
        return max(1, behind[at] - (turn_of(place) - copied - 1 if keys[at] == key else 0))

    @cached_property
    def widest(self) -> Widest:
        """The stretch with the most turns."""
        if len(self.stretches) < 2:
            return Widest(self.stretches, (), 0)
        widest = max(self.stretches, key=self.turns_in)
        at = self.stretches.index(widest)
        newer = sum(map(self.turns_in, self.stretches[:at]))
        return Widest((widest,), (*self.stretches[:at], *self.stretches[at + 1 :]), newer)

    def turns_in(self, stretch: Stretch) -> int:
        """About how many indexed turns a stretch has."""
        return self._turns_by_stretch[stretch]

    @cached_property
    def _turns_by_stretch(self) -> dict[Stretch, int]:
        behind = [0, *(self.turns_from(first) for first, _ in self.stretches)]
        return {stretch: end - begin for stretch, (begin, end) in zip(self.stretches, pairwise(behind), strict=True)}

    @property
    def gap(self) -> float:
        """About how many turns there are between two stretches."""
        return (self.watermark - self.turns) / max(1, len(self.stretches))

    def _find_copies(self, at_hand: str | None) -> None:
        copies = Copies(
            self._connection,
            self._condition,
            self._bound,
            is_in_scope=lambda session_id: self.key_of(session_id) is not None,
            at_hand=at_hand,
        )
        self._copies = copies
        keys = ((self.key_of(session_id), session_id) for session_id in copies.hidden)
        self._copied = {
            key: (copies.hidden[session_id], copies.share(session_id)) for key, session_id in keys if key is not None
        }

    def _measure(self) -> None:
        sizes = self._sizes("is_active = 0" if self._everything else self._condition)
        keys = [size[0] for size in sizes]
        self.turns, self.characters = sum(size[1] for size in sizes), sum(size[2] for size in sizes)
        if self._everything:
            self._inactive = frozenset(keys)
            last, turns, characters = self._connection.execute(_TOTAL).fetchone()
            self.turns, self.characters = turns - self.turns, characters - self.characters
            self._leave_out_copies()
            runs = _between(keys, last)
        else:
            runs = _unbroken(keys)
        self.stretches = tuple(self._without_copies(runs))

    def _leave_out_copies(self) -> None:
        """Of turns and characters, what has been counted of all sessions."""
        for key in self._copied:
            size = self._connection.execute(_SIZE, (key,)).fetchone() or (key, 0, 0)
            _, turns, characters = self._left_of(size)
            self.turns -= size[1] - turns
            self.characters -= size[2] - characters

    def _without_copies(self, runs: Sequence[tuple[int, int]]) -> Iterator[Stretch]:
        """The places of runs of ascending keys, the newest first, without the turns that another session gives."""
        copied = sorted(self._copied)
        for first, last in reversed(runs):
            end = place_of(last + 1, 0) - 1
            for key in reversed(copied[bisect_left(copied, first) : bisect_right(copied, last)]):
                yield place_of(key, self._copied[key][0] + 1), end
                end = place_of(key, 0) - 1
            if end >= place_of(first, 0):
                yield place_of(first, 0), end

    def _sizes(self, condition: str) -> list[tuple[int, int, int]]:
        sizes = self._connection.execute(_SIZES.format(condition), self._bound).fetchall()
        return [self._left_of(size) for size in sizes] if self._copied else sizes

    def _sizes_of_all(self) -> list[tuple[int, int, int]]:
        """As `_sizes`, of every active session, and without asking the sessions themselves: a third of the time."""
        sizes = [size for size in self._connection.execute(_EVERY_SIZE) if size[0] not in self._inactive]
        return [self._left_of(size) for size in sizes] if self._copied else sizes

    def _left_of(self, size: tuple[int, int, int]) -> tuple[int, int, int]:
        """Key, turns and characters of a session without what another gives; about, as not every turn is findable."""
        key, turns, characters = size
        _, share = self._copied.get(key, (0, 0.0))
        return key, ceil(turns * (1 - share)), ceil(characters * (1 - share))


def _sums(turns: list[int]) -> list[int]:
    """Each with all after it added."""
    return list(accumulate(reversed(turns)))[::-1]


def _unbroken(keys: Iterable[int]) -> list[tuple[int, int]]:
    """The first and last of unbroken runs of ascending keys."""
    runs: list[tuple[int, int]] = []
    for key in keys:
        begins = runs.pop()[0] if runs and runs[-1][1] == key - 1 else key
        runs.append((begins, key))
    return runs


def _between(hidden: Sequence[int], last: int) -> list[tuple[int, int]]:
    """The first and last of the runs of keys, from 1 to the last one, that ascending hidden ones leave."""
    borders = zip((0, *hidden), (*hidden, last + 1), strict=True)
    return [(before + 1, behind - 1) for before, behind in borders if before + 1 < behind]


def _ids_of(named: str, connection: sqlite3.Connection) -> list[str]:
    """The sessions that go by a name. Compared here: SQLite knows the capitals of English alone."""
    wanted = fold(named)
    return [
        session_id
        for session_id, reference, title in connection.execute(_ALL_NAMES)
        if reference == wanted or session_id.startswith(wanted) or wanted in fold(title)
    ]
