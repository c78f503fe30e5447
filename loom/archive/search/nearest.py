"""Words of the archive that are spelt nearly like those of a query which found nothing."""

from __future__ import annotations

import sqlite3

from loom.archive.search.document import COLUMNS, TurnRow, turn_of
from loom.archive.search.postings import Postings
from loom.archive.search.query import Term, parse
from loom.archive.search.scope import Scope
from loom.archive.search.similarity import similarity
from loom.archive.search.stems import stem
from loom.archive.search.tail import Tail, TailCache, read_tail
from loom.archive.search.words import plain_words
from loom.archive.workspaces import Workspace

LEAST_SIMILARITY = 0.6
MOST_ASKED = 6
"""Words of the query that are looked at."""
MOST_COMPARED = 4_000
"""Words with the same beginning that are compared letter by letter."""
LONGEST = 40

_VOCABULARY = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_vocabulary USING fts5vocab(main, search_terms, row)"
_BEGINNING = "SELECT term FROM temp.search_vocabulary WHERE term >= ? AND term < ? LIMIT ?"
_ROW = f"SELECT {COLUMNS} FROM conversation_turns WHERE session_id = ? AND turn_number = ?"  # noqa: S608


def nearest_words(
    connection: sqlite3.Connection,
    cache: TailCache,
    query: str,
    *,
    session_id: str | None,
    workspace: Workspace | None,
    limit: int = 5,
) -> tuple[str, ...]:
    """At most `limit` words as they stand in turns of the scope, the most similar first; of no other session."""
    asked = parse(query)
    scope = Scope(connection, session_id=session_id, workspace=workspace, named=asked.filters.session)
    tail = read_tail(connection, scope, cache)
    postings = Postings(connection, scope, tail)
    found: dict[str, float] = {}
    for name in asked.names[:MOST_ASKED]:
        for known, value in postings.names_like(name, LEAST_SIMILARITY).items():
            if postings.places("names", known, 1):
                found[known] = max(value, found.get(known, 0.0))
    for term in [term for term in asked.terms if len(term.word) > 2][:MOST_ASKED]:
        for near, value in _similar(connection, scope, postings, tail, term):
            found[near] = max(value, found.get(near, 0.0))
    return tuple(sorted(found, key=lambda word: (-found[word], word))[:limit])


def _similar(
    connection: sqlite3.Connection, scope: Scope, postings: Postings, tail: Tail, term: Term
) -> list[tuple[str, float]]:
    beginning = _beginning(connection, scope, tail, term.stem[:2])
    # The word itself is there: what keeps it from being found is a filter or another word, not how it is spelt.
    values = {near: similarity(term.stem, near) for near in beginning if near != term.stem}
    best = sorted((near for near in values if values[near] >= LEAST_SIMILARITY), key=lambda near: -values[near])
    words: list[tuple[str, float]] = []
    for near in best[:20]:
        place = max(postings.places("words", near, 1), default=None)
        word = None if place is None else _as_written(connection, scope, place, near)
        if word is not None:
            words.append((word, values[near]))
    return words


def _beginning(connection: sqlite3.Connection, scope: Scope, tail: Tail, start: str) -> list[str]:
    """Terms that begin alike, in the index and behind its watermark."""
    known = [term for term in tail.words() if term.startswith(start)]
    if scope.indexed:
        connection.execute(_VOCABULARY)
        end = start[:-1] + chr(ord(start[-1]) + 1)
        known += [row[0] for row in connection.execute(_BEGINNING, (start, end, MOST_COMPARED))]
    return [term for term in dict.fromkeys(known) if len(term) <= LONGEST]


def _as_written(connection: sqlite3.Connection, scope: Scope, place: int, wanted: str) -> str | None:
    """A word of the turn with this stem: the index keeps stems, which nobody writes."""
    values = connection.execute(_ROW, (scope.session_of(place).id, turn_of(place))).fetchone()
    if values is None:
        return None
    row = TurnRow(*values)
    words = plain_words(f"{row.tool_name or ''} {row.text[:200_000]}")
    return next((word for word in words if stem(word) == wanted), None)
