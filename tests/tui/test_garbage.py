"""Python goes through what is old only when nobody is there, and lets everything go then."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from weakref import ref

import pytest

import loom.tui.garbage
from loom.locations import Locations
from loom.tui.choices import NewSession
from loom.tui.garbage import LONG_PAUSE, OFTEN, SHORT_PAUSE, Garbage
from loom.tui.widgets.message import UserMessage
from tests.support.clock import Clock
from tests.support.seat import seated


class Knot:
    """Refers to itself, so that only who looks for garbage finds it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def by_hand() -> Iterator[None]:
    """Nothing is gone through but by what is tested."""
    gc.disable()
    gc.collect()
    yield
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture
def clock() -> Clock:
    return Clock()


def _aged() -> Knot:
    """One that is among the old, gone through again with everything only."""
    knot = Knot()
    gc.collect(1)
    return knot


def _is_old(knot: Knot) -> bool:
    return any(thing is knot for thing in gc.get_objects(generation=2))


def test_while_somebody_is_there_nothing_is_gone_through(clock: Clock) -> None:
    garbage, knot = Garbage(clock), _aged()
    looks = gc.get_count()
    for _ in range(100):
        clock.advance(SHORT_PAUSE / 2)
        garbage.touch()
        garbage.rest()
    assert _is_old(knot)
    assert gc.get_count()[1:] == looks[1:]


def test_in_a_short_pause_what_is_old_is_set_aside(clock: Clock) -> None:
    garbage, knot = Garbage(clock), _aged()
    young = ref(Knot())
    clock.advance(SHORT_PAUSE)
    garbage.rest()
    assert not _is_old(knot)
    assert gc.get_objects(generation=2) == []
    assert young() is None


def test_in_a_long_pause_what_was_set_aside_is_let_go(clock: Clock) -> None:
    garbage, knot = Garbage(clock), _aged()
    gone = ref(knot)
    clock.advance(SHORT_PAUSE)
    garbage.rest()
    del knot
    garbage.touch()
    clock.advance(LONG_PAUSE - 1)
    garbage.rest()
    assert gone() is not None
    clock.advance(1)
    garbage.rest()
    assert gone() is None


def test_where_nobody_comes_back_it_is_not_gone_through_each_second(clock: Clock) -> None:
    garbage = Garbage(clock)
    clock.advance(1)
    garbage.touch()
    clock.advance(LONG_PAUSE)
    garbage.rest()
    knot = Knot()
    gone = ref(knot)
    gc.collect(1)
    for _ in range(int(OFTEN) - 1):
        clock.advance(1)
        garbage.rest()
    del knot
    assert gone() is not None
    clock.advance(1)
    garbage.rest()
    assert gone() is None


def test_without_a_long_pause_not_more_and_more_is_kept(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    garbage = Garbage(clock)
    clock.advance(1)
    garbage.touch()
    clock.advance(LONG_PAUSE)
    garbage.rest()
    monkeypatch.setattr(loom.tui.garbage, "MOST_ASIDE", 50_000)
    knot = _aged()
    gone = ref(knot)

    def rest_with(more: int) -> list[Knot]:
        kept = [Knot() for _ in range(more)]
        gc.collect(1)
        garbage.touch()
        clock.advance(SHORT_PAUSE)
        garbage.rest()
        return kept

    kept = [rest_with(5_000)]
    del knot
    kept.append(rest_with(5_000))
    kept.append(rest_with(0))
    assert gone() is not None
    kept.append(rest_with(50_000))
    kept.append(rest_with(0))
    assert gone() is None


async def test_the_screen_of_a_session_that_was_left_is_let_go(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
        left = ref(seat.chat.query_one(UserMessage))
        seat.clock.advance(SHORT_PAUSE)
        seat.app.garbage.rest()
        seat.app.visit(NewSession())
        await seat.until(lambda: not seat.chat.query(UserMessage))
        await seat.ready()
        await seat.pilot.press("h", "i")
        assert left() is not None
        seat.app.garbage.rest()
        assert left() is not None

        def is_let_go() -> bool:
            seat.clock.advance(OFTEN)
            seat.app.garbage.rest()
            return left() is None

        # A timer that was called off stands in the event loop's list until its time.
        await seat.until(is_let_go)
