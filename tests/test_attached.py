"""What goes along with a message is told from the words, whatever these are."""

from __future__ import annotations

import pytest

from loom import attached
from loom.attached import MOST_LINES, split_attached, with_attached

LINE = "\n\n[with files 0123456789abcdef]\n\n"


def test_what_goes_along_is_told_from_words_and_files_that_look_like_it() -> None:
    words = f"mine{LINE * (MOST_LINES // 2 - 1)}mine too"
    behind = f"[attached: a.txt, 3 bytes]{LINE * 1_000}"
    assert split_attached(with_attached(words, behind)) == (words, behind)


def test_what_follows_is_read_for_few_lines_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    checksum = attached._checksum

    def counted(text: str) -> str:
        read.append(len(text))
        return checksum(text)

    monkeypatch.setattr(attached, "_checksum", counted)
    pasted = f"mine{(LINE + 'x') * 2_000}"
    assert split_attached(pasted) == (pasted, "")
    assert len(read) == MOST_LINES
