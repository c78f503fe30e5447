"""Which turns stand beside which.

What one says to the other stands beside what is said next and beside nothing else, however many calls and results lie
between a question and its answer; a call, a result or a thought stands beside whatever is next to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from loom.archive.search.marks import is_said
from loom.archive.search.postings import Mark

REACH = 3
"""Turns on each side that a turn bears on."""
STEPS = tuple(step for step in range(-REACH, REACH + 1) if step)


class Neighbours:
    """The places beside each."""

    def __init__(self, said: Mapping[int, Sequence[int]]) -> None:
        """`said` has the places nearest to one at which something is said, in ascending order, where they are not
        simply the next ones."""
        self._beside = {place: _steps(place, near) for place, near in said.items()}

    def of(self, place: int) -> Sequence[tuple[int, int]]:
        """Steps from a place, -3 to 3, and where they lead; there need not be a turn."""
        known = self._beside.get(place)
        return known if known is not None else [(step, place + step) for step in STEPS]


def beside(places: Iterable[int]) -> set[int]:
    """The places next to these, three on each side of each."""
    return {place + step for place in places for step in STEPS}


def interrupted(places: Iterable[int], marks: Mapping[int, Mark]) -> list[int]:
    """Those of the places at which something is said, and that have something else beside them."""
    return [
        place for place in places if _is_said(place, marks) and not all(_is_said(place + step, marks) for step in STEPS)
    ]


def _is_said(place: int, marks: Mapping[int, Mark]) -> bool:
    return place in marks and is_said(marks[place].marks)


def _steps(place: int, near: Sequence[int]) -> list[tuple[int, int]]:
    before = [other for other in reversed(near) if other < place]
    behind = [other for other in near if other > place]
    return [*((-step, other) for step, other in enumerate(before, 1)), *enumerate(behind, 1)]
