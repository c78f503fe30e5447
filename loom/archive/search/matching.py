"""The turns of a scope that match an expression of FTS5, the newest first, read from the index as they are taken."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from loom.archive.search.leaping import Stretch, within
from loom.archive.search.scope import Scope

WIDE = 8_000
"""Turns between two stretches from which on it is quicker to look for terms that stand together in each stretch by
itself: FTS5 goes through those between in 50 µs, where common words stand in a tenth of them."""
PREFIX_TERMS = 100
"""What asking for a beginning costs, against one term."""

_NEWEST = (
    "SELECT json_group_array(rowid) FROM (SELECT rowid FROM search_terms"
    " WHERE search_terms MATCH ? AND rowid >= ? AND rowid <= ? ORDER BY rowid DESC LIMIT ?)"
)
"""As one text: handed over one by one, rows cost three times as much."""
_WITHIN = """
    SELECT json_group_array(term.rowid) FROM json_each(?) AS stretch CROSS JOIN search_terms AS term
    WHERE term.search_terms MATCH ?
        AND term.rowid >= json_extract(stretch.value, '$[0]') AND term.rowid <= json_extract(stretch.value, '$[1]')
"""
"""The oldest first: to begin with the newest, FTS5 takes two pages of turns apart, for each stretch."""


class Matching:
    """Looks expressions up in the index; none matches where there is no index."""

    def __init__(self, connection: sqlite3.Connection, scope: Scope) -> None:
        self._connection = connection
        self._scope = scope

    def newest(self, match: str, limit: int, *, few: bool = False) -> set[int]:
        """The newest turns in scope that match, so many or all. With `few` they are known to be no more."""
        if few and len(self._scope.stretches) == 1 and self._scope.turns:
            # To begin with the oldest takes half of the time.
            return set(_Lookup(self._connection, match).all_within(self._scope.stretches))
        return set(islice(self.rows(match, limit), limit))

    def rows(self, match: str, wanted: int, stretches: Sequence[Stretch] | None = None) -> Iterator[int]:
        """The turns in scope, or in some stretches of it, that match: the newest first, read as they are taken."""
        if not self._scope.indexed or not self._scope.turns:
            return iter(())
        where = self._scope.stretches if stretches is None else stretches
        # What must stand together may do so rarely, and then it takes long to see that it does not in a gap.
        leaps = " AND " in match and self._scope.gap > WIDE
        lookup = _Lookup(self._connection, match)
        pieces = within(where, lookup, self._scope.turns_in, wanted=wanted, terms=_terms_in(match), leaps=leaps)
        return chain.from_iterable(pieces)


@dataclass(frozen=True, slots=True)
class _Lookup:
    """Looks one expression up: a `leaping.Lookup`."""

    connection: sqlite3.Connection
    match: str

    def newest(self, first: int, last: int, limit: int) -> list[int]:
        (places,) = self.connection.execute(_NEWEST, (self.match, first, last, limit)).fetchone()
        return json.loads(places)  # type: ignore[no-any-return]

    def all_within(self, stretches: Sequence[Stretch]) -> list[int]:
        (places,) = self.connection.execute(_WITHIN, (json.dumps(stretches[::-1]), self.match)).fetchone()
        return json.loads(places)[::-1]  # type: ignore[no-any-return]


def _terms_in(match: str) -> int:
    """How many terms an FTS5 expression has, or about as many as it costs: those with a beginning are brought together
    each time that it is asked for."""
    return PREFIX_TERMS if match.endswith("*") else max(1, match.count('"') // 2)
