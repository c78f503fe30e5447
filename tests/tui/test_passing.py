"""What is said in passing, and when the next thing is."""

from __future__ import annotations

from loom.tui.passing import BRIEF_SECONDS, SEEN_SECONDS, Passing, Said, Severity
from tests.support.clock import Clock


def said(text: str, severity: Severity = "information") -> Said:
    return Said(text, severity, 5)


def shown(passing: Passing) -> tuple[str, int, int]:
    """The text, how often it was said, and how many wait."""
    assert passing.shown is not None
    return passing.shown.text, passing.shown.count, passing.waiting


def test_one_at_a_time_each_for_its_time() -> None:
    clock = Clock()
    passing = Passing(clock)
    assert passing.shown is None and not passing.pass_on() and not passing.seen()
    passing.say(said("one"))
    clock.now += BRIEF_SECONDS
    assert not passing.pass_on(), "nothing waits: it has its whole time"
    passing.say(said("two"))
    assert shown(passing) == ("one", 1, 1)
    assert passing.pass_on()
    assert shown(passing) == ("two", 1, 0)
    clock.now += 4
    assert not passing.pass_on()
    clock.now += 1
    assert passing.pass_on() and passing.shown is None


def test_an_answer_to_a_key_is_shown_at_once_and_what_it_covers_comes_again() -> None:
    clock = Clock()
    passing = Passing(clock)
    passing.say(said("broken", "error"))
    passing.answer(said("press it again"))
    passing.answer(said("press it again"))
    assert shown(passing) == ("press it again", 1, 1)
    clock.now += BRIEF_SECONDS
    assert passing.pass_on()
    assert shown(passing) == ("broken", 1, 0)


def test_the_same_is_counted_wherever_it_stands() -> None:
    clock = Clock()
    passing = Passing(clock)
    for text in ("one", "two", "one", "two", "two"):
        passing.say(said(text))
    assert shown(passing) == ("one", 2, 1)
    clock.now += BRIEF_SECONDS
    passing.pass_on()
    assert shown(passing) == ("two", 3, 0)


def test_what_went_wrong_goes_first_and_stays_until_it_was_seen() -> None:
    clock = Clock()
    passing = Passing(clock)
    passing.say(said("by the way"))
    passing.say(said("wrong", "error"))
    passing.say(said("wrong too", "error"))
    assert shown(passing) == ("wrong", 1, 2)
    assert not passing.seen(), "a key that was on its way has seen nothing"
    clock.now += 3_600
    assert not passing.pass_on()
    assert passing.seen()
    assert shown(passing) == ("wrong too", 1, 1)
    clock.now += SEEN_SECONDS
    assert passing.seen()
    assert shown(passing) == ("by the way", 1, 0)
    assert not passing.seen()


def test_what_belongs_to_a_screen_waits_for_it_and_goes_with_it() -> None:
    clock = Clock()
    passing = Passing(clock)
    chat, window, other = object(), object(), object()
    passing.go_to(chat, [chat])
    passing.say(Said("here", "information", 5, place=chat))
    passing.go_to(window, [chat, window])
    assert passing.shown is None and not passing.pass_on()
    clock.now += 60
    passing.go_to(chat, [chat])
    assert shown(passing) == ("here", 1, 0)
    clock.now += 4
    assert not passing.pass_on(), "it has its whole time again"
    passing.go_to(other, [other])
    passing.go_to(chat, [chat])
    assert passing.shown is None, "its screen was left for good"


def test_what_spoke_of_the_time_before_a_key_goes_with_that_key() -> None:
    passing = Passing(Clock())
    passing.say(said("stays"))
    passing.say(Said("fleeting", "information", 5, fleeting=True))
    assert passing.pressed()
    assert [each.text for each in passing.everything] == ["stays"]
    assert not passing.pressed()
