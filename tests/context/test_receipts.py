"""The line that says what left, the row that keeps it, and the manifest of a request."""

from __future__ import annotations

import subprocess
import sys

import pytest

from loom.archive.records import NewTurn, TurnKind
from loom.config import Settings
from loom.context.budget import Budget
from loom.context.edges import Beginning, Edges, cleared_meta, compaction_meta, restored_meta
from loom.context.manifests import manifest_of
from loom.context.receipts import receipt_of, words_for_the_model
from loom.context.window import Window
from tests.support.window_rows import Rows, words

EDGES = Edges(left_to=4, short_to=8, mark_to=2)


def test_a_receipt_counts_files_and_commands_from_results() -> None:
    rows = Rows()
    rows.ask("go")
    rows.result("a", "x", path="a.py", action="read")
    rows.result("b", "x", path="a.py", action="edited")
    rows.result("c", "x", path=".", action="listed")
    rows.result("d", "x", command="make", exit_code=2)
    receipt = receipt_of(rows.turns, EDGES)
    assert receipt.line == "T1–T5 left the window: 1 file, 1 command, kept in the archive"


def test_a_receipt_without_either_counts_exchanges() -> None:
    rows = Rows()
    rows.ask("one")
    rows.ask("two")
    assert receipt_of(rows.turns, EDGES).line == "T1–T2 left the window: 2 exchanges, kept in the archive"
    assert receipt_of(rows.turns[:1], EDGES).line.startswith("T1 left the window: 1 exchange,")


def test_its_row_moves_the_edges_when_it_is_read_again() -> None:
    rows = Rows()
    rows.ask("one")
    [row] = rows.append([receipt_of(rows.turns, EDGES).turn(words)])
    assert row.role == "system" and row.kind is TurnKind.RECEIPT and row.exchange == 1
    assert Beginning().moved_by(row).edges == EDGES


def test_the_models_words_follow_from_the_number_alone() -> None:
    assert words_for_the_model(0) == ""
    assert words_for_the_model(40).startswith("[T1–T40 left the window.")


def test_marks_are_read_in_order_and_the_last_one_holds() -> None:
    rows, beginning = Rows(), Beginning()
    for kind, meta in (
        (TurnKind.SUMMARY, compaction_meta(10)),
        (TurnKind.NOTE, cleared_meta(20)),
        (TurnKind.NOTE, restored_meta(3)),
    ):
        [row] = rows.append([NewTurn(role="system", kind=kind, content="c", message_meta=meta)])
        beginning = beginning.moved_by(row)
        assert (beginning.summary is not None) == (kind is TurnKind.SUMMARY)
    assert beginning.edges.left_to == 3


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
