"""Which of the turns with a query's words are read from the index.

In a million turns a common word stands in a hundred thousand. Which of them a query means is said by its rarer words,
so no more than `BUDGET` postings are read for one query: rare terms whole; of common ones the newest, those beside a
rare term, those where the common ones stand together, and those that pass the filters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from loom.archive.search.document import PART_MARK
from loom.archive.search.fts import quoted
from loom.archive.search.marks import NO_DAY
from loom.archive.search.matching import Matching
from loom.archive.search.scope import Scope
from loom.archive.search.tail import Column, Tail

BUDGET = 12_000
"""Postings that the words of a query may read in all; half a microsecond each, and as much to rank them."""
FIRST = 1_000
"""Postings that each term may read, whatever the others take, or its share of a third of the budget, if that is less;
a term of fewer is rare."""
LEAST_FIRST = 300
SUPPLEMENT = 2_000
"""Postings of a common term that are read for each of the reasons given above."""
MAX_SUPPLEMENTED = 4
"""Common terms, the rarest of them, for which that is done: the others say little."""
MAX_ANCHORS, MAX_ANCHOR_TERMS = 4_000, 8
"""Turns with rare terms in which common ones are looked for, and how many terms these are: each that is added makes
every step through the common one's turns longer."""
ENOUGH_RARE = 6
"""Rare words that make a query: a pasted text. Its common ones are not read on unless all turns with them are in
reach, and are looked for nowhere else."""
_NOWHERE = f"facets : {quoted(NO_DAY)}"
"""Matches no turn. FTS5 puts all terms that must stand together into one row and goes through each of them wherever
two are found; what is `NOT` nowhere is a row of its own, and found first (10 ms, now 0.5, with `py` and `src`)."""


@dataclass(slots=True)
class Found:
    """The postings read of one term."""

    places: set[int]
    turns: int
    """How many turns in scope have the term; estimated where not all were read."""
    whole: bool
    oldest: int = 0  # the last one read
    rest: Iterator[int] | None = None
    """The turns further back, while more may be read."""


class Words:
    """The postings of a query's words within a scope. `narrow` is the expression of those turns that pass the filters,
    `excluded` that of the stems that none must have; empty where there is none."""

    def __init__(self, index: Matching, scope: Scope, tail: Tail, *, narrow: str, excluded: str) -> None:
        self._index = index
        self._scope = scope
        self._tail = tail
        self._narrow = narrow
        self._excluded = excluded
        self.found: dict[tuple[Column, str], Found] = {}
        self.together: dict[frozenset[str], set[int]] = {}
        """The newest turns, `SUPPLEMENT` of them or all, that have each of some words and pass the filters."""

    def read(self, words: Sequence[str], pieces: Sequence[str], *, in_pairs: bool) -> None:
        """Reads the postings of a query's words and CJK pieces, as the head of this module says. With `in_pairs` those
        of each two of the three rarest common ones: a turn that answers a question need not have all of its words."""
        columns: list[tuple[Column, str]] = [("words", word) for word in words]
        columns += [("parts", part) for part in (*words, *pieces)]
        # With filters the newest turns say no more than how common a term is: most of them do not pass.
        first = LEAST_FIRST if self._narrow else min(FIRST, max(LEAST_FIRST, BUDGET // (3 * max(1, len(columns)))))
        for column, term in columns:
            self.found[column, term] = found = Found(
                set(), 0, False, rest=self._index.rows(match_of(column, term), first)
            )
            self._read_some(found, first)
        self._read_on()
        for found in self.found.values():
            found.rest = None
        self._supplement(in_pairs=in_pairs)
        for (column, term), found in self.found.items():
            in_tail = set(self._tail.places(column, term))
            found.places |= in_tail
            found.turns += len(in_tail)

    def _read_some(self, found: Found, most: int) -> None:
        """Reads on until so many postings of a term are known, or all."""
        more = most - len(found.places)
        if found.whole or more <= 0:
            return
        rows = list(islice(found.rest or (), more))
        found.whole = len(rows) < more
        found.places.update(rows)
        found.oldest = rows[-1] if rows else found.oldest
        found.turns = self._estimate(found)

    def _read_on(self) -> None:
        """Shares what is left of the budget among the terms that were not read whole. With filters it is left for
        the turns that pass them."""
        if self._narrow:
            return
        common = [found for found in self.found.values() if not found.whole]
        left = BUDGET - sum(len(found.places) for found in self.found.values())
        share = left // len(common) if common else 0
        is_enough = self._has_enough()
        for found in common:
            if share < 2 * len(found.places):
                return
            if is_enough and found.turns >= share:
                continue
            self._read_some(found, share)

    def _supplement(self, *, in_pairs: bool) -> None:
        """Reads of the common terms what is likely to matter, wherever it stands."""
        common = sorted(
            ((found.turns, column, term) for (column, term), found in self.found.items() if not found.whole)
        )
        if not common or (self._has_enough() and not (self._narrow or self._excluded)):
            return
        for _, column, term in common[:MAX_SUPPLEMENTED]:
            self.found[column, term].places |= self.beside(match_of(column, term), SUPPLEMENT)
        # Each term where it is the commoner: who says `budget window` means no turn with `window` in two ways.
        terms = sorted({term: (turns, column, term) for turns, column, term in common}.values())
        if len(terms) < 2:
            return
        rows = self._together(terms[:2])
        if len(terms) > 2:
            self._together(terms, rarest_first=len(rows) < SUPPLEMENT)
        if len(terms) > 2 and in_pairs:
            self._together((terms[0], terms[2]))
            self._together((terms[1], terms[2]))

    def _together(self, terms: Sequence[tuple[int, Column, str]], *, rarest_first: bool = False) -> set[int]:
        """Reads the turns in which common terms stand together. With `rarest_first` the first two do so in few."""
        matches = [match_of(column, term) for _, column, term in terms]
        if rarest_first:
            matches[:2] = [f"(({matches[0]} AND {matches[1]}) NOT {_NOWHERE})"]
        rows = self._index.newest(self.narrowed(" AND ".join(matches)), SUPPLEMENT)
        if all(column == "words" for _, column, _ in terms):
            self.together[frozenset(term for _, _, term in terms)] = rows
        for _, column, term in terms:
            self.found[column, term].places |= rows
        return rows

    def beside(self, match: str, limit: int, without: frozenset[str] = frozenset()) -> set[int]:
        """Of the turns that match, those that have a rare word of the query and those that pass the filters."""
        found = set()
        if anchors := self._anchors(without):
            anywhere = " OR ".join(match_of(column, term) for column, term in anchors)
            few = sum(self.found[anchor].turns for anchor in anchors) <= limit
            found |= self._index.newest(f"({match}) AND ({anywhere})", limit, few=few)
        if self._narrow or self._excluded:
            wanted = self.narrowed(match)
            found |= self._index.newest(f"{wanted} NOT words : ({self._excluded})" if self._excluded else wanted, limit)
        return found

    def narrowed(self, match: str) -> str:
        """The expression for those turns that pass the filters, as far as terms of the index say."""
        return f"({match}) AND {self._narrow}" if self._narrow else f"({match})"

    def _has_enough(self) -> bool:
        """Whether the rare words of the query say which turns it means."""
        turns = self._turns_by_term().values()
        return sum(0 < count <= MAX_ANCHORS for count in turns) >= ENOUGH_RARE

    def _turns_by_term(self) -> Counter[str]:
        """How many turns have a term, in whatever column; more than `MAX_ANCHORS` where not all of them are known."""
        turns: Counter[str] = Counter()
        for (_, term), found in self.found.items():
            turns[term] += found.turns if found.whole else MAX_ANCHORS + 1
        return turns

    def _anchors(self, without: frozenset[str]) -> list[tuple[Column, str]]:
        """The rare terms of the query with their columns, as many as have `MAX_ANCHORS` turns together, the rarest
        first."""
        anchors: list[tuple[Column, str]] = []
        left = MAX_ANCHORS
        rare = [(count, term) for term, count in self._turns_by_term().items() if count and term not in without]
        for count, term in sorted(rare)[:MAX_ANCHOR_TERMS]:
            left -= count
            if left < 0:
                break
            anchors += [
                (column, known) for (column, known), found in self.found.items() if known == term and found.turns
            ]
        return anchors

    def _estimate(self, found: Found) -> int:
        """How many turns in scope have a term whose newest are known, as if it were as common further back."""
        known = len(found.places)
        if found.whole or not known:
            return known
        seen = self._scope.turns_from(found.oldest)
        return max(known, round(known * self._scope.turns / max(1, seen)))


def match_of(column: Column, term: str) -> str:
    """The FTS5 expression for the turns that have a term in a column."""
    return f"{column} : {quoted(PART_MARK + term if column == 'parts' else term)}"
