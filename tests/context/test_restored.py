"""What a person put back into the window stays, until the window has grown or is full."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from loom.archive.records import NewTurn, TurnKind
from loom.config import Settings
from loom.context.budget import Budget
from loom.context.edges import brought_back_meta, compaction_meta, restored_meta
from loom.context.window import Window
from tests.support.window_rows import Rows, words

SETTINGS = Settings(tool_output_preview_tokens=400, tool_output_trim_chars=600)
HIGH, LOW, FULL = 8_120, 4_600, 9_000
"""The marks of these windows: 10,000 tokens, 1,000 for the answer, 200 for the floor."""


def a_window(settings: Settings = SETTINGS) -> Window:
    window = Window(words, settings, Budget(10_000, 1_000, 0.9, 0.5))
    window.set_floor(tools=100, instructions=100)
    return window


def note(rows: Rows, meta: str, kind: TurnKind = TurnKind.NOTE) -> None:
    rows.append([NewTurn(role="system", kind=kind, content="n", message_meta=meta)])


def talk(rows: Rows, exchanges: int, tokens: int = 500) -> None:
    for number in range(exchanges):
        rows.ask(f"wish {number} " + "x" * (4 * tokens - 100))
        rows.answer(f"answer {number}")


def restored(exchanges: int, settings: Settings = SETTINGS) -> tuple[Rows, Window]:
    """A window of so many exchanges of some 500 tokens that was compacted, and put back."""
    rows, window = Rows(), a_window(settings)
    talk(rows, exchanges)
    last = len(rows.turns)
    note(rows, compaction_meta(window.beginning, last), TurnKind.SUMMARY)
    note(rows, restored_meta(rows.turns[-1]))
    asyncio.run(window.load(rows))
    return rows, window


def test_it_is_not_summed_up_again_though_it_is_above_the_threshold() -> None:
    rows, window = restored(14)
    window.add(rows.ask("the newest"))
    assert window.crowded_to(0.5, 0) == 0
    untouched = a_window()
    untouched.add([turn for turn in rows.turns if turn.kind is TurnKind.TEXT])
    assert untouched.crowded_to(0.5, 0) > 0, "without the person's word it would be"


def test_it_does_not_leave_before_the_window_is_full_and_the_gauge_says_so() -> None:
    rows, window = restored(17)
    window.add(rows.ask("the newest"))
    assert HIGH < window.usage().used <= FULL
    assert window.usage().high_water == FULL
    assembly = window.assemble()
    assert assembly.receipt is None and assembly.notice is None and assembly.recipe.high == FULL


def test_what_no_longer_fits_leaves_as_always_and_the_reason_is_said() -> None:
    rows, window = restored(17)
    window.add(rows.ask("x" * 4_000))
    assert window.crowded_to(0.5, 0) > 0
    assembly = window.assemble()
    assert assembly.receipt is not None and assembly.tokens <= LOW
    assert assembly.notice is not None and "does not fit any longer" in assembly.notice
    window.add(rows.append([assembly.receipt.turn(words)]))
    assert window.usage().high_water == HIGH, "and all is as usual again"
    assert not window.overflow


def test_once_the_window_has_grown_by_a_step_all_is_as_usual() -> None:
    rows, window = restored(5)
    step = HIGH - LOW
    grown = 0
    while not (crowded := window.crowded_to(0.5, 0)):
        window.add(rows.ask("more " + "x" * 1_600))
        window.add(rows.answer("yes"))
        grown += 400
        assert grown < 2 * step
    assert crowded and grown >= step and not window.overflow
    assert window.usage().high_water == HIGH


def test_a_resume_knows_it_too() -> None:
    rows, window = restored(14)
    window.add(rows.ask("the newest"))
    rows.recipe = window.assemble().recipe
    window.add(rows.answer("yes"))
    resumed = a_window()
    asyncio.run(resumed.load(rows))
    resumed.add(rows.ask("and now?"))
    assert resumed.crowded_to(0.5, 0) == 0 and resumed.usage().high_water == FULL


def test_turns_that_were_brought_back_are_left_alone_as_well() -> None:
    rows, window = Rows(), a_window()
    talk(rows, 10)
    note(rows, replace(window.beginning, edges=replace(window.beginning.edges, left_to=8)).meta(left=[[1, 8]]))
    asyncio.run(window.load(rows))
    note(rows, brought_back_meta(window.beginning, [1, 2]))
    asyncio.run(window.load(rows))
    window.add(rows.ask("the newest"))
    assert window.holds(1) and window.crowded_to(0.4, 0) == 0


@pytest.mark.parametrize(("more", "summed_up"), [(1, False), (3, True)])
def test_a_number_of_messages_that_was_set_grows_by_its_own_step(more: int, summed_up: bool) -> None:
    rows, window = restored(8, replace(SETTINGS, max_history_messages=10))
    assert len(window.assemble().messages) == 16
    for _ in range(more):
        window.add(rows.ask("more"))
        window.add(rows.answer("yes"))
    assert bool(window.crowded_to(0.0, 2)) is summed_up


def test_what_was_brought_back_leaves_when_it_does_not_fit_and_all_is_as_usual_again() -> None:
    rows, window = Rows(), a_window()
    talk(rows, 14)
    note(rows, replace(window.beginning, edges=replace(window.beginning.edges, left_to=8)).meta(left=[[1, 8]]))
    asyncio.run(window.load(rows))
    note(rows, brought_back_meta(window.beginning, [1, 2]))
    asyncio.run(window.load(rows))
    window.add(rows.ask("x" * 4 * 3_200))
    assembly = window.assemble()
    assert assembly.receipt is not None and not window.beginning.edges.back
    assert assembly.notice is not None and window.usage().high_water == HIGH
