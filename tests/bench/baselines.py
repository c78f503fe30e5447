"""What `tests.bench.recall` measures loom beside: what SQLite offers, and the usual re-ranking of what it finds.

Each is written to its textbook form in as few lines as it takes, and kept apart from loom's own ranking: of that only
the stop words and the stemmer of the last one are shared.
"""

from __future__ import annotations

import calendar
import math
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path

from loom.archive.search.stems import stem
from loom.archive.search.stopwords import STOP_STEMS

Search = Callable[[str, str, int], Awaitable[list[int]]]
"""Session, query, limit: turn numbers, best first."""

POOL = 600
"""Turns that FTS5 finds and that are ranked again."""
BESIDE = {1: 0.35, 2: 0.12}
"""What a turn inherits of the score of one that is so many turns away, in the same sitting."""
SITTING_GAP = 4 * 3600
"""Seconds."""
K1, B = 1.0, 0.6
USER, TOOL, SPEAKER, SITTING, COVERAGE = 1.6, 0.8, 1.5, 0.5, 0.5
"""Times the score: of the user's words, of a tool's, of whoever is asked about; for the sitting that matches best, and
for a turn that has all of the words."""
LITERAL = 6.0
"""What a name is worth that is found as it stands, times its rarity; half of it within a longer name."""
ALIKE = 0.8
"""From which similarity on a name is taken for a mistyped one."""
MONTHS = (*map(str.lower, calendar.month_name[1:]),)

NAME, CODED = re.compile(r"[\w./:-]*\w"), re.compile(r"[_./\d-]|[a-z][A-Z]")
"""A name, and what one has that looks like code."""


def with_parts(text: str) -> str:
    """The text, and behind it the words inside its identifiers."""
    names = re.findall(r"\b\w*(?:[a-z][A-Z]|_)\w*", text)
    return " ".join([text, *(part for name in names for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", name))])


def words_in(text: str) -> list[str]:
    """The words of a query as FTS5 splits them, without stop words as long as others remain."""
    words = re.findall(r"\w+", text.lower())
    return [word for word in words if word not in STOP_STEMS] or words


@dataclass(frozen=True)
class Turn:
    number: int
    role: str
    at: datetime
    text: str


class Session:
    """The turns of a session in their order, with what the re-ranking reads of them."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = turns

    @cached_property
    def place_of(self) -> Mapping[int, int]:
        return {turn.number: place for place, turn in enumerate(self.turns)}

    @cached_property
    def lowered(self) -> Sequence[str]:
        return [turn.text.lower() for turn in self.turns]

    @cached_property
    def stems(self) -> Sequence[Counter[str]]:
        texts = (with_parts(turn.text).lower() for turn in self.turns)
        return [Counter(stem(word) for word in re.findall(r"\w+", text)) for text in texts]

    @cached_property
    def mean_length(self) -> float:
        return sum(map(len, self.stems)) / max(1, len(self.stems))

    @cached_property
    def frequency(self) -> Counter[str]:
        """In how many turns each stem stands."""
        return Counter(word for stems in self.stems for word in stems)

    @cached_property
    def sittings(self) -> Sequence[int]:
        numbers, sitting, last = [], 0, None
        for turn in self.turns:
            if last is not None and abs((turn.at - last).total_seconds()) > SITTING_GAP:
                sitting += 1
            last = turn.at
            numbers.append(sitting)
        return numbers

    @cached_property
    def names(self) -> Mapping[str, list[int]]:
        """What looks like code, and where it stands."""
        places: defaultdict[str, list[int]] = defaultdict(list)
        for place, turn in enumerate(self.turns):
            for name in set(filter(CODED.search, NAME.findall(turn.text))):
                places[name.lower()].append(place)
        return places

    def beside(self, scores: Mapping[int, float]) -> dict[int, float]:
        """The scores, by place, with what turns inherit from those beside them."""
        summed: defaultdict[int, float] = defaultdict(float, scores)
        for place, score in scores.items():
            for distance, share in BESIDE.items():
                for other in (place - distance, place + distance):
                    if 0 <= other < len(self.turns) and self.sittings[other] == self.sittings[place]:
                        summed[other] += share * score
        return dict(summed)


class Baselines:
    """The turns of an archive in a database of SQLite's own, and ways to search it."""

    def __init__(self, archive: Path, folder: Path, ids: Mapping[str, str]) -> None:
        self._plain = sqlite3.connect(folder / "baseline.db")
        self._plain.execute("CREATE TABLE turns (id INTEGER PRIMARY KEY, session TEXT, number INTEGER, content TEXT)")
        for table in ("terms", "wider"):
            create = f"CREATE VIRTUAL TABLE {table} USING fts5(content, content='', tokenize='porter unicode61')"
            self._plain.execute(create)
        self._ids = ids
        turns: defaultdict[str, list[Turn]] = defaultdict(list)
        with closing(sqlite3.connect(archive)) as rows:
            sql = "SELECT session_id, turn_number, content, role, created_at FROM conversation_turns ORDER BY id"
            for id_, (session, number, content, role, at) in enumerate(rows.execute(sql)):
                self._plain.execute("INSERT INTO turns VALUES (?, ?, ?, ?)", (id_, session, number, content))
                text = content or ""
                self._plain.execute("INSERT INTO terms (rowid, content) VALUES (?, ?)", (id_, text))
                self._plain.execute("INSERT INTO wider (rowid, content) VALUES (?, ?)", (id_, with_parts(text)))
                turns[session].append(Turn(number, role, datetime.fromisoformat(at), text))
        self._plain.commit()
        self._sessions = {session: Session(found) for session, found in turns.items()}

    def all(self) -> dict[str, Search]:
        return {
            "LIKE": self.like,
            "FTS5 porter, any word": self.porter,
            "FTS5 with neighbours": self.with_neighbours,
            "FTS5 ranked again": self.ranked_again,
        }

    async def like(self, session: str, query: str, limit: int) -> list[int]:
        sql = "SELECT number FROM turns WHERE session = ? AND content LIKE '%' || ? || '%' ORDER BY number DESC LIMIT ?"
        return [row[0] for row in self._plain.execute(sql, (self._ids[session], query, limit))]

    async def porter(self, session: str, query: str, limit: int) -> list[int]:
        """Any of the words, by FTS5's own bm25."""
        return [number for number, _ in self._found(session, query, limit)]

    async def with_neighbours(self, session: str, query: str, limit: int) -> list[int]:
        """The same with what turns inherit from those beside them."""
        within = self._sessions[self._ids[session]]
        found = {within.place_of[number]: score for number, score in self._found(session, query, POOL)}
        return best(within, within.beside(found), limit)

    async def ranked_again(self, session: str, query: str, limit: int) -> list[int]:
        """FTS5's first turns by BM25 of our own, names as they stand, neighbours, sitting, coverage, speaker, date."""
        within = self._sessions[self._ids[session]]
        pool = [within.place_of[number] for number, _ in self._found(session, query, POOL, "wider")]
        scores = within.beside(by_words(within, pool, query))
        boosted = by_sitting(within, scores)
        for place, worth in by_names(within, query).items():
            boosted[place] = boosted.get(place, 0.0) + worth
        factor = Asked(query).factor
        return best(within, {place: score * factor(within.turns[place]) for place, score in boosted.items()}, limit)

    def _found(self, session: str, query: str, limit: int, table: str = "terms") -> list[tuple[int, float]]:
        words = words_in(query)
        if not words:
            return []
        sql = (
            f"SELECT number, -bm25({table}) FROM {table} CROSS JOIN turns ON turns.id = {table}.rowid"
            f" WHERE {table} MATCH ? AND session = ? ORDER BY bm25({table}) LIMIT ?"
        )
        return self._plain.execute(
            sql, (" OR ".join(f'"{word}"' for word in words), self._ids[session], limit)
        ).fetchall()


def best(within: Session, scores: Mapping[int, float], limit: int) -> list[int]:
    ordered = sorted(scores, key=lambda place: (-scores[place], -place))
    return [within.turns[place].number for place in ordered[:limit]]


def by_words(within: Session, pool: Sequence[int], query: str) -> dict[int, float]:
    """BM25 with more for a turn that has many of the words."""
    wanted = {stem(word) for word in words_in(query)}
    count = len(within.turns)
    rarity = {word: math.log(1 + (count - n + 0.5) / (n + 0.5)) for word in wanted if (n := within.frequency[word])}
    total = sum(rarity.values()) or 1.0
    scores = {}
    for place in pool:
        stems = within.stems[place]
        length = K1 * (1 - B + B * len(stems) / within.mean_length)
        there = [word for word in rarity if word in stems]
        score = sum(rarity[word] * stems[word] * (K1 + 1) / (stems[word] + length) for word in there)
        scores[place] = score * (1 + COVERAGE * sum(rarity[word] for word in there) / total)
    return scores


def by_sitting(within: Session, scores: Mapping[int, float]) -> dict[int, float]:
    """The scores with more for the turns of a sitting that matches as a whole."""
    sums: defaultdict[int, float] = defaultdict(float)
    for place, score in scores.items():
        sums[within.sittings[place]] += score
    most = max(sums.values(), default=1.0) or 1.0
    return {place: score * (1 + SITTING * sums[within.sittings[place]] / most) for place, score in scores.items()}


def by_names(within: Session, query: str) -> dict[int, float]:
    """What the query has of code, and the query as it stands: where it is found, what that is worth."""
    quoted = re.findall(r"[`\"']([^`\"']{2,})[`\"']", query)
    coded = filter(CODED.search, NAME.findall(query))
    scores: defaultdict[int, float] = defaultdict(float)
    for wanted in {name.lower() for name in (*quoted, *coded, query.strip()) if len(name) > 1}:
        places = [place for place, text in enumerate(within.lowered) if wanted in text]
        if not places:
            places = alike(within, wanted)
        if not places:
            continue
        worth = LITERAL * math.log(1 + len(within.turns) / len(places))
        whole = re.compile(rf"(?<!\w){re.escape(wanted)}(?!\w)")
        for place in places:
            scores[place] += worth * (1.0 if whole.search(within.lowered[place]) else 0.5)
    return scores


def alike(within: Session, wanted: str) -> list[int]:
    """Where the names stand that are most like one that is nowhere."""
    matcher = SequenceMatcher(b=wanted, autojunk=False)
    nearest: list[int] = []
    most = ALIKE
    for name, places in within.names.items():
        matcher.set_seq1(name)
        if matcher.real_quick_ratio() >= most and matcher.quick_ratio() >= most and (ratio := matcher.ratio()) >= most:
            nearest, most = ([*nearest, *places], most) if ratio == most else (places, ratio)
    return nearest


class Asked:
    """Who and when a question is about."""

    def __init__(self, query: str) -> None:
        lowered = query.lower()
        self._role = (
            "user" if re.search(r"\b(did|have|do|was|am) i\b|\bmy\b", lowered)
            else "assistant" if re.search(r"\b(did|have) you\b", lowered)
            else None
        )  # fmt: skip
        self._names = [name.lower() for name in re.findall(r"(?<=\s)[A-Z][a-z]+", query)]
        self._months = {i + 1 for i, month in enumerate(MONTHS) if re.search(rf"\b{month}\b", lowered)}

    def factor(self, turn: Turn) -> float:
        factor = USER if turn.role == "user" and not self._names else TOOL if turn.role == "tool" else 1.0
        if self._role == turn.role:
            factor *= SPEAKER
        if any(turn.text.lower().startswith(f"{name}:") for name in self._names):
            factor *= SPEAKER
        return factor * (SPEAKER if turn.at.month in self._months else 1.0)
