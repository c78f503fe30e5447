"""One search on one connection: scope, evidence, ranking, hits. Runs in a worker thread."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from loom.archive.records import SearchHit, SearchPage, TurnKind, TurnStatus
from loom.archive.search.cues import Cues, cues_of
from loom.archive.search.dates import date_bound
from loom.archive.search.document import COLUMNS, TurnRow, turn_of
from loom.archive.search.evidence import Evidence, gather
from loom.archive.search.marks import role_of, tool_facet
from loom.archive.search.postings import Mark, Postings
from loom.archive.search.query import Query, parse
from loom.archive.search.ranking import beside, is_allowed, pool_of, rank
from loom.archive.search.scope import Scope, scope_of
from loom.archive.search.snippets import snippet_of

_ROW = f"SELECT {COLUMNS} FROM conversation_turns WHERE session_id = ? AND turn_number = ?"  # noqa: S608
_NEWEST = 2_000
"""Turns looked through for a query that is nothing but filters."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is searched for, and where."""

    query: str
    session_id: str | None = None
    workspace: str | None = None
    limit: int = 10
    roles: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    before: str | None = None
    after: str | None = None


def search(
    connection: sqlite3.Connection, request: Request, check: Callable[[], None], *, use_index: bool = True
) -> SearchPage:
    """The page of hits. `check` is called between the steps and raises when nobody waits for the answer any more;
    without the index every turn in scope is read."""
    begun = time.perf_counter()
    connection.execute("BEGIN")  # one snapshot: watermark, index and turns belong together
    try:
        hits, turns = _search(connection, request, check, use_index)
    finally:
        if connection.in_transaction:
            connection.execute("COMMIT")
    return SearchPage(hits=tuple(hits), searched_turns=turns, elapsed_ms=(time.perf_counter() - begun) * 1000)


def _search(
    connection: sqlite3.Connection, request: Request, check: Callable[[], None], use_index: bool
) -> tuple[list[SearchHit], int]:
    query = parse(request.query)
    scope = scope_of(
        connection,
        session_id=request.session_id,
        workspace=request.workspace,
        named=query.filters.session,
        use_index=use_index,
    )
    postings = Postings(connection, scope)
    check()
    if not postings.turns or request.limit <= 0:
        return [], postings.turns
    now = datetime.now().astimezone()
    filtered = _filter(query, request, postings, now)
    reader = _Reader(connection, scope, check)
    evidence = gather(query, postings, reader.texts)
    check()
    if query.is_empty:
        ranked = _newest(evidence, postings, filtered)
    else:
        ranked = _ranked(evidence, postings, cues_of(query, postings, now), filtered)
    check()
    hits = [reader.hit(place, score, query) for place, score in ranked[: request.limit]]
    return [hit for hit in hits if hit is not None], postings.turns


@dataclass(frozen=True, slots=True)
class _Filter:
    """What a turn must be, whatever its words."""

    roles: frozenset[str]
    of_tools: frozenset[int] | None
    before: float | None
    after: float | None

    @property
    def is_open(self) -> bool:
        return not self.roles and self.of_tools is None and self.before is None and self.after is None

    def passes(self, place: int, mark: Mark) -> bool:
        return (
            (not self.roles or role_of(mark.marks) in self.roles)
            and (self.of_tools is None or place in self.of_tools)
            and (self.before is None or mark.at < self.before)
            and (self.after is None or mark.at >= self.after)
        )


def _filter(query: Query, request: Request, postings: Postings, now: datetime) -> _Filter:
    """The filters of the query and those of the caller, all of which must hold."""
    typed, given = query.filters.roles, frozenset(request.roles)
    tools = query.filters.tools | frozenset(request.tools)
    ends = [date_bound(value, now) for value in (query.filters.before, request.before) if value]
    begins = [date_bound(value, now) for value in (query.filters.after, request.after) if value]
    roles = typed & given if typed and given else typed | given
    return _Filter(
        roles=(roles or frozenset(("none",))) if typed or given else frozenset(),
        of_tools=frozenset(place for tool in tools for place in postings.places("facets", tool_facet(tool)))
        if tools
        else None,
        before=min((moment for moment in ends if moment is not None), default=None),
        after=max((moment for moment in begins if moment is not None), default=None),
    )


def _ranked(evidence: Evidence, postings: Postings, cues: Cues, filtered: _Filter) -> list[tuple[int, float]]:
    def passing(places: Iterable[int]) -> Iterable[int]:
        if filtered.is_open:
            return places
        return [place for place, mark in postings.marks(places).items() if filtered.passes(place, mark)]

    pool = pool_of(evidence, passing)
    marks = postings.marks({*pool, *beside(pool, evidence), *cues.rules})
    ranked = rank(evidence, marks, cues, mean_characters=postings.mean_characters)
    return [(place, score) for place, score in ranked if filtered.passes(place, marks[place])]


def _newest(evidence: Evidence, postings: Postings, filtered: _Filter) -> list[tuple[int, float]]:
    """The turns that the filters leave, newest first: the answer to a query that is nothing but filters."""
    if filtered.of_tools is not None:
        marks = postings.marks(filtered.of_tools)
    elif evidence.required is not None:
        marks = postings.marks(evidence.required)
    else:
        marks = postings.newest(_NEWEST)
    found = [place for place, mark in marks.items() if filtered.passes(place, mark) and is_allowed(place, evidence)]
    return [(place, 0.0) for place in sorted(found, key=lambda place: (-marks[place].at, -place))]


class _Reader:
    """Turns by place."""

    def __init__(self, connection: sqlite3.Connection, scope: Scope, check: Callable[[], None]) -> None:
        self._connection = connection
        self._scope = scope
        self._check = check

    def row(self, place: int) -> TurnRow | None:
        session = self._scope.session_of(place)
        values = self._connection.execute(_ROW, (session.id, turn_of(place))).fetchone()
        return None if values is None else TurnRow(*values)

    def texts(self, places: Iterable[int]) -> dict[int, str]:
        texts = {}
        for place in places:
            self._check()
            row = self.row(place)
            if row is not None:
                texts[place] = row.text
        return texts

    def hit(self, place: int, score: float, query: Query) -> SearchHit | None:
        row = self.row(place)
        if row is None:
            return None
        session = self._scope.session_of(place)
        text = row.text
        snippet, highlights = snippet_of(text, query)
        return SearchHit(
            session_id=session.id,
            session_reference=session.reference,
            session_title=session.title,
            turn_number=row.turn_number,
            exchange=row.exchange,
            role=row.role,  # type: ignore[arg-type]  # the table's CHECK allows the four roles only
            kind=TurnKind(row.kind),
            status=TurnStatus(row.status),
            tool_name=row.tool_name,
            created_at=row.created_at,
            score=score,
            content=text,
            snippet=snippet,
            highlights=highlights,
        )
