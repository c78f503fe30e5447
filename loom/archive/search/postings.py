"""Where terms occur: looked up in the index, and in the turns that are not in it yet."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from loom.archive.search.document import COLUMNS, FINDABLE, Entry, TurnRow, entry_of
from loom.archive.search.scope import Scope
from loom.archive.search.similarity import pieces_of, similarity

Column = Literal["words", "parts", "names", "facets"]

MAX_POSTINGS = 20_000
"""Turns of one term that are looked at, newest first: a term of more says little about any of them."""
MAX_NAMES_WITH = 64
MAX_NAMES_SEEN = 4_000
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
_TAIL = f"SELECT {COLUMNS} FROM conversation_turns WHERE id > ? AND {FINDABLE}"  # noqa: S608


@dataclass(frozen=True, slots=True)
class Mark:
    """What ranking knows of a turn beside its terms."""

    at: int
    characters: int
    marks: int


@dataclass(slots=True)
class Tail:
    """The turns behind the watermark, taken apart as the index would."""

    entries: dict[int, Entry] = field(default_factory=dict)
    terms: dict[Column, dict[str, list[int]]] = field(default_factory=dict)

    def add(self, entry: Entry) -> None:
        self.entries[entry.place] = entry
        columns: tuple[tuple[Column, frozenset[str]], ...] = (
            ("words", entry.terms.words),
            ("parts", entry.terms.parts),
            ("names", entry.terms.names),
            ("facets", entry.facets),
        )
        for column, terms in columns:
            places = self.terms.setdefault(column, {})
            for term in terms:
                places.setdefault(term, []).append(entry.place)

    def places(self, column: Column, term: str) -> list[int]:
        return self.terms.get(column, {}).get(term, [])

    def with_prefix(self, column: Column, prefix: str) -> list[int]:
        found = self.terms.get(column, {})
        return [place for term, places in found.items() if term.startswith(prefix) for place in places]

    @property
    def names(self) -> Iterable[str]:
        return self.terms.get("names", {}).keys()


def read_tail(connection: sqlite3.Connection, scope: Scope) -> Tail:
    """The turns in scope that the index does not have."""
    tail = Tail()
    keys = {session.id: key for key, session in scope.sessions.items()}
    if not keys:
        return tail
    sql, values = _TAIL, [scope.watermark]
    if scope.is_one_session:
        sql += " AND session_id = ?"
        values += list(keys)  # type: ignore[arg-type]
    for columns in connection.execute(sql, values):
        row = TurnRow(*columns)
        key = keys.get(row.session_id)
        entry = None if key is None else entry_of(row, key)
        if entry is not None:
            tail.add(entry)
    return tail


class Postings:
    """Where terms occur within a scope, in the index and behind its watermark alike."""

    def __init__(self, connection: sqlite3.Connection, scope: Scope) -> None:
        self._connection = connection
        self._scope = scope
        self._tail = read_tail(connection, scope)
        tail = self._tail.entries.values()
        self.turns = scope.turns + len(self._tail.entries)
        self.mean_characters = (scope.characters + sum(entry.characters for entry in tail)) / max(1, self.turns)

    def places(self, column: Column, term: str) -> set[int]:
        """The turns in scope that have a term."""
        return self._indexed(f"{column} : {_quoted(term)}") | set(self._tail.places(column, term))

    def with_prefix(self, column: Column, prefix: str) -> set[int]:
        """The turns in scope that have a term beginning with `prefix`."""
        found = self._indexed(f"{column} : {_quoted(prefix)} *")
        return found | set(self._tail.with_prefix(column, prefix))

    def _indexed(self, match: str) -> set[int]:
        scope = self._scope
        if not scope.indexed or not scope.turns:
            return set()
        rows = self._connection.execute(_TERM, (match, scope.first, scope.last, MAX_POSTINGS))
        if scope.is_one_session:
            return {row[0] for row in rows}
        return {row[0] for row in rows if scope.holds(row[0])}

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
        if scope.indexed:
            for row in self._connection.execute(_NEWEST, (scope.first, scope.last, limit)):
                if scope.holds(row[0]):
                    found[row[0]] = Mark(*row[1:])
        return found

    def names_with(self, *fragments: str) -> list[str]:
        """Names that have every fragment inside, the shortest first. Fragments of one or two characters are only
        looked for beside a longer one."""
        pieces = {piece for fragment in fragments for piece in pieces_of(fragment)}
        if not pieces:
            return []
        names = {name for name in self._tail.names if all(fragment in name for fragment in fragments)}
        if self._scope.indexed:
            found = self._named(" AND ".join(_quoted(piece) for piece in sorted(pieces)))
            names.update(name for name in found if all(fragment in name for fragment in fragments))
        return sorted(names, key=lambda name: (len(name), name))[:MAX_NAMES_WITH]

    def names_like(self, name: str, least: float) -> dict[str, float]:
        """Names that are about the same (mistyped), with how similar they are: `least` to 1."""
        pieces = pieces_of(name)
        if len(name) < 4 or not pieces:
            return {}
        shared: Counter[str] = Counter()
        for known in self._tail.names:
            shared[known] += len(pieces & pieces_of(known))
        shared.update(self._sharing(pieces))
        likely = [known for known, count in shared.items() if count * 3 >= len(pieces)]
        likely.sort(key=lambda known: (-shared[known], abs(len(known) - len(name)), known))
        found = {known: similarity(name, known) for known in likely[:MAX_COMPARED]}
        return {known: value for known, value in found.items() if value >= least}

    def _sharing(self, pieces: set[str]) -> dict[str, int]:
        """The indexed names that share the most pieces, and how many they share."""
        if not self._scope.indexed:
            return {}
        counts: Counter[int] = Counter()
        for piece in pieces:
            rows = self._connection.execute(_PIECE, (_quoted(piece), MAX_NAMES_SEEN))
            counts.update(row[0] for row in rows)
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


def _mark(entry: Entry) -> Mark:
    return Mark(entry.at, entry.characters, entry.marks)


def _quoted(term: str) -> str:
    """The term as an FTS5 string: nothing in it is syntax."""
    return '"' + term.replace('"', '""').replace("\x00", " ") + '"'
