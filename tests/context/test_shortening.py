"""What is shown shorter though nothing left is named, and a resume finds it so by that row alone."""

from __future__ import annotations

import asyncio

from pydantic_ai.messages import ToolReturnPart

from loom.archive.records import TurnKind
from loom.config import Settings
from loom.context.budget import Budget
from loom.context.edges import left_turns
from loom.context.window import Window
from tests.support.window_rows import Rows, words

OUTPUT = "line of output\n" * 400


def a_window() -> Window:
    window = Window(words, Settings(), Budget(46_000, 1_000, 0.9, 0.6))
    window.set_floor(tools=100, instructions=100)
    return window


def filled() -> tuple[Rows, Window]:
    """Outputs of 1,500 tokens up to above the mark."""
    rows, window = Rows(), a_window()
    for number in range(30):
        window.add(rows.exchange_with_output(f"wish {number}", OUTPUT))
    window.add(rows.ask("next"))
    return rows, window


def test_the_turns_are_named_in_a_row_that_keeps_the_edges() -> None:
    rows, window = filled()
    assembly = window.assemble()
    found = assembly.shortening
    assert assembly.receipt is None and found is not None
    outputs = [turn.turn_number for turn in rows.turns if turn.kind is TurnKind.TOOL_RESULT]
    assert list(found.turns) == outputs[: len(found.turns)] and 10 < len(found.turns) < 30
    assert found.line == (
        f"T3–T{found.turns[-1]}: {len(found.turns)} turns are shown shorter in the window from here on, whole in the "
        "archive"
    )
    [row] = rows.append([found.turn(words)])
    assert (row.role, row.kind, left_turns(row)) == ("system", TurnKind.NOTE, ())


def test_a_resume_needs_no_more_than_the_row() -> None:
    rows, window = filled()
    shortening = window.assemble().shortening
    assert shortening is not None
    window.add(rows.append([shortening.turn(words)]))
    resumed = a_window()
    asyncio.run(resumed.load(rows))
    assert resumed.assemble().messages == window.assemble().messages
    assert resumed.beginning == window.beginning


def test_it_is_said_once() -> None:
    _, window = filled()
    assert window.assemble().shortening is not None
    again = window.assemble()
    assert again.shortening is None and again.receipt is None


def test_one_turn_is_named_as_one() -> None:
    rows, window = Rows(), Window(words, Settings(), Budget(2_000, 500, 0.9, 0.5))
    window.add(rows.ask("look " + "x" * 4_400))
    window.add([*rows.call("c1"), *rows.result("c1", "o" * 2_000)])
    found = window.assemble().shortening
    assert found is not None and found.line.startswith("T3 is shown shorter")


def test_what_leaves_has_its_receipt_and_no_second_row() -> None:
    rows, window = Rows(), a_window()
    for number in range(60):
        window.add(rows.ask(f"wish {number} " + "x" * 4_000))
        window.add(rows.answer("yes"))
        window.add(rows.exchange_with_output(f"look {number}", OUTPUT))
        assembly = window.assemble()
        assert assembly.receipt is None or assembly.shortening is None
        if mark := assembly.receipt or assembly.shortening:
            window.add(rows.append([mark.turn(words)]))
    kinds = {turn.kind for turn in rows.turns if turn.role == "system"}
    assert TurnKind.RECEIPT in kinds
    shown = [p for m in window.assemble().messages for p in m.parts if isinstance(p, ToolReturnPart)]
    assert shown
