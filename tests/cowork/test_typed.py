"""Messages and commands, kept as text and read again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loom.cowork.typed import Typed, joined, packed, read_typed, unpacked

texts = st.text("! a\n/", max_size=8)


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
