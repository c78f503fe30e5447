"""One search on one connection: scope, evidence, ranking, hits. Runs in a worker thread."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

from loom.archive.records import SearchHit, SearchPage, TurnKind, TurnStatus
from loom.archive.search.cues import Cues, cues_of
from loom.archive.search.document import (
    COLUMNS,
    RECALL_TOOL,
    TURN_BITS,
    TurnRow,
    reading_turns,
    seconds,
    text_of,
    turn_of,
)
from loom.archive.search.evidence import Evidence, gather
from loom.archive.search.faults import find_fault
from loom.archive.search.filters import Filter, filter_of
from loom.archive.search.marks import reacts
from loom.archive.search.meaning import SENTENCES, Meaning
from loom.archive.search.neighbours import REACH, Neighbours, beside, interrupted
from loom.archive.search.obstacles import obstacles
from loom.archive.search.pool import pool_of
from loom.archive.search.postings import Postings
from loom.archive.search.query import (
    LONGEST_QUESTION,
    Query,
    asks_the_same,
    has_as_flag,
    is_short_question,
    names_path,
    parse,
    without_excluded,
)
from loom.archive.search.ranking import FIRST_BY_WORDS, SPREADING, Reading, is_allowed, meant, rank, reread
from loom.archive.search.request import Request
from loom.archive.search.scope import Scope
from loom.archive.search.snippets import snippet_of
from loom.archive.search.stems import stem
from loom.archive.search.tail import TailCache, read_tail
from loom.archive.search.values import Values
from loom.archive.search.words import fold, words_of
from loom.times import local_now

SOON = 4
"""Turns: a thought, a remark and a call or two beside it."""
_ROW = f"SELECT {COLUMNS} FROM conversation_turns WHERE session_id = ? AND turn_number = ?"  # noqa: S608
_TEXTS = f"""
    SELECT asked.value, turn.id IS NOT NULL, turn.content, turn.tool_calls FROM json_each(?) AS asked
    LEFT JOIN search_sessions AS session ON session.key = asked.value >> {TURN_BITS}
    LEFT JOIN conversation_turns AS turn
        ON turn.session_id = session.session_id AND turn.turn_number = asked.value & {(1 << TURN_BITS) - 1}
"""  # noqa: S608
"""In the order asked for; a session that the index does not have is not known here. A quarter of the time that a
statement for each turn takes."""
_LOOKING_UP = f"""
    SELECT json_extract(asked.value, '$[2]'), here.role FROM json_each(?) AS asked
    JOIN conversation_turns AS here
        ON here.session_id = json_extract(asked.value, '$[0]') AND here.turn_number = json_extract(asked.value, '$[1]')
    JOIN conversation_turns AS call
        ON call.session_id = here.session_id AND call.exchange = here.exchange AND call.kind = 'tool_call'
        AND call.turn_number BETWEEN here.turn_number + 1 AND here.turn_number + {SOON}
    WHERE CASE WHEN json_valid(call.tool_calls) THEN json_extract(call.tool_calls, '$[0].name') END = '{RECALL_TOOL}'
        AND (here.kind = 'thinking' OR here.kind = 'text' AND length(here.content) <= {LONGEST_QUESTION})
        AND (here.role = 'user' OR NOT EXISTS (
            SELECT 1 FROM conversation_turns AS other WHERE other.session_id = here.session_id
                AND other.turn_number > here.turn_number AND other.turn_number < call.turn_number
                AND other.kind != 'thinking'
        ))
"""  # noqa: S608
"""Of sessions, turns and places, the places behind which the archive is soon asked, and whose words are there: the
person's, or what the model says in few words, or thinks, on its way. Neither a call made beside it, nor a long answer
that ends with it."""
_LAST_ACTIVE = "SELECT max(last_active_at) FROM cowork_sessions WHERE is_active = 1"
_NEWEST = 2_000
"""Turns looked through for a query that is nothing but filters: sessions go on side by side, and which turn is newest
is not known before."""
_ANY = 64
"""Of these, looked at first where any hit will do."""
LEAST_BEARING = 0.1
"""The cosine below which a standing instruction without a word of the question seems to have nothing to do with it."""
MOST_REREAD = 60
"""The best turns found by a question, whose texts are read: hardly one behind them comes among the first ten."""
MOST_LIKE = 32
"""The turns whose sketches differ least from the question are read: the nearest one is nearly always among them."""
MAX_READ = 4_000_000
"""Characters that are read to see whether a passage stands in them."""
MAX_REREAD = 200
"""Turns that are passed over, at most, because their text shows what the index could not."""


def search(
    connection: sqlite3.Connection,
    request: Request,
    check: Callable[[], None],
    *,
    cache: TailCache | None = None,
    use_index: bool = True,
    whole: bool = False,
) -> SearchPage:
    """The page of hits. `check` is called between the steps and raises when nobody waits for the answer any more;
    `cache` keeps what is behind the watermark from one search to the next. Without the index the turns in scope are
    read.

    Raises FarBehind when not all that waits for the index would be searched, and `whole` says that it should be.
    """
    begun = time.perf_counter()
    connection.execute("BEGIN")  # one snapshot: watermark, index and turns belong together
    cache = cache or TailCache()
    try:
        page = _search(connection, request, check, cache, use_index, whole)
        if not page.has_words and request.limit > 0:
            page = replace(page, obstacles=_obstacles(connection, request, check, cache, use_index))
    except BaseException:
        # It may fail for the same reason, which is the one to be told. Who has the connection sees that it is open.
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    if connection.in_transaction:
        connection.execute("COMMIT")
    return replace(page, elapsed_ms=(time.perf_counter() - begun) * 1000)


def _search(
    connection: sqlite3.Connection,
    request: Request,
    check: Callable[[], None],
    cache: TailCache,
    use_index: bool,
    whole: bool = False,
    any_hit: bool = False,
) -> SearchPage:
    query = parse(request.query, asked=request.asked)
    scope = Scope(
        connection,
        session_id=request.session_id,
        workspace=request.workspace,
        named=query.filters.session,
        at_hand=request.at_hand,
        use_index=use_index,
    )
    now = local_now()
    tail = read_tail(connection, scope, cache, check, whole=whole)
    filtered = filter_of(query, request, now)
    if filtered.tools:
        values = Values(connection, scope, tail)
        filtered = replace(filtered, tools=tuple(map(values.tools_meant, filtered.tools)))
    if filtered.after is not None:
        filtered = replace(filtered, newest=_newest_moment(connection))
    postings = Postings(connection, scope, tail, facets=filtered.terms(), excluded=query.excluded)
    check()
    fault = find_fault(request.query, now)
    page = SearchPage(
        hits=(),
        searched_turns=postings.turns,
        waiting_turns=tail.left_out,
        elapsed_ms=0,
        fault=str(fault) if fault is not None else "",
    )
    if not postings.turns or request.limit <= 0:
        return page
    reader = _Reader(connection, scope, check)
    evidence = gather(query, postings, reader.texts)
    check()
    if not query.is_empty:
        ranked = _ranked(query, evidence, postings, filtered, reader, by_meaning=not any_hit)
        check()
        # What a mistyped name was taken for is what is shown of it.
        shown = replace(query, names=tuple(dict.fromkeys((*query.names, *evidence.instead))))
        return replace(page, hits=tuple(_hits(ranked, shown, request.limit, reader, filtered)))
    for most in (_ANY, _NEWEST) if any_hit else (_NEWEST,):
        newest = _newest(evidence, postings, filtered, most)
        check()
        hits = tuple(_hits(_Ranked(newest), query, request.limit, reader, filtered))
        if hits:
            return replace(page, hits=hits)
    return page


def _newest_moment(connection: sqlite3.Connection) -> float:
    (moment,) = connection.execute(_LAST_ACTIVE).fetchone()
    return seconds(moment) if moment is not None else 0.0


def _obstacles(
    connection: sqlite3.Connection,
    request: Request,
    check: Callable[[], None],
    cache: TailCache,
    use_index: bool,
) -> tuple[str, ...]:
    def finds(other: Request) -> bool:
        return bool(_search(connection, other, check, cache, use_index, any_hit=True).hits)

    return obstacles(connection, request, cache=cache, finds=finds, now=local_now())


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Places with their scores, the best first."""

    places: Sequence[tuple[int, float]]
    meant: frozenset[int] = frozenset()
    """Those that stand where they do for what they mean."""


def _ranked(
    query: Query, evidence: Evidence, postings: Postings, filtered: Filter, reader: _Reader, *, by_meaning: bool
) -> _Ranked:
    cues = cues_of(query, postings, filtered.now)
    cues = replace(cues, bearing=_bearing(query, cues, evidence, reader))

    def passing(places: Iterable[int]) -> Iterable[int]:
        return [place for place, mark in postings.marks(places).items() if filtered.passes(mark)]

    pool = pool_of(evidence, None if filtered.is_open else passing)
    spreading = [] if evidence.is_lookup else pool[:SPREADING]
    marks = postings.marks({*pool, *beside(spreading), *cues.rules})
    said = postings.said_beside(interrupted(spreading, marks), REACH)
    marks |= postings.marks({place for near in said.values() for place in near} - marks.keys())
    mean = postings.mean_characters
    ranked = rank(evidence, marks, Neighbours(said), cues, mean_characters=mean)
    ranked = [(place, score) for place, score in ranked if filtered.passes(marks[place])]
    if not query.is_question:
        return _Ranked(ranked)
    meaning = Meaning(query.text, cues.names)
    texts = reader.texts(place for place, _ in ranked[:MOST_REREAD])
    readings = _readings(query, meaning, texts, reader)
    ranked = reread(ranked, readings, marks, cues)
    if not by_meaning or query.names or query.phrases or not filtered.is_of_speakers:
        return _Ranked(ranked)
    return _with_meant(ranked, query, cues, evidence, postings, filtered, reader)


def _bearing(query: Query, cues: Cues, evidence: Evidence, reader: _Reader) -> frozenset[int]:
    """The standing instructions that have a word of the question, or are near to it in meaning."""
    worded = cues.rules & {place for match in evidence.matches for place in match.strengths}
    if worded == cues.rules:
        return worded
    meaning = Meaning(without_excluded(query.text), cues.names, SENTENCES)
    texts = reader.texts(cues.rules - worded)
    return worded | {place for place, text in texts.items() if meaning.nearness(text) >= LEAST_BEARING}


def _readings(query: Query, meaning: Meaning, texts: Mapping[int, str], reader: _Reader) -> dict[int, Reading]:
    looked_up = reader.looked_up(texts)

    def asks(place: int, text: str) -> bool:
        whose = looked_up.get(place)
        return whose == "assistant" or (whose == "user" and is_short_question(text)) or asks_the_same(text, query)

    return {place: Reading(meaning.nearness(text), reacts(text), asks(place, text)) for place, text in texts.items()}


def _with_meant(
    ranked: Sequence[tuple[int, float]],
    query: Query,
    cues: Cues,
    evidence: Evidence,
    postings: Postings,
    filtered: Filter,
    reader: _Reader,
) -> _Ranked:
    """With the turns nearest in meaning of all that was said."""
    meaning = Meaning(without_excluded(query.text), cues.names, SENTENCES)
    if not meaning.direction:
        return _Ranked(ranked)
    marks = postings.likest(
        meaning.direction,
        MOST_LIKE,
        is_allowed=lambda place: is_allowed(place, evidence),
        passes=filtered.passes,
        check=reader.check,
    )
    reader.check()
    readings = _readings(query, meaning, reader.texts(marks), reader)
    chosen = meant(ranked, readings, marks, cues)
    first = ranked[:FIRST_BY_WORDS]
    score = first[-1][1] if first else 0.0
    rest = [(place, found) for place, found in ranked[FIRST_BY_WORDS:] if place not in chosen]
    return _Ranked([*first, *((place, score) for place in chosen), *rest], frozenset(chosen))


def _newest(evidence: Evidence, postings: Postings, filtered: Filter, most: int) -> list[tuple[int, float]]:
    """The turns that the filters leave of the `most` indexed last, newest first: the answer to a query that is
    nothing but filters."""
    if evidence.required is not None:
        marks = postings.marks(evidence.required)
    else:
        marks = postings.marks(postings.narrowed(most, allowed=True))
    found = [place for place, mark in marks.items() if filtered.passes(mark) and is_allowed(place, evidence)]
    return [(place, 0.0) for place in sorted(found, key=lambda place: (-marks[place].at, -place))]


def _hits(ranked: _Ranked, query: Query, limit: int, reader: _Reader, filtered: Filter) -> Iterator[SearchHit]:
    """The first `limit` of those ranked that hold out when their text is read: a word that is excluded may be too
    common for all of its turns to be known."""
    left = limit
    for place, score in islice(ranked.places, limit + MAX_REREAD):
        row = reader.row(place)
        if row is None or not filtered.has_tool_of(row.tools) or _is_excluded(row.text, query):
            continue
        hit = reader.hit(place, row, score, query)
        yield replace(hit, by_meaning=place in ranked.meant and not hit.highlights)
        left -= 1
        if not left:
            return


def _is_excluded(text: str, query: Query) -> bool:
    if not (query.excluded_words or query.excluded_texts or query.excluded_paths):
        return False
    folded = " ".join(fold(text).split())
    if any(passage in folded for passage in query.excusing):
        return False
    if any(excluded in folded for excluded in query.excluded_texts):
        return True
    if any(names_path(folded, path) for path in query.excluded_paths):
        return True
    words = frozenset(words_of(text)) if query.excluded_words else frozenset()
    return any(stem(word) in words and not has_as_flag(folded, word) for word in query.excluded_words)


class _Reader:
    """Turns by place."""

    def __init__(self, connection: sqlite3.Connection, scope: Scope, check: Callable[[], None]) -> None:
        self._connection = connection
        self._scope = scope
        self.check = check

    def row(self, place: int) -> TurnRow | None:
        session = self._scope.session_of(place)
        with reading_turns():
            values = self._connection.execute(_ROW, (session.id, turn_of(place))).fetchone()
        return None if values is None else TurnRow(*values)

    def texts(self, places: Iterable[int]) -> dict[int, str]:
        """The texts of the places, as many of the first as make `MAX_READ` characters together."""
        texts: dict[int, str] = {}
        left = MAX_READ
        for place, text in self._all_texts(places):
            self.check()
            texts[place] = text
            left -= len(text)
            if left < 0:
                break
        return texts

    def _all_texts(self, places: Iterable[int]) -> Iterator[tuple[int, str]]:
        if not self._scope.indexed:
            rows = ((place, self.row(place)) for place in places)
            yield from ((place, row.text) for place, row in rows if row is not None)
            return
        asked = "[" + ",".join(map(str, places)) + "]"
        with reading_turns():
            for place, is_known, content, tool_calls in self._connection.execute(_TEXTS, (asked,)):
                if is_known:
                    yield place, text_of(content, tool_calls)
                elif (row := self.row(place)) is not None:
                    yield place, row.text

    def looked_up(self, places: Iterable[int]) -> dict[int, str]:
        """Those of the places whose words the model soon looks up in the archive, and whose words they are."""
        asked = json.dumps([(self._scope.session_of(place).id, turn_of(place), place) for place in places])
        with reading_turns():
            return dict(self._connection.execute(_LOOKING_UP, (asked,)))

    def hit(self, place: int, row: TurnRow, score: float, query: Query) -> SearchHit:
        session = self._scope.session_of(place)
        snippet, highlights = snippet_of(row.text, query)
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
            content=row.whole,
            snippet=snippet,
            highlights=highlights,
            also_in=self._scope.also_in(place),
        )
