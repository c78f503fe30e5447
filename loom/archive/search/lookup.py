"""One search on one connection: scope, evidence, ranking, hits. Runs in a worker thread."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

from loom.archive.records import SearchHit, SearchPage
from loom.archive.search.cues import Cues, cues_of
from loom.archive.search.document import seconds
from loom.archive.search.evidence import Evidence, gather
from loom.archive.search.faults import find_fault
from loom.archive.search.filters import Filter, filter_of
from loom.archive.search.marks import is_said, reacts
from loom.archive.search.matches import Match
from loom.archive.search.meaning import SENTENCES, Meaning
from loom.archive.search.neighbours import REACH, Neighbours, beside, interrupted
from loom.archive.search.obstacles import obstacles
from loom.archive.search.passages import MAX_LIKELY
from loom.archive.search.pool import POOL, pool_of
from loom.archive.search.postings import Mark, Postings
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
from loom.archive.search.stems import stem
from loom.archive.search.tail import TailCache, read_tail
from loom.archive.search.turn_reader import TurnReader
from loom.archive.search.values import Values
from loom.archive.search.words import fold, words_of
from loom.text import show_line
from loom.times import local_now

_LAST_ACTIVE = "SELECT max(last_active_at) FROM cowork_sessions WHERE is_active = 1"
_NEWEST = 2_000
"""Turns looked through for a query that is nothing but filters: sessions go on side by side, and which turn is newest
is not known before."""
_ANY = 64
"""Of these, looked at first where any hit will do."""
LEAST_BEARING = 0.1
"""The cosine below which a standing instruction without a word of the question seems to have nothing to do with it."""
MOST_REREAD = 40
"""The best turns found by a question, whose texts are read: hardly one behind them comes among the first ten."""
MOST_LIKE = 32
"""The turns whose sketches differ least from the question are read: the nearest one is nearly always among them."""
MAX_PHRASE_SHOWN = 80
"""Characters of a phrase that was not found, which are said again."""
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
    reader = TurnReader(connection, scope, check)
    # The index tells days, and not whether a turn is of the right hour of one.
    evidence = gather(query, postings, reader.texts, request.limit if filtered.is_of_any_time else MAX_LIKELY)
    check()
    if not query.is_empty:
        most = max(POOL, request.limit)
        ranked = _ranked(query, evidence, postings, filtered, reader, most=most, by_meaning=not any_hit)
        check()
        # What a mistyped name was taken for is what is shown of it.
        shown = replace(query, names=tuple(dict.fromkeys((*query.names, *evidence.instead))))
        hits = tuple(_hits(ranked, shown, request.limit, reader, filtered))
        return replace(page, hits=hits, doubts=tuple(_doubts(evidence.quoted, hits, request.limit)))
    for most in (_ANY, _NEWEST) if any_hit else (_NEWEST,):
        newest = _newest(evidence, postings, filtered, most)
        check()
        hits = tuple(_hits(_Ranked(newest), query, request.limit, reader, filtered))
        if hits:
            return replace(page, hits=hits)
    return page


def _doubts(quoted: Iterable[Match], hits: Sequence[SearchHit], wanted: int) -> Iterator[str]:
    """What to say of passages in quotation marks that were not found, or not as often as they may be there."""
    for match in quoted:
        named = f"“{show_line(match.key, MAX_PHRASE_SHOWN)}”"
        if match.is_searched:
            if hits and not match.strengths:
                yield f"Nothing has {named} word for word."
        elif not match.strengths:
            yield f"Only the newest turns with the words of {named} were read, and none has it word for word."
        elif len(hits) < wanted:
            yield f"Only the newest turns with the words of {named} were read: older ones may have it, too."


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
    query: Query,
    evidence: Evidence,
    postings: Postings,
    filtered: Filter,
    reader: TurnReader,
    *,
    most: int,
    by_meaning: bool,
) -> _Ranked:
    cues = cues_of(query, postings, filtered.now)
    cues = replace(cues, bearing=_bearing(query, cues, evidence, reader))

    def passing(places: Iterable[int]) -> Iterable[int]:
        return [place for place, mark in postings.marks(places).items() if filtered.passes(mark)]

    pool = pool_of(evidence, None if filtered.is_open else passing, most)
    spreading = [] if evidence.is_lookup else pool[:SPREADING]
    marks = postings.marks({*pool, *beside(spreading), *cues.rules})
    said = postings.said_beside(interrupted(spreading, marks), REACH)
    marks |= postings.marks({place for near in said.values() for place in near} - marks.keys())
    mean = postings.mean_characters
    ranked = rank(evidence, marks, Neighbours(said), cues, mean_characters=mean)
    ranked = [(place, score) for place, score in ranked if filtered.passes(marks[place])]
    texts = reader.readable_texts(place for place, _ in ranked[:MOST_REREAD])
    meaning = Meaning(query.text, cues.names) if query.is_question else None
    ranked = reread(ranked, _readings(query, meaning, texts, marks, reader), marks, cues)
    if not query.is_question or not by_meaning or query.names or query.phrases or not filtered.is_of_speakers:
        return _Ranked(ranked)
    return _with_meant(ranked, query, cues, evidence, postings, filtered, reader)


def _bearing(query: Query, cues: Cues, evidence: Evidence, reader: TurnReader) -> frozenset[int]:
    """The standing instructions that have a word of the question, or are near to it in meaning."""
    worded = frozenset(place for place in cues.rules if any(place in match.strengths for match in evidence.matches))
    if worded == cues.rules:
        return worded
    meaning = Meaning(without_excluded(query.text), cues.names, SENTENCES)
    texts = reader.texts(cues.rules - worded)
    return worded | {place for place, text in texts.items() if meaning.nearness(text) >= LEAST_BEARING}


def _readings(
    query: Query, meaning: Meaning | None, texts: Mapping[int, str], marks: Mapping[int, Mark], reader: TurnReader
) -> dict[int, Reading]:
    """What the texts say; of words that nobody asks with, no more than which of them only ask or tell again."""
    # Long words of theirs tell something, whatever is done behind them.
    looked_up = reader.looked_up(
        place for place, text in texts.items() if len(text) <= LONGEST_QUESTION or not is_said(marks[place].marks)
    )
    retold = reader.retold(place for place in texts if is_said(marks[place].marks))

    def asks(place: int, text: str) -> bool:
        whose = looked_up.get(place)
        if whose == "assistant" or (whose == "user" and is_short_question(text)):
            return True
        return query.is_question and asks_the_same(text, query)

    return {
        place: Reading(
            nearness=meaning.nearness(text) if meaning else 0.0,
            reacts=meaning is not None and reacts(text),
            asks=asks(place, text),
            retells=place in retold,
        )
        for place, text in texts.items()
    }


def _with_meant(
    ranked: Sequence[tuple[int, float]],
    query: Query,
    cues: Cues,
    evidence: Evidence,
    postings: Postings,
    filtered: Filter,
    reader: TurnReader,
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
    # Of what was said in the same words the newest: the places are few.
    newest = {text: place for place, text in sorted(reader.texts(marks).items())}
    readings = _readings(query, meaning, {place: text for text, place in newest.items()}, marks, reader)
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


def _hits(ranked: _Ranked, query: Query, limit: int, reader: TurnReader, filtered: Filter) -> Iterator[SearchHit]:
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
