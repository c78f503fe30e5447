"""What a person said later against something found: on the same subject, and taking it back."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from loom.archive.reading import rewound_in
from loom.archive.records import Revision, SearchHit
from loom.archive.rewound import is_rewound
from loom.archive.search.document import COLUMNS, TurnRow, place_of, seconds, turn_of
from loom.archive.search.marks import role_of
from loom.archive.search.postings import Postings
from loom.archive.search.query import parse
from loom.archive.search.scope import Scope
from loom.archive.search.stopwords import STOP_STEMS
from loom.archive.search.tail import TailCache, read_tail
from loom.archive.search.words import cjk_pieces, cjk_runs, names_of, words_of
from loom.archive.workspaces import Workspace
from loom.turn_numbers import Ranges


@dataclass(frozen=True, slots=True)
class Reading:
    """What is known of people's words: called in a worker thread, on one message at a time."""

    takes_back: Callable[[str], Sequence[str]]
    """The parts of a message that take something back; none in most messages."""
    settles: Callable[[str], bool]
    """Whether a message decides or demands something."""
    formulas: str
    """The words by which something is taken back, whatever it is: they say nothing of a subject."""


MOST_FOUND = 5
"""Hits whose later fate is looked for, the best ones."""
MOST_TERMS = 20
"""Terms of a hit that are looked up; the longest say the most about its subject."""
MOST_LATER = 100
"""Later turns of one hit that are read, newest first."""
RARE = 0.02
"""Share of the turns in scope up to which a term tells a subject from others …"""
RARE_TURNS = 6
"""… and in how many turns it may stand in any case: a short session has few turns …"""
MOST_RARE = 400
"""… and at most, so that a large archive is not read for every term of a hit."""
TELLING, TELLING_TURNS = 0.001, 12
"""Share of the turns in scope, and how many at most, up to which a term says nearly alone what a turn is about: where
another stands beside it in both, that one may be as common as it likes. In a small scope no term is so telling."""
MOST_PLACES = 4_000
"""Turns with rare terms of one hit after which no more of its terms are looked up: more only come together where a
scope has tens of thousands of turns."""
LEAST_SHARED = 2
"""Rare terms that a hit and the passage share, or terms one of which is telling. One is enough if it is rare and the
query's own, and the hit is a message that decides or demands something."""

_ROW = f"SELECT {COLUMNS} FROM conversation_turns WHERE session_id = ? AND turn_number = ?"  # noqa: S608


def revisions_of(
    connection: sqlite3.Connection,
    cache: TailCache,
    hits: Sequence[SearchHit],
    query: str,
    reading: Reading,
    *,
    session_id: str | None,
    workspace: Workspace | None,
    at_hand: str | None = None,
) -> dict[tuple[str, int], Revision]:
    """The newest revision of each hit that has one, by the hit's session and turn.

    A revision is a message of the user's, later in the same scope, with a passage that takes something back and is
    about the same, by the rare terms that it shares with the hit. Nothing is said rather than something wrong: a
    decision taken back in other words is not found. What the person rewound past takes nothing back.
    """
    scope = Scope(connection, session_id=session_id, workspace=workspace, named=None, at_hand=at_hand)
    postings = Postings(connection, scope, read_tail(connection, scope, cache))
    subject = _Subject(postings, frozenset(_terms(parse(query).text)), frozenset(_terms(reading.formulas)))
    reader = _Messages(connection, scope, reading.takes_back)
    revisions: dict[tuple[str, int], Revision] = {}
    for hit in hits[:MOST_FOUND]:
        key = scope.key_of(hit.session_id)
        if key is None or hit.role not in ("user", "assistant"):
            continue
        place = place_of(key, hit.turn_number)
        about = subject.of(hit.snippet)
        settled = hit.role == "user" and reading.settles(hit.content)
        for later in subject.later_messages(about, place, seconds(hit.created_at), settled=settled):
            passage = next(
                (text for text in reader.passages(later) if subject.is_same(about, text, settled=settled)), None
            )
            if passage is not None and not reader.is_rewound(later):
                revisions[hit.session_id, hit.turn_number] = reader.revision(later, passage)
                break
    return revisions


@dataclass(frozen=True, slots=True)
class _About:
    """What a hit is about."""

    terms: frozenset[str]
    rare: Mapping[str, set[int]]
    """Those of its terms that are rare, with where they stand."""
    telling: frozenset[str]
    """Those of the rare ones that say it nearly alone."""


class _Subject:
    """What turns are about, by their terms and how rare these are."""

    def __init__(self, postings: Postings, asked: frozenset[str], formulas: frozenset[str]) -> None:
        self._postings = postings
        self._asked = asked
        self._formulas = formulas
        self._most = min(max(RARE_TURNS, int(postings.turns * RARE)), MOST_RARE)
        self._telling = min(int(postings.turns * TELLING), TELLING_TURNS)
        self._places: dict[str, set[int] | None] = {}

    def of(self, text: str) -> _About:
        found = _terms(text) - self._formulas
        terms = sorted(found, key=lambda term: (term not in self._asked, -len(term), term))[:MOST_TERMS]
        rare: dict[str, set[int]] = {}
        left = MOST_PLACES
        for term in terms:
            if left > 0 and (places := self._where(term)):
                rare[term] = places
                left -= len(places)
        telling = frozenset(term for term, places in rare.items() if len(places) <= self._telling)
        return _About(frozenset(found), rare, telling)

    def _where(self, term: str) -> set[int] | None:
        """The turns with a term; None if it is not rare."""
        if term not in self._places:
            self._places[term] = self._read(term)
        return self._places[term]

    def _read(self, term: str) -> set[int] | None:
        # What stands in a name is a word as well, by its stem: only what is no stem is a name alone.
        if term.isalnum():
            places = self._postings.rare_places(("words", "parts"), term, self._most)
            if places is None or places:
                return places
        return self._postings.rare_places(("names",), term, self._most)

    def later_messages(self, about: _About, place: int, at: int, *, settled: bool) -> list[int]:
        """Messages of the user behind a turn that have as many of its terms as `is_same` asks for, newest first."""
        shared = Counter(chain.from_iterable(about.rare.values()))
        likely = {other for other, count in shared.items() if count >= LEAST_SHARED}
        likely.update(*(about.rare[term] for term in about.telling))
        if settled:
            likely.update(*(about.rare[term] for term in about.rare.keys() & self._asked))
        marks = self._postings.marks(other for other in likely if other != place)
        later = [
            other for other, mark in marks.items() if role_of(mark.marks) == "user" and (mark.at, other) > (at, place)
        ]
        return sorted(later, key=lambda other: (-marks[other].at, -other))[:MOST_LATER]

    def is_same(self, about: _About, passage: str, *, settled: bool) -> bool:
        shared = about.terms & _terms(passage)
        rare = shared & about.rare.keys()
        if len(rare) >= LEAST_SHARED or (settled and bool(rare & self._asked)):
            return True
        return len(shared) >= LEAST_SHARED and not about.telling.isdisjoint(shared)


class _Messages:
    """The user's messages, with what each of them takes back."""

    def __init__(
        self, connection: sqlite3.Connection, scope: Scope, takes_back: Callable[[str], Sequence[str]]
    ) -> None:
        self._connection = connection
        self._scope = scope
        self._take = takes_back
        self._rows: dict[int, TurnRow | None] = {}
        self._passages: dict[int, Sequence[str]] = {}
        self._rewound: dict[str, Ranges] = {}

    def _row(self, place: int) -> TurnRow | None:
        if place not in self._rows:
            where = (self._scope.session_of(place).id, turn_of(place))
            values = self._connection.execute(_ROW, where).fetchone()
            self._rows[place] = None if values is None else TurnRow(*values)
        return self._rows[place]

    def passages(self, place: int) -> Sequence[str]:
        if place not in self._passages:
            row = self._row(place)
            self._passages[place] = self._take(row.content or "") if row is not None and row.kind == "text" else ()
        return self._passages[place]

    def is_rewound(self, place: int) -> bool:
        session_id = self._scope.session_of(place).id
        if session_id not in self._rewound:
            self._rewound[session_id] = rewound_in(self._connection, session_id)
        return is_rewound(turn_of(place), self._rewound[session_id])

    def revision(self, place: int, passage: str) -> Revision:
        session = self._scope.session_of(place)
        row = self._row(place)
        return Revision(
            session_id=session.id,
            session_reference=session.reference,
            turn_number=turn_of(place),
            created_at=row.created_at if row is not None else "",
            passage=passage,
        )


def _terms(text: str) -> set[str]:
    """What says what a text is about: stems, names and CJK pairs, without the words that say nothing."""
    words = {word for word in words_of(text) if word not in STOP_STEMS and (len(word) > 2 or word.isdigit())}
    pieces = {piece for run in cjk_runs(text) for piece in cjk_pieces(run) if len(piece) > 1}
    return words | names_of(text) | pieces
