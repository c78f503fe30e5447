"""How tool outputs look when they are not whole: smaller, saying so, and saying where the rest is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai.messages import BinaryContent, ToolCallPart, ToolReturnPart, UserPromptPart

from loom.context.trimming import MARKER_CHARS, TrimRules, cut_prompt, marked, previewed, shortened
from tests.support.window_rows import words

RULES = TrimRules(preview_tokens=200, trim_chars=1_000)
CALL = ToolCallPart("shell_execute", {"command": "pytest -x"}, "c1")
LINES = "\n".join(f"line {number} of the output" for number in range(1, 1_001))


def output(text: object, **facts: object) -> ToolReturnPart:
    return ToolReturnPart("shell_execute", text, "c1", metadata=facts or None)


def test_a_short_output_is_the_same_object() -> None:
    part = output("ok")
    assert previewed(part, 57, RULES, words) is part
    assert shortened(part, CALL, 57, RULES, words) is part
    assert marked(part, CALL, 57, words) is part


@pytest.mark.parametrize("tokens", [150, 200, 233, 400])
def test_a_preview_is_head_and_tail_lines_and_the_size_between(tokens: int) -> None:
    part = output(LINES)
    text = str(previewed(part, 57, TrimRules(preview_tokens=tokens, trim_chars=1_000), words).content)
    assert text.startswith("line 1 of the output\n") and text.endswith("line 1000 of the output")
    whole = set(LINES.splitlines())
    assert all(line in whole or line.startswith("[… ") for line in text.splitlines())
    assert "lines (≈ " in text and "start_turn=57 end_turn=57 shows all]" in text
    hidden = next(line for line in text.splitlines() if line.startswith("[… "))
    assert f"[… {1_000 - len(text.splitlines()) + 1:,} lines" in hidden
    assert part.content == LINES


def test_a_shortened_output_begins_with_what_it_was() -> None:
    text = str(shortened(output(LINES, exit_code=1), CALL, 57, RULES, words).content)
    assert text.startswith('[shell_execute {"command": "pytest -x"}: exit 1, 1,000 lines (≈ ')
    assert "T57" in text.splitlines()[0] and text.endswith("line 1000 of the output") and len(text) <= 1_000


def test_what_its_marker_would_lengthen_stays_as_it_is() -> None:
    part = output("x" * 120)
    assert shortened(part, CALL, 57, TrimRules(preview_tokens=200, trim_chars=100), words) is part


def test_a_marker_is_one_line_without_content() -> None:
    failed = ToolReturnPart("shell_execute", LINES, "c1", outcome="failed")
    text = str(marked(failed, CALL, 57, words).content)
    assert "\n" not in text and "failed" in text and "line 1 " not in text and len(text) <= MARKER_CHARS


def test_recalls_own_answers_are_never_previewed_and_point_to_asking_again() -> None:
    recalled = ToolReturnPart("conversation_recall", LINES, "c1")
    assert previewed(recalled, 57, RULES, words) is recalled
    assert "ask again" in str(shortened(recalled, None, 57, RULES, words).content)


def test_zero_disables() -> None:
    part = output(LINES)
    off = TrimRules(0, 0)
    assert previewed(part, 57, off, words) is part and shortened(part, CALL, 57, off, words) is part


def test_an_output_that_is_no_text_is_shown_as_text() -> None:
    structured = output({"rows": ["x" * 50] * 100})
    assert len(str(previewed(structured, 57, RULES, words).content)) <= 800
    picture = output(["see", BinaryContent(b"x" * 5_000, media_type="image/png")])
    assert previewed(picture, 57, RULES, words) is picture


def test_of_what_is_hidden_only_the_whole_is_counted() -> None:
    counted: list[str] = []

    def noting(text: str) -> int:
        counted.append(text)
        return words(text)

    shown = str(previewed(output(LINES), 57, RULES, noting).content)
    hidden = [line for line in LINES.split("\n") if f"{line}\n" not in f"{shown}\n"]
    told = int(shown.partition("(≈ ")[2].partition(" tokens")[0].replace(",", ""))
    assert abs(told - words("\n".join(hidden))) <= 2
    assert [text for text in counted if len(text) > len(LINES) // 2] == [LINES]


@pytest.mark.parametrize("text", ["x" * 50_000, "\n" * 50_000, "é\n" * 9_000, "a" * 40_000 + "\nend"])
def test_odd_outputs_are_cut_too(text: str) -> None:
    assert words(str(previewed(output(text), 57, RULES, words).content)) <= 200
    assert len(str(shortened(output(text), CALL, 57, RULES, words).content)) <= 1_000


@given(st.text(alphabet="ab\n 漢", max_size=6_000), st.integers(60, 600), st.integers(100, 2_000))
@settings(deadline=None, max_examples=100)
def test_every_form_is_within_its_bound_or_whole(text: str, tokens: int, chars: int) -> None:
    rules = TrimRules(tokens, chars)
    assert words(str(previewed(output(text), 57, rules, words).content)) <= tokens
    short = str(shortened(output(text), CALL, 57, rules, words).content)
    assert len(short) <= max(chars, MARKER_CHARS) or short == text


@given(st.text(max_size=3_000), st.integers(200, 600))
@settings(deadline=None, max_examples=100)
def test_a_cut_message_fits_and_says_that_it_is_cut(text: str, tokens: int) -> None:
    part = UserPromptPart("START" + text * 4 + "END")
    if words(str(part.content)) <= tokens:
        return
    shown = str(cut_prompt(part, 57, tokens, words).content)
    assert words(shown) <= tokens and "not shown" in shown
    assert shown.startswith("START") and shown.endswith("END")
