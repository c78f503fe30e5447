"""Output is kept whole, or its two ends with the number of bytes between."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loom.tools.capture import Capture


@given(st.lists(st.binary(max_size=40)), st.integers(2, 60))
def test_both_ends_are_kept_however_the_bytes_arrive(pieces: list[bytes], limit: int) -> None:
    capture = Capture(limit)
    for piece in pieces:
        capture.take(piece)
    whole = b"".join(pieces)
    assert capture.dropped == max(0, len(whole) - limit)
    if not capture.dropped:
        assert capture.text() == whole.decode("utf-8", "replace")


@given(st.text(alphabet="aé日😀", min_size=30), st.integers(8, 25))
def test_no_character_is_cut_in_two(text: str, limit: int) -> None:
    capture = Capture(limit)
    capture.take(text.encode())
    assert capture.dropped
    assert "\ufffd" not in capture.text()
    head, _, tail = capture.text().split("\n")
    assert text.startswith(head)
    assert text.endswith(tail)


@given(st.lists(st.text(alphabet="aé日😀\n", max_size=12)), st.integers(20, 60), st.integers(4, 30))
def test_the_end_is_that_of_what_came(pieces: list[str], limit: int, size: int) -> None:
    capture = Capture(limit)
    for piece in pieces:
        capture.take(piece.encode())
    end = capture.end(size)
    assert "".join(pieces).endswith(end)
    assert len(end.encode()) >= min(size, len("".join(pieces).encode()), limit - limit // 2) - 6
