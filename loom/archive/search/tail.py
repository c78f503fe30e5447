"""The turns that the index does not have yet: taken apart as the index would, and kept until it has them."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Literal

from loom.archive.search.document import COLUMNS, FINDABLE, Entry, TurnRow, entry_of, place_of, reading_turns
from loom.archive.search.index import newest_turn
from loom.archive.search.scope import Scope

Column = Literal["words", "parts", "names", "facets"]

MAX_TAIL = 5_000
"""Turns that a search takes apart itself, the newest in scope: about as many as can be kept, some seconds' work the
first time. More only wait when very many were stored at once, after a fork of a very long session, or when the index is
made anew; those further back are then not searched, and counted."""
MAX_KEPT = 48 * 1024 * 1024
"""Bytes, about, that a `TailCache` holds."""
_TERM_BYTES = 90
"""What a term in a set takes, on average, with its share of the set's table."""

_FEW = 20_000
"""So many turns behind the watermark are passed in a few milliseconds, a session's or not; of more, a session's own are
found by its index. That one goes through all of the session's turns, waiting or not: SQLite takes it unless it is told
not to, and then each search of a session of 50,000 turns took 4 to 8 ms longer."""

_WAITING = f"SELECT id, session_id, turn_number FROM conversation_turns WHERE id > ? AND {FINDABLE}"  # noqa: S608
_ROW = f"SELECT {COLUMNS} FROM conversation_turns WHERE id = ?"  # noqa: S608


class FarBehind(Exception):
    """More turns in scope wait for the index than a search takes apart."""

    def __init__(self, behind: int) -> None:
        super().__init__(f"the index is {behind} turns behind")
        self.behind = behind
        """Turns that the index does not have, in scope or not."""


class TailCache:
    """What turns behind the watermark are found by, so that no search does again what the last one did.

    Turns never change, so what is kept is right as long as the turn is there; whether it is, each search asks its own
    snapshot. For any number of threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[int, Entry | None] = {}
        self._bytes = 0

    def entry(self, row_id: int, read: Callable[[int], Entry | None]) -> Entry | None:
        """The entry of a turn, by `read` if it is not kept; None if it has no text. Its place lacks the session."""
        with self._lock:
            if row_id in self._kept:
                return self._kept[row_id]
        entry = read(row_id)
        with self._lock:
            size = _size(entry)
            if row_id not in self._kept and self._bytes + size <= MAX_KEPT:
                self._kept[row_id] = entry
                self._bytes += size
        return entry

    def drop_until(self, watermark: int) -> None:
        """The index has the turns up to this id."""
        with self._lock:
            for row_id in [row_id for row_id in self._kept if row_id <= watermark]:
                self._bytes -= _size(self._kept.pop(row_id))


@dataclass(frozen=True, slots=True)
class Tail:
    """The turns in scope that the index does not have."""

    entries: Mapping[int, Entry] = field(default_factory=dict)
    """By place."""
    left_out: int = 0
    """How many more there are, further back."""

    def places(self, column: Column, term: str) -> Iterator[int]:
        return (place for place, entry in self.entries.items() if term in _terms(entry, column))

    def with_prefix(self, column: Column, prefix: str) -> Iterator[int]:
        for place, entry in self.entries.items():
            if any(term.startswith(prefix) for term in _terms(entry, column)):
                yield place

    def with_all(self, words: Iterable[str], parts: Iterable[str]) -> Iterator[int]:
        """The places that have every word, alone or within an identifier, and every part."""
        words, parts = frozenset(words), frozenset(parts)
        for place, entry in self.entries.items():
            terms = entry.terms
            if parts <= terms.parts and all(word in terms.words or word in terms.parts for word in words):
                yield place

    def words(self) -> set[str]:
        return {word for entry in self.entries.values() for word in entry.terms.words}

    def facets(self) -> set[str]:
        return {facet for entry in self.entries.values() for facet in entry.facets}

    def names(self) -> set[str]:
        return {name for entry in self.entries.values() for name in entry.terms.names}


def read_tail(
    connection: sqlite3.Connection,
    scope: Scope,
    cache: TailCache,
    check: Callable[[], None] = lambda: None,
    *,
    whole: bool = False,
) -> Tail:
    """The turns in scope that the index does not have, the newest `MAX_TAIL` of them. `check` is called between.

    Raises FarBehind if there are more and the tail is wanted `whole`.
    """
    sql, values = _WAITING, (scope.watermark,)  # type: tuple[str, tuple[int | str, ...]]
    behind = newest_turn(connection) - scope.watermark
    if scope.session_id is not None:
        unindexed = "+" if behind <= _FEW else ""
        sql, values = f"{sql} AND {unindexed}session_id = ?", (scope.watermark, scope.session_id)
    with reading_turns():
        rows = connection.execute(f"{sql} ORDER BY id", values).fetchall()
    keys = {session_id: scope.key_of(session_id) for session_id in {row[1] for row in rows}}
    waiting = [
        (row_id, key)
        for row_id, session_id, turn_number in rows
        if (key := keys[session_id]) is not None and not scope.is_copy(place_of(key, turn_number))
    ]
    cache.drop_until(scope.watermark)
    if whole and len(waiting) > MAX_TAIL:
        raise FarBehind(behind)

    def read(row_id: int) -> Entry | None:
        check()
        with reading_turns():
            values = connection.execute(_ROW, (row_id,)).fetchone()
        return entry_of(TurnRow(*values), 0)

    entries: dict[int, Entry] = {}
    for row_id, key in waiting[-MAX_TAIL:]:
        entry = cache.entry(row_id, read)
        if entry is not None:
            place = place_of(key, entry.place)
            entries[place] = replace(entry, place=place)
    return Tail(entries, max(0, len(waiting) - MAX_TAIL))


def _terms(entry: Entry, column: Column) -> Set[str]:
    if column == "facets":
        return entry.facets
    return getattr(entry.terms, column)  # type: ignore[no-any-return]


def _size(entry: Entry | None) -> int:
    if entry is None:
        return _TERM_BYTES
    terms = entry.terms
    return (5 + len(terms.words) + len(terms.parts) + len(terms.names) + len(entry.facets)) * _TERM_BYTES
