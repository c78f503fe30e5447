"""Messages and commands, kept as text and read again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loom.cowork.typed import Typed, joined, packed, placed, read_placed, read_typed, unpacked

texts = st.text("! a\n/", max_size=8)
strange = st.text("! a\n\x11", max_size=8)


@given(texts, st.booleans())
def test_what_is_spelled_is_read_as_what_it_was(text: str, is_command: bool) -> None:
    typed = Typed(text, is_command)
    assert read_typed(typed.spelled) == typed


@given(texts)
def test_a_message_is_never_read_as_a_command(text: str) -> None:
    assert not read_typed(Typed(text).spelled).is_command


@given(st.lists(texts))
def test_what_is_packed_comes_out_piece_by_piece(pieces: list[str]) -> None:
    assert unpacked(packed(*pieces)) == [piece for piece in pieces if piece.strip()]
    assert packed(packed(*pieces), "end") == packed(*pieces, "end")


def test_one_piece_stays_what_it_is_and_several_are_a_message() -> None:
    assert joined("", "!ls", "  ") == "!ls"
    assert not read_typed(joined("!ls", "and then?")).is_command
    assert joined("see", "!ls") == "see\n\n!ls"
    assert joined() == ""


@given(strange, st.integers(0, 8))
def test_the_place_of_the_cursor_costs_no_character(text: str, place: int) -> None:
    found, where = read_placed(placed(text, place))
    assert found == text
    assert where == (None if not text.strip() else 0 if "\x11" in text else min(place, len(text)))


@given(st.text(" \n\t", max_size=8), st.integers(0, 8))
def test_the_place_of_the_cursor_makes_no_words_of_blanks(text: str, place: int) -> None:
    assert packed(placed(text, place), "end") == "end"


@given(texts)
def test_what_was_kept_without_a_place_has_none(text: str) -> None:
    assert read_placed(text) == (text, None)
