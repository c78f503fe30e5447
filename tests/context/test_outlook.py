"""What would leave next is what leaves when the mark is passed."""

from __future__ import annotations

from loom.config import Settings
from loom.context.budget import Budget
from loom.context.window import Window
from tests.support.window_rows import Rows, words


def a_window(tokens: int = 10_000) -> Window:
    return Window(words, Settings(), Budget(tokens, 1_000, 0.9, 0.6))


def test_an_empty_window_has_all_its_room() -> None:
    found = a_window().outlook()
    assert (found.room, found.high, found.left_to, found.shortened_to) == (8_100, 8_100, 0, 0)


def test_the_oldest_exchanges_leave_as_announced() -> None:
    rows, window = Rows(), a_window()
    for n in range(6):
        window.add(rows.ask(f"{n} " + "x" * 2_000))
        window.add(rows.answer("y" * 2_000))
    window.assemble()
    found = window.outlook()
    assert found.shortened_tokens == 0 and found.left_from == 1
    assert (found.left_to, found.left_exchanges) == (6, 3) and found.left_tokens >= 2_700
    window.add(rows.ask("z" * 4 * found.room))
    window.assemble()
    assert window.left_to == found.left_to


def test_long_outputs_are_shortened_before_anything_leaves() -> None:
    rows, window = Rows(), a_window(46_000)
    for n in range(20):
        window.add(rows.exchange_with_output(f"read {n}", "line of a file\n" * 400))
    found = window.outlook()
    assert found.shortened_to == 76 and found.shortened_tokens > 13_500 and found.left_to == 0


def test_looking_changes_nothing() -> None:
    rows, window = Rows(), a_window()
    for n in range(6):
        window.add(rows.exchange_with_output(f"read {n}", "line of a file\n" * 100))
    before = window.assemble()
    window.outlook()
    assert window.assemble() == before


def test_a_single_exchange_has_nothing_that_could_leave() -> None:
    rows, window = Rows(), a_window()
    window.add(rows.ask("x" * 30_000))
    assert window.outlook().left_to == 0


def test_what_the_next_request_shows_is_known_beforehand_and_looking_changes_nothing() -> None:
    rows, window, other = Rows(), a_window(), a_window()
    for n in range(6):
        for each in (
            rows.exchange_with_output(f"read {n}", "line of a file\n" * 400),
            rows.exchange_with_output("x" * 4_000, "y"),
        ):
            window.add(each)
            other.add(each)
    seen = window.sight()
    assert window.left_to == 0 and window.assemble() == other.assemble()
    assert (seen.left_to, seen.turns) == (window.left_to, window.turns) and seen.left_to > 0
    assert seen.may_recall(1) and not seen.may_recall(window.turns[-1][1])
    assert window.sight(leave_to=window.turns[0][0]).left_to >= window.turns[0][0]
