"""The turns of a term in a scope that has others' turns between its own: walked past, or leapt over."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

PATIENCE = 64
"""Turns of others that are walked past in one gap for each term that is looked up: as many cost as much as asking for
the term anew behind the gap, some 25 µs."""
LEAST_PATIENCE = 4

Stretch = tuple[int, int]
"""A first and a last place."""
Between = Callable[[int, int], Iterator[int]]
"""Gives the places from a first to a last one, the newest first, as they are taken."""


def within(stretches: Sequence[Stretch], between: Between, terms: int = 1) -> Iterator[int]:
    """The places within any of the stretches (which come the newest first), the newest first; `terms` is how many are
    asked for at once.

    How many turns a gap has is not known before it is walked through. Who gives up after as many steps as a leap
    costs pays at most twice what the better of both would have cost; where one gap was wide, the next one likely is.
    """
    if not stretches:
        return
    first, patience = stretches[-1][0], PATIENCE * terms
    begins = [-stretch[0] for stretch in stretches]
    at, passed = 0, 0
    while True:
        begin, end = stretches[at]
        for place in between(first, end):
            if place < begin:
                at = bisect_left(begins, -place, at)
                begin, end = stretches[at]
            if place <= end:
                if passed:
                    passed, patience = 0, min(2 * patience, PATIENCE * terms)
                yield place
            else:
                passed += 1
                if passed >= patience:
                    break
        else:
            return
        passed, patience = 0, max(patience // 2, LEAST_PATIENCE * terms)
