"""Where terms occur: looked up in the index, and in the turns that are not in it yet.

In a million turns a common word stands in a hundred thousand. Which of them a query means is said by its rarer words,
so no more than `BUDGET` postings are read for one query: rare terms whole; of common ones the newest, those beside a
rare term, those where the common ones stand together, and those that pass the filters.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from loom.archive.search.document import PART_MARK, Entry
from loom.archive.search.scope import Scope
from loom.archive.search.similarity import pieces_of, similarity
from loom.archive.search.tail import Column, Tail

BUDGET = 16_000
"""Postings that the words of a query may read in all; half a microsecond each, and as much to rank them."""
FIRST = 1_000
"""Postings that each term may read, whatever the others take, or its share of a third of the budget, if that is less;
a term of fewer is rare."""
LEAST_FIRST = 300
SUPPLEMENT = 2_000
"""Postings of a common term that are read for each of the reasons given above."""
MAX_SUPPLEMENTED = 4
"""Common terms, the rarest of them, for which that is done: the others say little."""
MAX_ANCHORS = 4_000
"""Turns with rare terms in which common ones are looked for."""
MAX_POSTINGS = 8_000
"""Turns of a term that is not one of the query's words, newest first."""
MOST_TOGETHER = 12
"""Terms that a turn must have together before its text is read."""
MAX_NAMED = 4_000
"""Turns that are looked at for names, newest first."""
MAX_NAMES_WITH = 64
MAX_NAMES_SEEN = 4_000
MAX_PIECES_SEEN = 1_500
"""Names that are counted for one piece of a mistyped name."""
MAX_COMPARED = 128
"""Names that share the most pieces with a mistyped one, compared letter by letter."""
_TERM = (
    "SELECT rowid FROM search_terms WHERE search_terms MATCH ? AND rowid >= ? AND rowid <= ?"
    " ORDER BY rowid DESC LIMIT ?"
)
_MARKS = "SELECT place, at, characters, marks FROM search_marks WHERE place IN (SELECT value FROM json_each(?))"
_NEWEST = (
    "SELECT place, at, characters, marks FROM search_marks WHERE place >= ? AND place <= ? ORDER BY place DESC LIMIT ?"
)
_PIECE = "SELECT rowid FROM search_name_pieces WHERE search_name_pieces MATCH ? LIMIT ?"
_NAMES = "SELECT id, name FROM search_names WHERE id IN (SELECT value FROM json_each(?))"


class Mark(NamedTuple):
    """What ranking knows of a turn beside its terms."""

    at: int
    characters: int
    marks: int


@dataclass(slots=True)
class _Found:
    """The postings read of one term."""

    places: set[int]
    turns: int
    """How many turns in scope have the term; estimated where not all were read."""
    whole: bool


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
        self._narrow = " AND ".join(f"facets : ({_any_of(group)})" for group in facets)
        self._excluded = _any_of(excluded)
        self._found: dict[tuple[Column, str], _Found] = {}
        entries = tail.entries.values()
        self.turns = scope.turns + len(entries)
        self.mean_characters = (scope.characters + sum(entry.characters for entry in entries)) / max(1, self.turns)

    def read(self, words: Sequence[str], pieces: Sequence[str]) -> None:
        """Reads the postings of a query's words and CJK pieces, so that `places` gives them at once."""
        columns: list[tuple[Column, str]] = [("words", word) for word in words]
        columns += [("parts", part) for part in (*words, *pieces)]
        first = min(FIRST, max(LEAST_FIRST, BUDGET // (3 * max(1, len(columns)))))
        for column, term in columns:
            rows, whole = self._rows(_match(column, term), first)
            self._found[column, term] = _Found(set(rows), self._estimate(rows, whole), whole)
        self._read_on()
        self._supplement()
        for (column, term), found in self._found.items():
            in_tail = set(self._tail.places(column, term))
            found.places |= in_tail
            found.turns += len(in_tail)

    def places(self, column: Column, term: str, limit: int = MAX_POSTINGS) -> set[int]:
        """The turns in scope that have a term: of a word that was `read` as the head of this module says, else the
        newest `limit` (and those that wait for the index)."""
        known = self._found.get((column, term))
        if known is not None:
            return known.places
        return self._newest(_match(column, term), limit) | set(self._tail.places(column, term))

    def turns_with(self, term: str) -> int:
        """About how many turns in scope have a word, alone or within an identifier: more than `places` gives where
        the word is common."""
        known = (self._found.get((column, term)) for column in ("words", "parts"))
        return sum(found.turns for found in known if found is not None)

    def with_prefix(self, column: Column, prefix: str) -> set[int]:
        """The turns in scope that have a term beginning with `prefix`."""
        found = self._newest(f"{_match(column, prefix)} *", MAX_NAMED)
        return found | set(self._tail.with_prefix(column, prefix))

    def with_any_name(self, names: Sequence[str]) -> set[int]:
        """The turns in scope that have one of the names: the newest `MAX_NAMED`, and as many of those that have a
        rare word of the query besides or pass the filters."""
        if not names:
            return set()
        match = f"names : ({_any_of(names)})"
        found = self._newest(match, MAX_NAMED)
        if len(found) >= MAX_NAMED:
            found |= self._beside(match, MAX_NAMED)
        return found.union(*(self._tail.places("names", name) for name in names))

    def with_all(self, words: Sequence[str], parts: Sequence[str], limit: int) -> set[int]:
        """Turns in scope that have every word, alone or within an identifier, and every part, and maybe some that
        lack a few of them: the newest `limit`, and as many of those that have a rare word of the query besides."""
        rare = self._where_whole(words, parts)
        if rare is not None and len(rare) <= limit:
            return rare
        # The others tell the turns apart as well as all would, and the index reads each that is asked for.
        words = [word for word in words if ("words", word) in self._found] or words
        wanted = [f"({_alone_or_inside(word)})" for word in words[:MOST_TOGETHER]]
        wanted += [_match("parts", part) for part in parts[:MOST_TOGETHER]]
        if not wanted:
            return set()
        match = " AND ".join(wanted)
        found = self._newest(match, limit)
        if len(found) >= limit:
            found |= self._beside(match, limit, without=frozenset((*words, *parts)))
        return found | set(self._tail.with_all(words, parts))

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

    def narrowed(self, limit: int) -> set[int]:
        """The newest turns in scope that may pass the filters."""
        if not self._narrow:
            return set(self.newest(limit))
        return self._newest(self._narrow, limit) | set(self._tail.entries)

    def marks(self, places: Iterable[int]) -> dict[int, Mark]:
        """The marks of those of the places at which a findable turn stands."""
        wanted = list(places)
        found = {place: _mark(self._tail.entries[place]) for place in wanted if place in self._tail.entries}
        if self._scope.indexed:
            asked = "[" + ",".join(map(str, wanted)) + "]"
            found.update((row[0], Mark(*row[1:])) for row in self._connection.execute(_MARKS, (asked,)))
        return found

    def newest(self, limit: int) -> dict[int, Mark]:
        """The marks of about `limit` of the newest turns in scope."""
        found = {place: _mark(entry) for place, entry in self._tail.entries.items()}
        scope = self._scope
        if not scope.indexed:
            return found
        left = limit
        for first, last in scope.ranges:
            rows = self._connection.execute(_NEWEST, (first, last, left)).fetchall()
            found.update((row[0], Mark(*row[1:])) for row in rows if scope.is_pure or scope.holds(row[0]))
            left -= len(rows)
            if left <= 0:
                break
        return found

    def names_with(self, *fragments: str) -> list[str]:
        """Names that have every fragment inside, the shortest first. Fragments of one or two characters are only
        looked for beside a longer one."""
        pieces = {piece for fragment in fragments for piece in pieces_of(fragment)}
        if not pieces:
            return []
        names = self._tail.names()
        if self._scope.indexed:
            names.update(self._named(" AND ".join(_quoted(piece) for piece in sorted(pieces))))
        for fragment in fragments:
            names = {name for name in names if fragment in name}
        return sorted(names, key=lambda name: (len(name), name))[:MAX_NAMES_WITH]

    def names_like(self, name: str, least: float) -> dict[str, float]:
        """Names that are about the same (mistyped), with how similar they are: `least` to 1."""
        pieces = pieces_of(name)
        if len(name) < 4 or not pieces:
            return {}
        shared: Counter[str] = Counter()
        for known in self._tail.names():
            shared[known] += len(pieces & pieces_of(known))
        shared.update(self._sharing(pieces))
        longest, shortest = len(name) / least, len(name) * least
        likely = [
            known for known, count in shared.items() if count * 3 >= len(pieces) and shortest <= len(known) <= longest
        ]
        likely.sort(key=lambda known: (-shared[known], abs(len(known) - len(name)), known))
        found = {known: similarity(name, known, least) for known in likely[:MAX_COMPARED]}
        return {known: value for known, value in found.items() if value >= least}

    def _sharing(self, pieces: set[str]) -> dict[str, int]:
        """The indexed names that share the most pieces, and how many they share."""
        if not self._scope.indexed:
            return {}
        counts: Counter[int] = Counter()
        for piece in pieces:
            counts.update(chain.from_iterable(self._connection.execute(_PIECE, (_quoted(piece), MAX_PIECES_SEEN))))
        most = dict(counts.most_common(MAX_COMPARED * 2))
        asked = "[" + ",".join(map(str, most)) + "]"
        return {row[1]: most[row[0]] for row in self._connection.execute(_NAMES, (asked,))}

    def _named(self, match: str) -> list[str]:
        rows = self._connection.execute(
            "SELECT name FROM search_names WHERE id IN (SELECT rowid FROM search_name_pieces"
            " WHERE search_name_pieces MATCH ? LIMIT ?)",
            (match, MAX_NAMES_SEEN),
        )
        return [row[0] for row in rows]

    # How many postings are read

    def _read_on(self) -> None:
        """Shares what is left of the budget among the terms that were not read whole. With filters it is left for
        the turns that pass them."""
        if self._narrow:
            return
        common = [(key, found) for key, found in self._found.items() if not found.whole]
        left = BUDGET - sum(len(found.places) for found in self._found.values())
        share = left // len(common) if common else 0
        for (column, term), found in common:
            if share < 2 * len(found.places):
                return
            rows, found.whole = self._rows(_match(column, term), share)
            found.places.update(rows)
            found.turns = self._estimate(rows, found.whole)

    def _supplement(self) -> None:
        """Reads of the common terms what is likely to matter, wherever it stands."""
        common = sorted(
            ((found.turns, column, term) for (column, term), found in self._found.items() if not found.whole)
        )
        if not common:
            return
        for _, column, term in common[:MAX_SUPPLEMENTED]:
            self._found[column, term].places |= self._beside(_match(column, term), SUPPLEMENT)
        for together in {tuple(common[:2]), tuple(common)}:
            if len(together) > 1:
                match = " AND ".join(_match(column, term) for _, column, term in together)
                rows = self._newest(match, SUPPLEMENT)
                for _, column, term in together:
                    self._found[column, term].places |= rows

    def _beside(self, match: str, limit: int, without: frozenset[str] = frozenset()) -> set[int]:
        """Of the turns that match, those that have a rare word of the query and those that pass the filters."""
        found = set()
        if anchors := self._anchors(without):
            found |= self._newest(f"({match}) AND ({' OR '.join(map(_alone_or_inside, anchors))})", limit)
        if self._narrow or self._excluded:
            wanted = f"({match}) AND {self._narrow}" if self._narrow else f"({match})"
            found |= self._newest(f"{wanted} NOT words : ({self._excluded})" if self._excluded else wanted, limit)
        return found

    def _anchors(self, without: frozenset[str]) -> list[str]:
        """The rare terms of the query, as many as have `MAX_ANCHORS` turns together, the rarest first."""
        turns: Counter[str] = Counter()
        for (_, term), found in self._found.items():
            turns[term] += found.turns if found.whole else MAX_ANCHORS + 1
        anchors, left = [], MAX_ANCHORS
        for term, count in sorted(turns.items(), key=lambda item: item[1]):
            left -= count
            if left < 0:
                break
            if count and term not in without:
                anchors.append(term)
        return anchors

    def _estimate(self, rows: Sequence[int], whole: bool) -> int:
        """How many turns in scope have a term of which these are the newest, as if it were as common further back."""
        if whole or not rows:
            return len(rows)
        seen = self._scope.turns_from(rows[-1])
        return max(len(rows), round(len(rows) * self._scope.turns / max(1, seen)))

    def _newest(self, match: str, limit: int) -> set[int]:
        return set(self._rows(match, limit)[0])

    def _rows(self, match: str, limit: int) -> tuple[list[int], bool]:
        """The newest turns in scope that match, `limit` at most, and whether these are all."""
        scope = self._scope
        if not scope.indexed or not scope.turns:
            return [], True
        execute = self._connection.execute
        if scope.is_pure:
            rows = [row[0] for row in execute(_TERM, (match, scope.first, scope.last, limit))]
            return rows, len(rows) < limit
        rows = [row[0] for row in execute(_TERM, (match, scope.first, scope.last, limit))]
        if len(rows) < limit:
            return [place for place in rows if scope.holds(place)], True
        # Too common to read the turns of others with it: stretch by stretch.
        kept: list[int] = []
        for first, last in scope.ranges:
            left = limit - len(kept)
            if left <= 0:
                return kept, False
            rows = [row[0] for row in execute(_TERM, (match, first, last, left))]
            kept += rows if scope.is_split else [place for place in rows if scope.holds(place)]
        return kept, len(kept) < limit


def _mark(entry: Entry) -> Mark:
    return Mark(entry.at, entry.characters, entry.marks)


def _match(column: Column, term: str) -> str:
    """The FTS5 expression for the turns that have a term in a column."""
    return f"{column} : {_quoted(PART_MARK + term if column == 'parts' else term)}"


def _alone_or_inside(word: str) -> str:
    return f"{_match('words', word)} OR {_match('parts', word)}"


def _any_of(terms: Iterable[str]) -> str:
    return " OR ".join(map(_quoted, terms))


def _quoted(term: str) -> str:
    """The term as an FTS5 string: nothing in it is syntax."""
    return '"' + term.replace('"', '""').replace("\x00", " ") + '"'
