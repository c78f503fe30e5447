"""Marks in untrusted text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom.text import UNSAFE
from loom.tui.highlight import excerpt, marked, marked_line, occurrences, words_of
from tests.support.browsing import HOSTILE

spans = st.lists(st.tuples(st.integers(0, 80), st.integers(0, 80)), max_size=6)


@given(st.text(max_size=80), spans)
def test_no_text_and_no_marks_can_raise_or_leave_an_unsafe_character(text: str, wild: list[tuple[int, int]]) -> None:
    assert not UNSAFE.search(marked(text, wild).plain)
    assert not UNSAFE.search(marked_line(text, wild, 30).plain)
    assert marked_line(text, wild, 30).cell_length <= 30


def test_a_mark_stays_on_its_word_when_characters_before_it_become_visible() -> None:
    content = marked("\x1b\u202e timeout", [(3, 10)])
    start, end, _ = content.spans[0]
    assert content.plain[start:end] == "timeout"


def test_markup_is_text() -> None:
    assert "[@click=app.quit]quit[/]" in marked(HOSTILE, []).plain


def test_a_line_begins_near_its_first_mark() -> None:
    text = "x " * 200 + "needle" + " y" * 200
    line = marked_line(text, [(400, 406)], 40)
    assert line.plain.startswith("…") and "needle" in line.plain


@pytest.mark.parametrize("width", [8, 30, 43, 100])
@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("the message データベース", ""),
        ("データベースの接続に関する長い説明がここに続きます。", ""),
        ("データベースの接続に関する長い説明がここに続きます。", "を確認してください。"),
        ("\x1b\u202e" * 40, " and on"),
        ("a" + "\u0301" * 30, ""),
        ("👩‍💻🚀" * 20, "🚀" * 20),
        ("plain words " * 9, ""),
        ("", "x" * 300),
    ],
)
def test_the_first_mark_is_seen_however_wide_its_neighbours_are(before: str, behind: str, width: int) -> None:
    line = marked_line(f"{before}接続{behind}", [(len(before), len(before) + 2)], width)
    assert line.cell_length <= width
    (span,) = line.spans
    assert line.plain[span.start : span.end].rstrip("…").startswith("接")


def test_a_line_has_no_line_ends() -> None:
    assert marked_line("one\ntwo\tthree", [], 40).plain == "one two three"


def test_the_words_of_a_snippet_are_found_wherever_they_stand() -> None:
    words = words_of("the Timeout and a time", [(4, 11), (18, 22)])
    assert words == ("Timeout", "time")
    assert occurrences("TIMEOUT, time", words) == [(0, 7), (9, 13)]


def test_no_words_are_found_nowhere() -> None:
    assert occurrences("anything", ()) == []


def test_an_excerpt_holds_its_place_and_ends_at_line_ends() -> None:
    text = "\n".join(f"line {n}" for n in range(1_000))
    at = text.index("line 500")
    start, end = excerpt(text, at, 100, 100)
    assert start <= at < end
    assert text[start - 1] == "\n" and text[end] == "\n"


@given(st.text(max_size=200), st.integers(0, 200), st.integers(0, 50), st.integers(1, 50))
def test_an_excerpt_is_always_within_the_text(text: str, at: int, before: int, after: int) -> None:
    at = min(at, len(text))
    start, end = excerpt(text, at, before, after)
    assert 0 <= start <= at <= max(end, at) <= len(text)
