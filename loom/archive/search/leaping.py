"""The turns of a term in a scope that has others' turns between its own: walked past, or leapt over."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from operator import neg
from typing import Protocol

FIRST = 128
"""Turns that are read at first for each term that is looked up, others' among them: as much as a leap or two cost."""
LEAST, MOST = 32, 4_096
"""Turns that are read at once, later on; more of what it costs more to ask for anew."""
LEAP = 64
"""Others' turns for each stretch, and each term, from which on it is quicker to leap."""
AT_ONCE, TOGETHER = 4_096, 64
"""Turns that stretches which are leapt to have together, at most, and how many stretches these are."""

Stretch = tuple[int, int]
"""A first and a last place."""


class Lookup(Protocol):
    """What is looked up."""

    def newest(self, first: int, last: int, limit: int) -> list[int]:
        """The places from a first to a last one, the newest first: so many, or all."""

    def all_within(self, stretches: Sequence[Stretch]) -> list[int]:
        """All places within stretches, the newest first: 25 µs for each stretch, where `newest` takes 100."""


def within(
    stretches: Sequence[Stretch],
    lookup: Lookup,
    turns_in: Callable[[Stretch], int],
    *,
    wanted: int,
    terms: int = 1,
    leaps: bool = False,
) -> Iterator[Sequence[int]]:
    """The places within any of the stretches (which come the newest first), the newest first, in pieces that are read
    when they are taken. `wanted` is how many are needed, as far as is known; `terms` how many are asked for at once.

    Each reading goes on where the last one ended, or with the next stretch if that was between two. How many turns
    there are between them is not known before they are read: where one gap was wide the next ones likely are, and
    they are leapt over; where they are narrow, they are read in one go. With `leaps` they are wide.
    """
    if not stretches:
        return
    begins = [-stretch[0] for stretch in stretches]
    first, last = stretches[-1][0], stretches[0][1]
    most = max(MOST, 4 * FIRST * terms, wanted)
    size = max(1, wanted) if len(stretches) == 1 else FIRST if leaps else min(FIRST * terms, most)
    at, left = 0, wanted
    while True:
        places = lookup.newest(first, last, size)
        kept: list[int] = []
        start, met = 0, 0
        while start < len(places):
            at = bisect_left(begins, -places[start], at)
            begin, end = stretches[at]
            start = bisect_left(places, -end, start, key=neg)
            behind = bisect_right(places, -begin, start, key=neg)
            met += behind > start
            kept += places[start:behind]
            start = behind
        yield kept
        if len(places) < size:
            return
        begin, end = stretches[at]
        last = min(places[-1] - 1, end)
        left -= len(kept)
        if len(stretches) > 1 and (leaps or len(places) - len(kept) > LEAP * terms * max(1, met)):
            break
        likely = min(3 * size, left * size // len(kept) + LEAST if kept and left > 0 else most)
        size = min(max(likely, LEAST * terms), most)
    yield from _leaping(stretches[at:], last, lookup, turns_in, max(left, LEAST))


def _leaping(
    stretches: Sequence[Stretch], last: int, lookup: Lookup, turns_in: Callable[[Stretch], int], wanted: int
) -> Iterator[Sequence[int]]:
    """The places of stretches, up to a last one: `wanted` at once of a long stretch, all at once of short ones."""
    short: list[Stretch] = []
    turns = 0
    for stretch in stretches:
        size = turns_in(stretch)
        if short and (turns + size > AT_ONCE or len(short) == TOGETHER):
            yield lookup.all_within(short)
            short, turns = [], 0
        first, end = stretch[0], min(stretch[1], last)
        if size <= AT_ONCE:
            short.append((first, end))
            turns += size
            continue
        while len(places := lookup.newest(first, end, wanted)) == wanted:
            yield places
            end = places[-1] - 1
        yield places
    if short:
        yield lookup.all_within(short)
