"""Which turns are worth ranking: those with the most rare words."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import accumulate

from loom.archive.search.evidence import Evidence, Match
from loom.archive.search.ranking import is_allowed

POOL = 300
"""Turns that are ranked."""
_LARGE = 1_000
"""Turns of a match from which on it is worth knowing whether it can still bring new ones."""


def pool_of(
    evidence: Evidence, passing: Callable[[Collection[int]], Iterable[int]] | None, limit: int = POOL
) -> list[int]:
    """The places worth ranking of those that pass the filters (all, if None): by the summed weight of what they
    have, the best first, the newest first among equals. `passing` is asked for some places at a time."""
    everything = passing is None and evidence.required is None and not evidence.forbidden
    scores = _scores(evidence.matches, limit if everything else None)
    if everything:
        return next(_best(scores, limit), [])[:limit]
    pool: list[int] = []
    for group in _best(scores, limit):
        allowed = [place for place in group if is_allowed(place, evidence)]
        kept = allowed if passing is None else frozenset(passing(allowed))
        pool += [place for place in allowed if place in kept]
        if len(pool) >= limit:
            break
    return pool[:limit]


def _scores(matches: Sequence[Match], limit: int | None) -> dict[int, float]:
    """The summed weights by place; with a limit, only of places that can be among so many best."""
    ordered = sorted(matches, key=lambda match: -match.weight)
    # What a turn can still get from a match on: one that has nothing so far cannot get more.
    ahead = [*accumulate(match.weight * max(match.strengths.values()) for match in reversed(ordered))][::-1]
    scores: dict[int, float] = {}
    for match, reachable in zip(ordered, ahead, strict=True):
        weight, strengths = match.weight, match.strengths
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
