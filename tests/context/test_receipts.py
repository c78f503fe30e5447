"""The line that says what left, the row that keeps it, and the manifest of a request."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from loom.archive.records import NewTurn, Turn, TurnKind
from loom.config import Settings
from loom.context.budget import Budget
from loom.context.edges import (
    Beginning,
    Edges,
    before_move,
    cleared_meta,
    compaction_meta,
    left_turns,
    restored_meta,
)
from loom.context.manifests import manifest_of
from loom.context.receipts import receipt_of, words_for_the_model
from loom.context.window import Window
from tests.support.window_rows import Rows, words

BEGINNING = Beginning(Edges(left_to=4, short_to=8, mark_to=2, back=(3, 5)), summary=2, move=2)


def test_a_receipt_counts_files_and_commands_from_results() -> None:
    rows = Rows()
    rows.ask("go")
    rows.result("a", "x", path="a.py", action="read")
    rows.result("b", "x", path="a.py", action="edited")
    rows.result("c", "x", path=".", action="listed")
    rows.result("d", "x", command="make", exit_code=2)
    receipt = receipt_of(rows.turns, ((1, 5),), BEGINNING)
    assert receipt.line == "T1–T5 left the window: 1 file, 1 command, kept in the archive"


def test_a_receipt_without_either_counts_exchanges() -> None:
    rows = Rows()
    rows.ask("one")
    rows.ask("two")
    receipt = receipt_of(rows.turns, ((1, 2),), BEGINNING)
    assert receipt.line == "T1–T2 left the window: 2 exchanges, kept in the archive"
    assert receipt_of(rows.turns[:1], ((1, 1),), BEGINNING).line.startswith("T1 left the window: 1 exchange,")


def test_its_row_moves_the_edges_and_names_the_turns_when_it_is_read_again() -> None:
    rows = Rows()
    for number in range(9):
        rows.ask(f"wish {number}")
    [row] = rows.append([receipt_of(rows.turns, ((1, 4), (7, 7)), BEGINNING).turn(words)])
    assert row.role == "system" and row.kind is TurnKind.RECEIPT and row.exchange == 9
    assert Beginning().moved_by(row) == BEGINNING
    assert left_turns(row) == ((1, 4), (7, 7)) and row.content.startswith("T1–T4, T7 left")


@pytest.mark.parametrize(
    "left", ["null", "3", "[[1]]", "[[2, 1]]", "[[1, 99]]", '[["x", 2]]', "[[0, 1]]", "[[1e999, 2]]"]
)
def test_a_receipt_that_names_no_turns_names_none(left: str) -> None:
    meta = f'{{"left_to": 1, "left": {left}}}'
    rows = Rows()
    rows.ask("one")
    [row] = rows.append([NewTurn(role="system", kind=TurnKind.RECEIPT, content="c", message_meta=meta)])
    assert left_turns(row) == ()


def test_the_models_words_follow_from_the_numbers_alone() -> None:
    assert words_for_the_model(0) == ""
    assert words_for_the_model(40).startswith("[T1–T40 left the window.")
    assert words_for_the_model(40, [(5, 8), (20, 40)]).startswith("[T1–T4, T9–T19 left the window.")
    assert words_for_the_model(8, [(1, 8)]) == ""


def test_the_newest_mark_alone_tells_where_the_window_begins() -> None:
    rows, beginning = Rows(), Beginning(Edges(left_to=3, short_to=2))

    def mark(kind: TurnKind, meta: str) -> Turn:
        [row] = rows.append([NewTurn(role="system", kind=kind, content="c", message_meta=meta)])
        assert Beginning(Edges(left_to=77)).moved_by(row) == Beginning().moved_by(row)
        return row

    summary = mark(TurnKind.SUMMARY, compaction_meta(beginning, 10))
    compacted = beginning.moved_by(summary)
    assert (compacted.edges.left_to, compacted.summary, compacted.move) == (10, 1, 1)
    cleared = compacted.moved_by(mark(TurnKind.NOTE, cleared_meta(compacted, 20)))
    assert cleared == Beginning(Edges(left_to=20), summary=0, move=2)
    assert cleared.moved_by(mark(TurnKind.NOTE, restored_meta(rows.turns[1]))) == replace(compacted, restored=3)
    assert compacted.moved_by(mark(TurnKind.NOTE, restored_meta(summary))) == replace(beginning, restored=4)
    assert before_move(summary) == beginning and before_move(rows.turns[2]) is None


@pytest.mark.parametrize("meta", ["", "{", "[]", '{"left_to": "x"}', '{"left_to": true}', '{"other": 1}', "[" * 9_999])
def test_a_damaged_mark_moves_nothing(meta: str) -> None:
    [row] = Rows().append([NewTurn(role="system", kind=TurnKind.RECEIPT, content="c", message_meta=meta)])
    assert Beginning().moved_by(row) == Beginning()


def test_a_manifest_says_what_a_request_was_made_of() -> None:
    rows, window = Rows(), Window(words, Settings(), Budget(10_000, 1_000, 0.9, 0.6))
    window.set_state("focus: x")
    window.add(rows.ask("hello"))
    assembly = window.assemble()
    manifest = manifest_of(assembly, session_id="s", request=1, exchange=1, model_name="offline", window=10_000)
    assert manifest.turns == ((1, 1),) and manifest.texts == {"state": "focus: x"}
    assert manifest.estimated_tokens == sum(manifest.segments.values()) and set(manifest.segments) == {"state", "user"}
    assert manifest.created_at.endswith("Z") and manifest.reported_tokens is None


@pytest.mark.parametrize("module", ["loom.context.usage", "loom.context.tokens", "loom.context.budget"])
def test_what_a_front_end_needs_early_imports_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; sys.exit(bool({{'pydantic_ai', 'tiktoken'}} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", code], check=True)
