"""Turns in a scope that has others' between its own: none is missed, and wide gaps are not walked through."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from loom.archive.search import leaping
from loom.archive.search.leaping import Stretch, within


class Asked:
    """Places as the index gives them, with how often it was asked and how many it gave."""

    def __init__(self, places: list[int]) -> None:
        self._places = sorted(places, reverse=True)
        self.times = self.given = 0

    def between(self, first: int, last: int) -> Iterator[int]:
        self.times += 1
        for place in self._places:
            if first <= place <= last:
                self.given += 1
                yield place


def drawn(dice: random.Random) -> tuple[list[int], list[Stretch]]:
    borders = sorted(dice.sample(range(2_000), 2 * dice.randint(1, 30)))
    stretches = [(borders[i], borders[i + 1]) for i in range(0, len(borders), 2)]
    return dice.sample(range(2_000), dice.randint(0, 900)), stretches[::-1]


@pytest.mark.parametrize("seed", range(40))
def test_each_place_within_the_stretches_comes_once_and_in_order(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(seed)
    monkeypatch.setattr(leaping, "PATIENCE", dice.randint(1, 40))
    places, stretches = drawn(dice)
    wanted = [place for place in places if any(first <= place <= last for first, last in stretches)]
    found = list(within(stretches, Asked(places).between, dice.randint(1, 3)))
    assert found == sorted(wanted, reverse=True)


def test_a_wide_gap_is_leapt_over_and_a_narrow_one_walked_past() -> None:
    stretches = [(90_000, 90_009), (50_000, 50_009), (0, 9)]
    common, rare = Asked(list(range(100_000))), Asked(list(range(0, 100_000, 5_000)))
    assert len(list(within(stretches, common.between))) == 30
    assert common.times == 3
    assert common.given < 400
    assert [*within(stretches, rare.between)] == [90_000, 50_000, 0]
    assert rare.times == 1


def test_what_is_not_taken_is_not_asked_for() -> None:
    asked = Asked(list(range(10_000)))
    found = within([(9_000, 9_999), (0, 10)], asked.between)
    assert (next(found), asked.given) == (9_999, 1)
    assert list(within([], asked.between)) == []
