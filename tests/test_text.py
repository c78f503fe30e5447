"""Untrusted text is made visible, never obeyed."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom.text import plural, show, show_block, show_line, storable, without_overwritten

ANY_TEXT = st.text(alphabet=st.characters(codec=None, categories=None), max_size=400)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31mred", "␛[31mred"),
        ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
        ("a\rb", "a␍b"),
        ("a\r\nb", "a\nb"),
        ("tab\tnew\nline", "tab\tnew\nline"),
        ("nul\x00", "nul␀"),
        ("\x7f", "␡"),
        ("\x9b31m", "‹U+009B›31m"),
        ("abc\u202edef", "abc‹U+202E›def"),
        ("tag\U000e0041", "tag‹U+E0041›"),
        ("half\ud800", "half‹U+D800›"),
        ("👩\u200d🔬 family", "👩\u200d🔬 family"),
        ("[/foo] [@click=app.quit]x", "[/foo] [@click=app.quit]x"),
    ],
)
def test_what_could_move_reorder_or_hide_becomes_visible(raw: str, shown: str) -> None:
    assert show(raw) == shown


@given(ANY_TEXT)
def test_nothing_shown_is_a_control_and_showing_twice_changes_nothing(raw: str) -> None:
    shown = show(raw)
    assert show(shown) == shown
    assert not [c for c in shown if unicodedata.category(c) in {"Cc", "Cs"} and c not in "\n\t"]


@given(ANY_TEXT, st.integers(min_value=2, max_value=60))
def test_a_line_is_one_line_within_its_limit(raw: str, limit: int) -> None:
    line = show_line(raw, limit)
    assert len(line) <= limit
    assert "\n" not in line


def test_a_cut_line_ends_in_an_ellipsis_and_a_short_one_does_not() -> None:
    assert show_line("x" * 50, 10) == "xxxxxxxxx…"
    assert show_line("  two \n words ", 20) == "two words"
    assert show_line(" " * 100_000 + "far away", 20).endswith("…")


def test_a_block_says_how_much_it_leaves_out() -> None:
    block = show_block("y" * 100_000, max_chars=1_000, max_line=100)
    assert len(block) < 1_200
    assert "(900 more)" in block
    assert "99,000 more characters" in block
    assert show_block("short\ntext") == "short\ntext"


@given(ANY_TEXT)
def test_storable_text_can_always_be_encoded(raw: str) -> None:
    stored = storable(raw)
    stored.encode("utf-8")
    if not any("\ud800" <= c <= "\udfff" for c in raw):
        assert stored == raw


def test_two_surrogates_that_mean_a_character_become_it() -> None:
    assert storable("\ud83d\ude00 and \ud83d alone") == "😀 and \ufffd alone"


def test_what_a_carriage_return_wrote_over_is_folded_visibly() -> None:
    bar = "fetching\n 1%\r 50%\r100%\ndone\r\n"
    assert without_overwritten(bar) == "fetching\n…␍100%\ndone\n"
    assert without_overwritten("50%\r") == "50%", "nothing is written over yet"
    assert without_overwritten("\rfirst") == "first"
    assert without_overwritten("plain\ntext\n") == "plain\ntext\n"


def test_a_progress_bar_of_any_length_takes_no_time_that_grows_with_its_square() -> None:
    assert without_overwritten("x" * 2_000_000) == "x" * 2_000_000
    assert without_overwritten("12%\r" * 500_000 + "end") == "…␍end"


def test_one_is_no_plural() -> None:
    assert [plural(n, "turn") for n in (0, 1, 2, 12_000)] == ["0 turns", "1 turn", "2 turns", "12,000 turns"]
    assert plural(1, "match", "matches") == "1 match" and plural(3, "match", "matches") == "3 matches"
