"""One part of a query with the turns that have it: what evidence is made of."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

EDGE, INNER = 0.8, 0.6
"""A name inside a longer one: with a border beside it (`auth.py` in `my-auth.py`), and in the middle of a word."""
LITERAL = 12.0
"""A name or passage as typed, against a word of the same rarity."""


@dataclass(frozen=True, slots=True)
class Match:
    """One part of a query and where it was found."""

    key: str
    weight: float
    """How much finding it says: its rarity in scope, times what kind of part it is."""
    strengths: Mapping[int, float]
    """Place to how well it was found there, 0 to 1."""
    literal: bool
    """As typed; does not spill over to the turns beside it."""
    within_name: bool = False
    """A word that the query has only inside a name which is found."""
    instead: tuple[str, ...] = ()
    """The names that it was taken for, where it is nowhere as it is typed; the likeliest first."""
    is_searched: bool = True
    """Of a passage: every turn that may have it was read, or enough have it."""


class Rarity:
    """How much it says that a turn has something, by how many turns of the scope have it."""

    def __init__(self, turns: int) -> None:
        self._turns = turns

    def of(self, found: Mapping[int, float], turns: int = 0) -> float:
        """BM25's inverse document frequency within the scope; that of one turn for what is in none. `turns` is how
        many have it where that is more than were looked at."""
        count = max(len(found), turns) or 1
        return math.log(1 + (max(self._turns, count) - count + 0.5) / (count + 0.5))


def standing_in(part: str, whole: str) -> float:
    """How a part stands in a text that has it: whole token, at a border, or inside a word; 0 where it does not."""
    best = 0.0
    start = whole.find(part)
    while start >= 0 and best < EDGE:
        best = max(best, _standing_at(whole, start, start + len(part)))
        start = whole.find(part, start + 1)
    return best


def _standing_at(text: str, start: int, end: int) -> float:
    left = start == 0 or not (text[start - 1].isalnum() and text[start].isalnum())
    right = end == len(text) or not (text[end].isalnum() and text[end - 1].isalnum())
    return EDGE if left and right else (EDGE + INNER) / 2 if left or right else INNER
