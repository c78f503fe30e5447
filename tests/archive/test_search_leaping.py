"""Turns in a scope that has others' between its own: none is missed, and wide gaps are not walked through."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import chain, islice

import pytest

from loom.archive.search import leaping
from loom.archive.search.leaping import Stretch, within


class Asked:
    """Places as the index gives them, with how often it was asked and how many it gave."""

    def __init__(self, places: list[int]) -> None:
        self._places = sorted(places, reverse=True)
        self.times = self.given = 0

    def newest(self, first: int, last: int, limit: int) -> list[int]:
        self.times += 1
        found = list(islice((place for place in self._places if first <= place <= last), limit))
        self.given += len(found)
        return found

    def all_within(self, stretches: Sequence[Stretch]) -> list[int]:
        self.times += 1
        found = [place for place in self._places if any(first <= place <= last for first, last in stretches)]
        self.given += len(found)
        return found


def turns_in(stretch: Stretch) -> int:
    return stretch[1] - stretch[0] + 1


def drawn(dice: random.Random) -> tuple[list[int], list[Stretch]]:
    borders = sorted(dice.sample(range(2_000), 2 * dice.randint(1, 30)))
    stretches = [(borders[i], borders[i + 1]) for i in range(0, len(borders), 2)]
    return dice.sample(range(2_000), dice.randint(0, 900)), stretches[::-1]


@pytest.mark.parametrize("seed", range(40))
def test_each_place_within_the_stretches_comes_once_and_in_order(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(seed)
    for name in ("FIRST", "LEAST", "MOST", "AT_ONCE", "TOGETHER"):
        monkeypatch.setattr(leaping, name, dice.randint(1, 40))
    places, stretches = drawn(dice)
    wanted = [place for place in places if any(first <= place <= last for first, last in stretches)]
    sizes = {"wanted": dice.randint(0, 300), "terms": dice.randint(1, 3)}
    found = within(stretches, Asked(places), turns_in, **sizes, leaps=dice.random() < 0.5)
    assert list(chain.from_iterable(found)) == sorted(wanted, reverse=True)


def test_a_wide_gap_is_leapt_over_and_a_narrow_one_read_through() -> None:
    stretches = [(9_000 * i, 9_000 * i + 9) for i in range(10, -1, -1)]
    common, rare = Asked(list(range(100_000))), Asked(list(range(0, 100_000, 1_000)))
    assert sum(map(len, within(stretches, common, turns_in, wanted=1_000))) == 110
    assert common.given < 1_000
    assert [*chain.from_iterable(within(stretches, rare, turns_in, wanted=1_000))] == [first for first, _ in stretches]
    assert rare.times == 1


def test_what_is_not_taken_is_not_asked_for() -> None:
    asked = Asked(list(range(10_000)))
    found = within([(9_000, 9_999)], asked, turns_in, wanted=30)
    assert next(found) == [*range(9_999, 9_969, -1)]
    assert (asked.times, asked.given) == (1, 30)
    assert list(within([], asked, turns_in, wanted=30)) == []
