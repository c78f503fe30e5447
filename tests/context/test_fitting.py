"""What the window does when one step alone is larger than it: the request always goes out."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart, ToolReturnPart

from loom.context.budget import WindowTooSmall
from loom.context.fitting import LEAST_CAP_TOKENS, level_for
from loom.context.trimming import MOST_TIGHT_CHARS, TIGHT_CHARS, tightened
from loom.context.window import Assembly, Window
from tests.context.windows import a_window, counted, text_of
from tests.support.window_rows import Rows, words

LINES = "a line of the file\n" * 2_000


def one_step(window: Window, rows: Rows, outputs: list[str], *, path: str = "a.py") -> Assembly:
    """The person asks, the model calls a tool for each output in one response, all results come in."""
    window.add(rows.ask("read them all"))
    window.add(rows.say(*(ToolCallPart("read_file", {"path": path}, f"c{n}") for n in range(len(outputs)))))
    for number, output in enumerate(outputs):
        window.add(rows.result(f"c{number}", output))
    return window.assemble()


def results_of(assembly: Assembly) -> list[str]:
    return [str(p.content) for m in assembly.messages for p in m.parts if isinstance(p, ToolReturnPart)]


def calls_of(assembly: Assembly) -> list[str]:
    return [p.tool_call_id for m in assembly.messages for p in m.parts if isinstance(p, ToolCallPart)]


class TestOneStepOfManyResults:
    def test_caps_the_largest_and_leaves_the_small_ones_whole(self) -> None:
        window = a_window(6_000)
        assembly = one_step(window, Rows(), [LINES, "small\n" * 40, LINES, LINES, "tiny", LINES, *[LINES] * 9])
        shown = results_of(assembly)
        assert shown[1] == "small\n" * 40 and shown[4] == "tiny"
        large = [text for text in shown if len(text) > 1_000]
        assert len(large) == 13 and all("a line of the file" in text and "not shown" in text for text in large)
        assert all(words(text) >= LEAST_CAP_TOKENS * 3 // 4 for text in large)
        marks = window.budget.marks(200)
        assert marks.high * 3 // 4 < counted(assembly, 200) <= marks.high, "what is free is used"

    def test_then_makes_markers_of_the_oldest_and_keeps_the_newest(self) -> None:
        window = a_window(6_000)
        assembly = one_step(window, Rows(), [LINES] * 24)
        shown = results_of(assembly)
        assert len(shown) == 24 and shown[0].startswith("[read_file") and "\n" not in shown[0]
        assert shown[-1].startswith("a line of the file")
        assert counted(assembly, 200) <= window.budget.marks(200).high

    def test_then_lets_the_oldest_calls_go_with_their_results(self) -> None:
        rows, window = Rows(), a_window(6_000)
        assembly = one_step(window, rows, [LINES] * 200)
        calls = calls_of(assembly)
        assert 1 <= len(calls) == len(results_of(assembly)) < 200 and calls[-1] == "c199"
        assert "read them all" in text_of(assembly.messages) and "Interrupted" not in text_of(assembly.messages)
        assert counted(assembly, 200) <= window.budget.marks(200).high
        receipt = assembly.receipt
        assert receipt is not None and receipt.line.startswith("T2–") and "kept in the archive" in receipt.line
        left = {turn for first, last in receipt.ranges for turn in range(first, last + 1)}
        inside = {turn for first, last in assembly.turns for turn in range(first, last + 1)}
        assert not left & inside and left | inside == set(range(1, len(rows.turns) + 1))

    def test_looks_the_same_when_the_next_step_is_small(self) -> None:
        rows, window = Rows(), a_window(6_000)
        before = one_step(window, rows, [LINES] * 8)
        window.add(rows.append([before.receipt.turn(words)]) if before.receipt else [])
        window.add(rows.answer("That is that."))
        after = window.assemble()
        assert results_of(after) == results_of(before)

    def test_keeps_the_thoughts_that_a_provider_signed_beside_its_calls(self) -> None:
        rows, window = Rows(), a_window(3_000)
        window.add(rows.ask("read them all"))
        thought = ThinkingPart("I think", signature="sig")
        window.add(rows.say(thought, *(ToolCallPart("read_file", {"path": "a.py"}, f"c{n}") for n in range(60))))
        for number in range(60):
            window.add(rows.result(f"c{number}", LINES))
        assembly = window.assemble()
        [answer] = [m for m in assembly.messages if isinstance(m, ModelResponse)]
        assert answer.parts[0] == thought and 1 <= len(calls_of(assembly)) < 60

    def test_of_enormous_arguments_shows_their_beginning_and_end(self) -> None:
        rows, window = Rows(), a_window(1_100, reserve=500)
        window.add(rows.ask("write it"))
        window.add(rows.call("c1", "write_file", path="a.py", content="x" * 9_000 + "END"))
        window.add(rows.result("c1", "ok"))
        assembly = window.assemble()
        [call] = [p for m in assembly.messages for p in m.parts if isinstance(p, ToolCallPart)]
        arguments = call.args_as_dict()
        assert arguments["path"] == "a.py" and arguments["content"].startswith("xxx")
        assert arguments["content"].endswith("END") and "9,003 characters" in arguments["content"]
        assert counted(assembly, 200) <= 600

    @pytest.mark.parametrize("tokens", range(450, 2_000, 50))
    def test_goes_out_into_the_smallest_windows(self, tokens: int) -> None:
        window = a_window(tokens, reserve=0)
        assembly = one_step(window, Rows(), [LINES] * 30)
        assert counted(assembly, 200) <= tokens and "read them all" in text_of(assembly.messages)

    def test_is_refused_only_where_there_is_no_room_for_a_message(self) -> None:
        with pytest.raises(WindowTooSmall, match="larger window"):
            one_step(a_window(215, reserve=0), Rows(), [LINES])


@pytest.mark.parametrize("share", [0.7, 0.84, 0.86, 0.9, 0.94, 0.955, 0.97, 1.5, 5.0])
def test_beside_a_message_that_fills_the_window_the_model_sees_what_comes_of_its_calls(share: float) -> None:
    rows, window = Rows(), a_window(60_000, reserve=2_400)
    window.add(rows.ask("x" * int(4 * 60_000 * share)))
    window.assemble()
    seen = 0
    for step in range(12):
        window.add(rows.call(f"c{step}"))
        window.add(rows.result(f"c{step}", f"what came of call {step}\n" * 40))
        assembly = window.assemble()
        shown = results_of(assembly)
        assert shown and shown[-1].startswith(f"what came of call {step}"), (share, step)
        assert counted(assembly, 200) <= window.budget.marks(200).full
        seen = max(seen, len(shown))
    assert seen > 1, "and what came of the calls before, for some steps at least"


def test_a_long_answer_is_cut_when_nothing_else_helps() -> None:
    text = tightened(TextPart("A" * 5_000 + "Z"), 7)
    assert isinstance(text, TextPart) and len(text.content) <= MOST_TIGHT_CHARS
    assert text.content.startswith("AAA") and text.content.endswith("Z") and "start_turn=7" in text.content
    short = TextPart("short")
    assert tightened(short, 7) is short


@pytest.mark.parametrize(
    "arguments",
    [
        {"content": "x" * 9_000},
        {f"key{n}": "x" * 90 for n in range(90)},
        {"nested": [{"deep": "x" * 900}] * 9},
        '{"content": "' + "x" * 9_000,
        json.dumps(["x" * 900] * 9),
        "[" * 9_000,
    ],
)
def test_arguments_of_any_shape_are_cut_and_stay_a_mapping(arguments: str | dict[str, object]) -> None:
    call = tightened(ToolCallPart("write_file", arguments, "c1"), 7)
    assert isinstance(call, ToolCallPart) and isinstance(call.args, dict)
    assert len(json.dumps(call.args)) <= MOST_TIGHT_CHARS + TIGHT_CHARS


def test_short_arguments_stay_as_they_are() -> None:
    call = ToolCallPart("read_file", '{"path": "a.py"}', "c1")
    assert tightened(call, 7) is call


@given(st.lists(st.integers(0, 5_000), max_size=30), st.integers(0, 60_000))
def test_the_level_is_the_largest_that_fits(sizes: list[int], room: int) -> None:
    level = level_for(sizes, room)
    assert sum(min(size, level) for size in sizes) <= room
    if sizes and level < max(sizes):
        assert sum(min(size, level + 1) for size in sizes) > room
