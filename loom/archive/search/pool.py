"""Which turns are worth ranking: those with the most rare words."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import accumulate

from loom.archive.search.evidence import Evidence

POOL = 200
"""Turns that are ranked; more where more are asked for."""
_LARGE = 1_000
"""Turns of a match from which on it is worth knowing whether it can still bring new ones."""


def pool_of(evidence: Evidence, passing: Callable[[Collection[int]], Iterable[int]] | None, limit: int) -> list[int]:
    """The places worth ranking of those that pass the filters (all, if None): by the summed weight of what they
    have, the best first, the newest first among equals. `passing` is asked for some places at a time."""
    matches = [(match.weight, _allowed(match.strengths, evidence)) for match in evidence.matches]
    scores = _scores(matches, limit if passing is None else None)
    if passing is None:
        return _first(scores, limit)
    pool: list[int] = []
    for group in _best(scores, limit):
        kept = frozenset(passing(group))
        pool += [place for place in group if place in kept]
        if len(pool) >= limit:
            break
    return pool[:limit]


def _allowed(strengths: Mapping[int, float], evidence: Evidence) -> Mapping[int, float]:
    """Of a match's places those that may be hits."""
    required, forbidden = evidence.required, evidence.forbidden
    if required is not None:
        return {place: strengths[place] for place in required if place in strengths and place not in forbidden}
    if forbidden.isdisjoint(strengths):
        return strengths
    return {place: strengths[place] for place in strengths.keys() - forbidden}


def _scores(matches: Iterable[tuple[float, Mapping[int, float]]], limit: int | None) -> dict[int, float]:
    """The summed weights by place; with a limit, only of places that can be among so many best."""
    ordered = sorted((match for match in matches if match[1]), key=lambda match: -match[0])
    # What a turn can still get from a match on: one that has nothing so far cannot get more.
    most = [weight * max(strengths.values()) for weight, strengths in reversed(ordered)]
    ahead = [*accumulate(most)][::-1]
    scores: dict[int, float] = {}
    for (weight, strengths), reachable in zip(ordered, ahead, strict=True):
        if not scores:
            scores = {place: weight * strength for place, strength in strengths.items()}
            continue
        if limit is not None and len(strengths) >= _LARGE and len(scores) >= limit:
            least = heapq.nlargest(limit, scores.values())[-1]
            if least > reachable:
                for place in scores.keys() & strengths.keys():
                    scores[place] += weight * strengths[place]
                continue
        get = scores.get
        for place, strength in strengths.items():
            scores[place] = get(place, 0.0) + weight * strength
    return scores


def _first(scores: Mapping[int, float], size: int) -> list[int]:
    """The first `size` of `_best`. Of common words thousands of turns have as much as the last of these."""
    if not scores:
        return []
    least = heapq.nlargest(size, scores.values())[-1]
    best = [place for place, score in scores.items() if score > least]
    best.sort(reverse=True)
    best.sort(key=scores.__getitem__, reverse=True)
    equals = (place for place, score in scores.items() if score == least)
    return best + heapq.nlargest(size - len(best), equals)


def _best(scores: dict[int, float], size: int) -> Iterator[list[int]]:
    """The places in groups of `size`, the best first and in order. The first group is all that most queries need, and
    costs no sorting of the others; who takes more of them, where most do not pass a filter, likely takes many."""
    several = size
    while scores:
        least = heapq.nlargest(several, scores.values())[-1]
        several *= 4
        best = [place for place, score in scores.items() if score >= least]
        best.sort(reverse=True)
        best.sort(key=scores.__getitem__, reverse=True)
        for start in range(0, len(best), size):
            yield best[start : start + size]
        scores = {place: score for place, score in scores.items() if score < least}
