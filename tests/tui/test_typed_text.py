"""What the terminal hands over: any bytes are text, and a paste is one paste wherever the reads cut it."""

from __future__ import annotations

import pytest
from textual._xterm_parser import XTermParser
from textual.events import Key, Paste

from loom.tui.typed_text import TypedText, pasted

PASTED = "one \x1b[31mred\x1b\x1b[2 \x1b\x7f!ls\r\n日本語 \x1b"
TYPED = f"a\x1b[200~{PASTED}\x1b[201~b\x1b[200~\x1b[201~c"


def _events(pieces: list[bytes]) -> list[str]:
    """Keys and pastes as they come of bytes that are read piece by piece."""
    typed, parser = TypedText(), XTermParser()
    texts = [typed.take(piece) for piece in pieces]
    found: list[str] = []
    # Nothing is the end of all for the parser.
    for event in (event for text in texts if text for event in parser.feed(text)):
        assert isinstance(event, Key | Paste)
        found.append(pasted(event).text if isinstance(event, Paste) else event.character or "")
    return found


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 1_000])
def test_a_paste_is_one_wherever_it_is_cut(size: int) -> None:
    data = TYPED.encode()
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    assert _events(pieces) == ["a", PASTED, "b", "", "c"]


def test_the_end_of_a_paste_is_the_last_one_before_another_begins() -> None:
    ends = "\x1b[200~one\x1b[201~!ls\r\x1b[201~two\x1b[201~a\x1b[200~three\x1b[201~b"
    assert _events([ends.encode()]) == ["one\x1b[201~!ls\r\x1b[201~two", "a", "three", "b"]


def test_bytes_that_are_no_text_are_shown_as_such() -> None:
    assert _events([b"caf\xe9", b" \xff", "é".encode()[:1], "é".encode()[1:]]) == [*"caf\ufffd \ufffdé"]
