"""Where terms occur: looked up in the index, and in the turns that are not in it yet."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Generator, Iterable, Sequence, Set
from contextlib import closing
from itertools import chain, islice
from typing import NamedTuple

from loom.archive.search.budget import LEAST_FIRST, SUPPLEMENT, Words, match_of
from loom.archive.search.document import Entry, TurnRow, facets_in
from loom.archive.search.fts import any_of
from loom.archive.search.matching import Matching
from loom.archive.search.names import MAX_NAMES_WITH, Names
from loom.archive.search.said import said_beside
from loom.archive.search.scope import Scope
from loom.archive.search.sketches import likest, row_of, rows_of
from loom.archive.search.tail import Column, Tail
from loom.archive.search.unworded import likely_turns

CLEARLY_FIRST, CLEARLY = 64, 3
"""So few are enough to see that a term is not rare where it seems to be this many times as common."""
MAX_POSTINGS = 8_000
"""Turns of a term that is not one of the query's words, newest first."""
MOST_TOGETHER = 12
"""Terms that a turn must have together before its text is read."""
MAX_NAMED = 4_000
"""Turns that are looked at for names, newest first."""
MARKS_AT_ONCE = 128
"""Turns whose marks are read to see whether they pass the filters, while too few are known that do."""
MAX_WHOLE = 2_000
"""Turns with all of the rare terms that are given though fewer are asked for: they are known."""
MAX_INSIDE = 500
"""Turns with words inside identifiers beside which the other words are looked for by themselves."""
_MARKS = "SELECT place, at, characters, marks FROM search_marks WHERE place IN (SELECT value FROM json_each(?))"
_NEWEST = "SELECT place, at, characters, marks FROM search_marks WHERE place >= ? AND place <= ? ORDER BY place DESC"


class Mark(NamedTuple):
    """What ranking knows of a turn beside its terms."""

    at: int
    characters: int
    marks: int


class Postings:
    """Where terms occur within a scope, in the index and behind its watermark alike.

    `facets` are groups of which a turn that passes the filters has one each, `excluded` stems that it must not have:
    there common terms are looked up, too.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        scope: Scope,
        tail: Tail,
        *,
        facets: Sequence[Sequence[str]] = (),
        excluded: Sequence[str] = (),
    ) -> None:
        self._connection = connection
        self._scope = scope
        self._tail = tail
        self._index = Matching(connection, scope)
        self._names = Names(connection, tail, indexed=scope.indexed)
        self._facets = facets
        self._narrow = " AND ".join(f"facets : ({any_of(group)})" for group in facets)
        self._excluded = any_of(excluded)
        self._words = Words(self._index, scope, tail, narrow=self._narrow, excluded=self._excluded)
        self._found = self._words.found
        self._marks: dict[int, Mark] = {}
        """Those that were read."""
        entries = tail.entries.values()
        self.turns = scope.turns + len(entries)
        self.mean_characters = (scope.characters + sum(entry.characters for entry in entries)) / max(1, self.turns)

    def read(self, words: Sequence[str], pieces: Sequence[str], *, in_pairs: bool = False) -> None:
        """Reads the postings of a query's words and CJK pieces, so that `places` gives them at once: see `budget`."""
        self._words.read(words, pieces, in_pairs=in_pairs)

    def places(self, column: Column, term: str, limit: int = MAX_POSTINGS) -> set[int]:
        """The turns in scope that have a term: of a word that was `read` those, else the
        newest `limit` (and those that wait for the index)."""
        known = self._found.get((column, term))
        if known is not None:
            return known.places
        return self._index.newest(match_of(column, term), limit) | set(self._tail.places(column, term))

    def has_any(self, column: Column, terms: Sequence[str]) -> bool:
        """Whether a turn in scope has one of the terms in a column."""
        if any(next(self._tail.places(column, term), None) is not None for term in terms):
            return True
        return bool(terms) and bool(self._index.newest(f"{column} : ({any_of(terms)})", 1))

    def rare_places(self, columns: Sequence[Column], term: str, most: int) -> set[int] | None:
        """The turns in scope that have a term in any of the columns; None if they are, or by those of the widest
        stretch seem to be, more than `most`."""
        match = " OR ".join(match_of(column, term) for column in columns)
        widest = self._scope.widest
        wanted = min(LEAST_FIRST, most + 1)
        # There no gap is in the way: that a term is common is seen at once.
        rows = self._index.rows(match, wanted, widest.stretch)
        found: list[int] = []
        for first, share in ((CLEARLY_FIRST, CLEARLY), (LEAST_FIRST, 1)):
            found += islice(rows, max(0, min(first, most + 1) - len(found)))
            if len(found) == first and self._seems(found) > share * most:
                return None
        found += islice(chain(rows, self._index.rows(match, wanted, widest.others)), most + 1 - len(found))
        places = set(found).union(*(self._tail.places(column, term) for column in columns))
        return places if len(places) <= most else None

    def turns_with(self, term: str) -> int:
        """About how many turns in scope have a word, alone or within an identifier: more than `places` gives where
        the word is common."""
        known = (self._found.get((column, term)) for column in ("words", "parts"))
        return sum(found.turns for found in known if found is not None)

    def with_prefix(self, column: Column, prefix: str) -> set[int]:
        """The turns in scope that have a term beginning with `prefix`."""
        found = self._index.newest(f"{match_of(column, prefix)} *", MAX_NAMED)
        return found | set(self._tail.with_prefix(column, prefix))

    def with_any_name(self, names: Sequence[str]) -> set[int]:
        """The turns in scope that have one of the names: the newest `MAX_NAMED`, and as many of those that have a
        rare word of the query besides or pass the filters."""
        if not names:
            return set()
        match = f"names : ({any_of(names)})"
        found = self._index.newest(match, MAX_NAMED)
        if len(found) >= MAX_NAMED:
            found |= self._words.beside(match, MAX_NAMED)
        return found.union(*(self._tail.places("names", name) for name in names))

    def with_all(
        self,
        words: Sequence[str],
        parts: Sequence[str],
        limit: int,
        *,
        only_newest: bool = False,
        passing: bool = True,
    ) -> set[int]:
        """Turns in scope that have every word, alone or within an identifier, and every part, and maybe some that
        lack a few of them: the newest `limit` that may pass the filters (with `passing`), and, if not `only_newest`, as
        many of those that have a rare word of the query besides."""
        rare = self._where_whole(words, parts)
        if rare is not None and len(rare) <= max(limit, MAX_WHOLE):
            return rare
        # The others tell the turns apart as well as all would, and the index reads each that is asked for.
        words = [word for word in words if ("words", word) in self._found] or words
        wanted = [f"({_alone_or_inside(word)})" for word in words[:MOST_TOGETHER]]
        wanted += [match_of("parts", part) for part in parts[:MOST_TOGETHER]]
        if not wanted:
            return set()
        together = " AND ".join(wanted)
        match = self._words.narrowed(together) if passing else together
        found = None if parts or not passing else self._alone_or_with_one_inside(words, match, limit)
        if found is None:
            found = self._index.newest(match, limit)
        if len(found) >= limit and not only_newest:
            found |= self._words.beside(match, limit, without=frozenset((*words, *parts)))
        return found | set(self._tail.with_all(words, parts))

    def with_every(self, words: Sequence[str], parts: Sequence[str], limit: int, *, ends: Collection[str]) -> set[int]:
        """The newest `limit` turns in scope that may pass the filters and have every part, and every word: those at the
        `ends` alone or within an identifier, what stands between them alone."""
        wanted = [_alone_or_inside(word) if word in ends else match_of("words", word) for word in words[:MOST_TOGETHER]]
        wanted += [match_of("parts", part) for part in parts[:MOST_TOGETHER]]
        match = self._words.narrowed(" AND ".join(f"({term})" for term in wanted))
        return self._index.newest(match, limit) | set(self._tail.with_all(words, parts))

    def _alone_or_with_one_inside(self, words: Sequence[str], match: str, limit: int) -> set[int] | None:
        """The newest turns that match, which have every word: those that have each of them alone, as is known, and
        those that have one within an identifier. None if the former are not known, or the latter may be many."""
        alone = self._words.together.get(frozenset(words))
        inside = [self._found["parts", word] for word in words] if alone is not None else []
        many = not all(one.whole for one in inside) or sum(one.turns for one in inside) > MAX_INSIDE
        if alone is None or many or not len(words) <= MOST_TOGETHER or limit > SUPPLEMENT:
            return None
        anywhere = [match_of("parts", word) for word, one in zip(words, inside, strict=True) if one.turns]
        return alone | self._index.newest(f"({' OR '.join(anywhere)}) AND {match}", limit) if anywhere else set(alone)

    def _where_whole(self, words: Iterable[str], parts: Iterable[str]) -> set[int] | None:
        """The turns that have all of those terms whose turns are all known; None if there is none of these."""
        known: set[int] | None = None
        columns: list[tuple[tuple[Column, ...], str]] = [(("words", "parts"), word) for word in words]
        columns += [(("parts",), part) for part in parts]
        for either, term in columns:
            found = [self._found[column, term] for column in either if (column, term) in self._found]
            if len(found) == len(either) and all(one.whole for one in found):
                places = set[int]().union(*(one.places for one in found))
                known = places if known is None else known & places
        return known

    @property
    def waiting(self) -> Set[int]:
        """The turns in scope that wait for the index: no limit cuts them."""
        return self._tail.entries.keys()

    def narrowed(self, limit: int, *, allowed: bool = False) -> set[int]:
        """The newest turns in scope that may pass the filters; with `allowed`, older ones in the place of those that
        have an excluded word."""
        if not self._narrow:
            return set(self.newest(limit))
        match = f"{self._narrow} NOT words : ({self._excluded})" if allowed and self._excluded else self._narrow
        return self._index.newest(match, limit) | set(self._tail.entries)

    @property
    def has_filters(self) -> bool:
        """Whether not every turn in scope may be a hit."""
        return bool(self._facets)

    def likely_texts(self, passage: str, *, passing: bool = True) -> Generator[tuple[int, str]]:
        """The texts, by place, that may have a folded passage none of whose words is in the index: of all turns in
        scope that may pass the filters (of all, if not `passing`), the newest first, read as they are taken."""
        with closing(likely_turns(self._connection, self._scope, passage)) as turns:
            for place, row in turns:
                if (not passing or self._may_pass(row)) and self.marks([place]):
                    yield place, row.text

    def _may_pass(self, row: TurnRow) -> bool:
        facets = facets_in(row) if self._facets else frozenset[str]()
        return not any(facets.isdisjoint(group) for group in self._facets)

    def marks(self, places: Iterable[int]) -> dict[int, Mark]:
        """The marks of those of the places at which a findable turn stands that no other session in scope gives."""
        wanted = self._scope.without_copies(places)
        entries, known, make = self._tail.entries, self._marks, Mark._make
        unknown = [place for place in wanted if place not in known]
        known.update((place, _mark(entries[place])) for place in unknown if place in entries)
        if self._scope.indexed and unknown:
            asked = "[" + ",".join(map(str, unknown)) + "]"
            rows = self._connection.execute(_MARKS, (asked,))
            # `_make`, as it costs half of what the class does, and there are a thousand.
            known.update((row[0], make(row[1:])) for row in rows)
        return {place: known[place] for place in wanted if place in known}

    def said_beside(self, places: Collection[int], most: int) -> dict[int, list[int]]:
        """See `said.said_beside`."""
        return said_beside(self._connection, self._tail, places, most, indexed=self._scope.indexed)

    def newest(self, limit: int) -> dict[int, Mark]:
        """The marks of about `limit` of the newest turns in scope."""
        found = {place: _mark(entry) for place, entry in self._tail.entries.items()}
        scope = self._scope
        if not scope.indexed:
            return found
        rows = chain.from_iterable(self._connection.execute(_NEWEST, ends) for ends in scope.stretches)
        found.update((row[0], Mark(*row[1:])) for row in islice(rows, limit))
        return found

    def likest(
        self,
        direction: Sequence[float],
        most: int,
        *,
        is_allowed: Callable[[int], bool],
        passes: Callable[[Mark], bool],
        check: Callable[[], None],
    ) -> dict[int, Mark]:
        """The marks of those turns of the person's and the model's that may be hits and pass the filters, at most so
        many, that differ least from a direction. `check` is called between: where few pass, all are looked at."""
        tail = self._tail.entries
        waiting = [(place, sketched) for place in sorted(tail, reverse=True) if (sketched := tail[place].sketch)]
        # Closed where not all is read: a search that is cut off with a cursor open cannot end its transaction.
        with closing(rows_of(self._connection, self._scope.stretches if self._scope.indexed else ())) as indexed:
            places = filter(is_allowed, likest(direction, chain((row_of([turn]) for turn in waiting), indexed)))
        if self._narrow and len(narrowed := self.narrowed(MAX_POSTINGS)) < MAX_POSTINGS:
            places = filter(narrowed.__contains__, places)
        found: dict[int, Mark] = {}
        while len(found) < most and (some := list(islice(places, MARKS_AT_ONCE))):
            check()
            marks = self.marks(some)
            found.update((place, marks[place]) for place in some if place in marks and passes(marks[place]))
        return dict(islice(found.items(), most))

    def names_with(self, *fragments: str, most: int = MAX_NAMES_WITH) -> list[str]:
        """See `Names.having`; whatever the scope."""
        return self._names.having(fragments, most)

    def names_like(self, name: str, least: float) -> dict[str, float]:
        """See `Names.like`; whatever the scope."""
        return self._names.like(name, least)

    def _seems(self, rows: Collection[int]) -> int:
        """How many turns in scope seem to have a term of which these are the newest in the widest stretch."""
        seen = self._scope.turns_from(min(rows)) - self._scope.widest.newer
        return round(len(rows) * self._scope.turns / max(1, seen))


def _mark(entry: Entry) -> Mark:
    return Mark(entry.at, entry.characters, entry.marks)


def _alone_or_inside(word: str) -> str:
    return f"{match_of('words', word)} OR {match_of('parts', word)}"
