"""The order of the turns found: pure, from evidence, marks and cues.

Each figure was chosen on labelled conversations (tests/bench/recall.py) and is a round number on a plateau, not a
fit: what it stands for is said beside it.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest

from loom.archive.search.cues import Cues
from loom.archive.search.dates import closeness
from loom.archive.search.document import TURN_BITS
from loom.archive.search.evidence import Evidence
from loom.archive.search.marks import LONG_QUESTION, NUMBER, PREFERENCE, QUESTION, TIME, role_of
from loom.archive.search.matches import Match
from loom.archive.search.neighbours import STEPS, Neighbours
from loom.archive.search.postings import Mark

SPREADING = 100
"""The best of those that are ranked: only their neighbours are looked at, too."""

K1, B = 1.0, 0.3
"""BM25 over presence: a word that a turn repeats says no more; a long turn is held against it a little."""
COVERAGE = 0.5
"""On top for a turn that has all of the query's words."""
ADDED = (1.0, 0.35, 0.12, 0.0)
"""What a turn inherits of the score of the turn beside it, and of the one after that, in the same sitting."""
AROUND = (1.0, 0.5, 0.25, 0.12)
"""How well a word of the turn one, two, three steps away stands for one of the turn's own."""
_SHARES = {step: (ADDED[abs(step)], AROUND[abs(step)]) for step in STEPS}
ANSWER = 0.5
"""What the turn after a short question inherits on top: there stands the answer."""
ASKING = 0.3
"""What a short question loses: it asks, it does not tell. A paragraph that ends with a question does both."""
SITTING_GAP = 4 * 3600
"""Seconds without a turn that end a sitting."""
SITTING = 1.0
"""On top for a turn of the sitting that matches best; the square of the share for other sittings."""
SITTING_HALF = 2
"""Turns with a word that make a sitting half about it."""
SPEAKER, OTHER_SPEAKER, OTHER_ROLE = 0.5, 0.4, 0.2
"""On top for who is likely to have said it; off for the others, more where a name says it than where `did I` does."""
DATE = 2.0
"""On top for a turn of the day or month that is named, less for those near it."""
SAYS_WHEN, SAYS_HOW_MANY = 0.4, 0.3
"""On top for a turn that has the kind of thing that is asked for."""
USER = 1.0
"""On top for what the user said, where nobody is named: their words are few and decide."""
TOOL = 0.0
PREFERS = 0.3
STANDING_RULE, MOST_RULES = 0.45, 3
"""What a standing instruction of the user gets of the best score where a question asks for something to be done or
told, of the tenth where nothing shows that it has to do with that, and how many get it: those nearest to what is asked,
the newest among equals. All of them would fill the page."""
NAMED = 0.25
"""What is left of the weight of a word that only names the speaker: it has chosen whose turns count for more."""
MEANING, UNRELATED = 0.8, 0.1
"""What a turn gets for being near in meaning, times the cosine above that of turns about something else; of the score
of the tenth turn, so that the first few, where they stand far out, stay what they are."""
MEANT_AT = 10
REACTION = 0.2
"""What a turn loses that begins with thanks or praise."""
ASKED_BEFORE = 0.5
"""What a turn loses that asks the same and tells nothing."""
RETOLD = 0.3
"""What a turn loses that tells what the model had just looked up: where it was said first comes before it."""
FIRST, FIRST_BY_WORDS = 5, 3
"""Of the first five turns at most three are there for their words, the others for being the nearest in meaning of all
that was said: what is asked for in quite other words comes nowhere by its words. Adding both scores up brings either
few of these or loses more of the others."""
LEAST_NEAR = 0.25
"""The cosine below which a turn is not near: of 12,000 questions with a turn about something else one in ninety has
more."""


_Spread = list[tuple[int, float]]
"""For which turns a word of one counts, and how much."""


def is_allowed(place: int, evidence: Evidence) -> bool:
    """Whether a turn may be a hit at all."""
    return place not in evidence.forbidden and (evidence.required is None or place in evidence.required)


def rank(
    evidence: Evidence, marks: Mapping[int, Mark], neighbours: Neighbours, cues: Cues, *, mean_characters: float
) -> list[tuple[int, float]]:
    """The turns of `marks` with their scores, best first, the newest first among equals.

    `marks` has the pool and the turns beside it; only turns of it can be found.
    """
    matches = [_within(match, marks, cues) for match in evidence.matches]
    words = [match for match in matches if not match.literal]
    own = _own_scores(words, marks, mean_characters, evidence.total)
    sittings = _sittings(marks)
    scores, spreads = _smoothed(own, marks, neighbours, sittings, mean_characters)
    for place, score in _around(words, spreads, evidence.total).items():
        scores[place] = (scores[place] + score) / 2
    boosts = {sitting: 1 + SITTING * share**2 for sitting, share in _sitting_shares(words, sittings).items()}
    boost, factor = boosts.get, _Factors(cues).of
    scores = {
        place: score * (boost(sittings[place], 1.0) * factor(place, marks[place])) for place, score in scores.items()
    }
    for match in matches:
        if match.literal:
            for place, strength in match.strengths.items():
                scores[place] += match.weight * strength
    best = max(scores.values(), default=0.0)
    tenth = min(nlargest(MEANT_AT, (score for score in scores.values() if score > 0)), default=0.0)
    nearest = sorted(cues.rules & marks.keys(), key=lambda place: (place not in cues.bearing, -scores[place], -place))
    for place in nearest[:MOST_RULES]:
        scores[place] += STANDING_RULE * (best if place in cues.bearing else tenth)
    if evidence.is_lookup:
        bearing = {place for match in evidence.matches for place in match.strengths}
        scores = {place: score for place, score in scores.items() if place in bearing}
    found = [
        (-score, -marks[place].at, -place)
        for place, score in scores.items()
        if score > 0 and is_allowed(place, evidence)
    ]
    return [(-place, -score) for score, _, place in sorted(found)]


@dataclass(frozen=True, slots=True)
class Reading:
    """What the text of a turn says about how well it answers a question."""

    nearness: float
    """In meaning, -1 to 1."""
    reacts: bool
    """It begins with thanks or praise for what was said before."""
    asks: bool = False
    """It asks the same, or what was looked up then, or says that it will be."""
    retells: bool = False
    """It tells what was looked up right before."""

    @property
    def telling(self) -> float:
        """How much of its score such a turn keeps."""
        return (1 - REACTION * self.reacts) * (1 - ASKED_BEFORE * self.asks) * (1 - RETOLD * self.retells)


def reread(
    ranked: Sequence[tuple[int, float]], readings: Mapping[int, Reading], marks: Mapping[int, Mark], cues: Cues
) -> list[tuple[int, float]]:
    """The ranked turns with their scores, best first, once the texts of the best of them are read; turns without a
    reading keep their score."""
    if not ranked:
        return []
    most = MEANING * ranked[:MEANT_AT][-1][1]
    factor = _Factors(cues).of

    def score(place: int, found: float) -> float:
        reading = readings.get(place)
        if reading is None:
            return found
        near = max(0.0, reading.nearness - UNRELATED)
        return (found + most * near * factor(place, marks[place])) * reading.telling

    scored = [(place, score(place, found)) for place, found in ranked]
    asking = {place for place, reading in readings.items() if reading.asks}
    # Whatever of it stands there word for word: the best that tells something comes before it.
    told = max((found for place, found in scored if place not in asking), default=math.inf)
    scored = [(place, min(found, told) if place in asking else found) for place, found in scored]
    return sorted(scored, key=lambda item: (-item[1], item[0] in asking))


def meant(
    ranked: Sequence[tuple[int, float]], readings: Mapping[int, Reading], marks: Mapping[int, Mark], cues: Cues
) -> list[int]:
    """The turns that come among the first five for what they mean, best first: of those with readings the nearest
    that are not there for their words."""
    there = {place for place, _ in ranked[:FIRST_BY_WORDS]}
    factor = _Factors(cues).of

    def standing(place: int) -> float:
        reading = readings[place]
        return reading.nearness * factor(place, marks[place]) * reading.telling

    near = [place for place in readings.keys() - there if readings[place].nearness >= LEAST_NEAR]
    return sorted(near, key=lambda place: (-standing(place), -place))[: FIRST - len(there)]


def _within(match: Match, marks: Mapping[int, Mark], cues: Cues) -> Match:
    """The match as far as it is about the ranked turns, and with what a word weighs that only names the speaker."""
    strengths = match.strengths
    if len(marks) < len(strengths):
        kept = {place: strengths[place] for place in marks if place in strengths}
    else:
        kept = {place: strength for place, strength in strengths.items() if place in marks}
    return replace(match, strengths=kept, weight=match.weight * (NAMED if match.key in cues.names else 1))


def _own_scores(
    words: Sequence[Match], marks: Mapping[int, Mark], mean_characters: float, total: float
) -> dict[int, float]:
    sums: defaultdict[int, float] = defaultdict(float)
    for match in words:
        for place, strength in match.strengths.items():
            sums[place] += match.weight * strength
    own = {}
    for place, value in sums.items():
        own[place] = value * _by_length(marks[place], mean_characters) * (1 + COVERAGE * value / (total or 1))
    return own


def _by_length(mark: Mark, mean_characters: float) -> float:
    length = mark.characters / max(1.0, mean_characters)
    return (K1 + 1) / (1 + K1 * (1 - B + B * length))


def _sittings(marks: Mapping[int, Mark]) -> dict[int, int]:
    """The sitting of each place, numbered: a gap of hours or another session starts a new one."""
    numbers: dict[int, int] = {}
    sitting, key, last = 0, -1, 0
    for place in sorted(marks):
        at = marks[place].at
        if place >> TURN_BITS != key or abs(at - last) > SITTING_GAP:
            key = place >> TURN_BITS
            sitting += 1
        last = at
        numbers[place] = sitting
    return numbers


def _smoothed(
    own: Mapping[int, float],
    marks: Mapping[int, Mark],
    neighbours: Neighbours,
    sittings: Mapping[int, int],
    mean_characters: float,
) -> tuple[dict[int, float], dict[int, _Spread]]:
    """The scores with what turns inherit from those beside them, and for which turns the words of each count."""
    scores = dict.fromkeys(marks, 0.0)
    spreads: dict[int, _Spread] = {}
    sitting_of = sittings.get
    for place, value in own.items():
        mark, sitting = marks[place], sittings[place]
        length, telling = _by_length(mark, mean_characters), _telling(mark.marks)
        scores[place] += value * telling
        spreads[place] = reached = [(place, length * telling)]
        for step, other in neighbours.of(place):
            if sitting_of(other) == sitting:
                added, around = _SHARES[step]
                if step == 1:
                    answer = _answer(mark, marks[other])
                    added, around = added + answer, around + answer
                scores[other] += value * added
                reached.append((other, length * around))
    return scores, spreads


def _around(words: Sequence[Match], spreads: Mapping[int, _Spread], total: float) -> dict[int, float]:
    """The score of each turn as a part of its surroundings: each word counts once, as near as it stands.

    Beside `_smoothed`, which adds up scores: a subject that goes through many turns does not lift each of them, and
    words that stand apart in a question and its answer come together.
    """
    sums: defaultdict[int, float] = defaultdict(float)
    covered: defaultdict[int, float] = defaultdict(float)
    for match in words:
        weight = match.weight
        nearest: dict[int, float] = {}
        nearest_to = nearest.get
        for place, strength in match.strengths.items():
            for other, share in spreads[place]:
                value = strength * share
                if value > nearest_to(other, 0.0):
                    nearest[other] = value
        for place, value in nearest.items():
            found = weight * value
            sums[place] += found
            covered[place] += found if value < 1.0 else weight
    return {place: value * (1 + COVERAGE * covered[place] / (total or 1)) for place, value in sums.items()}


def _answer(mark: Mark, following: Mark) -> float:
    """What the turn behind a question inherits on top, if it is the other side's."""
    asking = _asking(mark.marks)
    return ANSWER * asking if asking and role_of(mark.marks) != role_of(following.marks) else 0.0


def _telling(marks: int) -> float:
    return 1 - ASKING if marks & QUESTION else 1.0


def _asking(marks: int) -> float:
    return 1.0 if marks & QUESTION else 0.5 if marks & LONG_QUESTION else 0.0


def _sitting_shares(words: Sequence[Match], sittings: Mapping[int, int]) -> dict[int, float]:
    """How well each sitting as a whole matches, against the one that matches best."""
    sums: defaultdict[int, float] = defaultdict(float)
    for match in words:
        for sitting, count in Counter(map(sittings.__getitem__, match.strengths)).items():
            sums[sitting] += match.weight * count / (count + SITTING_HALF)
    best = max(sums.values(), default=0.0) or 1.0
    return {sitting: value / best for sitting, value in sums.items()}


class _Factors:
    """What the cues make of a turn's score."""

    def __init__(self, cues: Cues) -> None:
        self._cues = cues
        self._by_marks: dict[tuple[int, bool], float] = {}

    def of(self, place: int, mark: Mark) -> float:
        said, dates = self._cues.said, self._cues.dates
        key = mark.marks, said is not None and place in said
        factor = self._by_marks.get(key)
        if factor is None:
            factor = self._by_marks[key] = _mark_factor(*key, self._cues)
        return factor * (1 + DATE * max(closeness(cue, mark.at) for cue in dates)) if dates else factor


def _mark_factor(marks: int, is_speakers: bool, cues: Cues) -> float:
    factor = 1.0
    role = role_of(marks)
    if cues.said is not None:
        factor *= 1 + SPEAKER if is_speakers else 1 - OTHER_SPEAKER
    elif cues.role is not None:
        factor *= 1 + SPEAKER if role == cues.role else 1 - (OTHER_SPEAKER if cues.names else OTHER_ROLE)
    if not cues.names and cues.role is None:
        factor *= 1 + USER if role == "user" else 1 + TOOL if role == "tool" else 1
    if cues.wants_time and marks & TIME:
        factor *= 1 + SAYS_WHEN
    if cues.wants_number and marks & NUMBER:
        factor *= 1 + SAYS_HOW_MANY
    if cues.wants_advice and marks & PREFERENCE:
        factor *= 1 + PREFERS
    return factor
