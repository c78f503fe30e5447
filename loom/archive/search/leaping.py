"""The turns of a term in a scope that has others' turns between its own: walked past, or leapt over."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from operator import neg

FIRST = 128
"""Turns that are read at first for each term that is looked up, others' among them: half of what asking anew costs,
which is 50 µs."""
LEAST, MOST = 32, 4_096
"""Turns that are read at once, later on; more of what it costs more to ask for anew."""

Stretch = tuple[int, int]
"""A first and a last place."""
Read = Callable[[int, int, int], Sequence[int]]
"""Gives the places from a first to a last one, the newest first: as many as the third number says, or all."""


def within(stretches: Sequence[Stretch], read: Read, *, wanted: int, terms: int = 1) -> Iterator[Sequence[int]]:
    """The places within any of the stretches (which come the newest first), the newest first, in pieces that are read
    when they are taken. `wanted` is how many are needed, as far as is known; `terms` how many are asked for at once.

    Each reading goes on where the last one ended, or with the next stretch if that was between two. How many turns
    there are between them is not known before they are read: where one gap was wide the next one likely is, and no
    more is read than the stretch before had; where they are narrow, they are read in one go.
    """
    if not stretches:
        return
    begins = [-stretch[0] for stretch in stretches]
    first, last = stretches[-1][0], stretches[0][1]
    most = max(MOST, 4 * FIRST * terms, wanted)
    size = max(1, wanted) if len(stretches) == 1 else min(FIRST * terms, most)
    at, left = 0, wanted
    while True:
        places = read(first, last, size)
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
        if places[-1] > end and met < 2:
            likely = 2 * len(kept)
        else:
            likely = min(3 * size, left * size // len(kept) + LEAST if kept and left > 0 else most)
        size = min(max(likely, LEAST * terms), most)
