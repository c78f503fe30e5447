"""Lines of a log that are the same but for their numbers: `port 3000 already in use`, asked for where it was 8080."""

from __future__ import annotations

import re
from collections.abc import Iterable

LEAST_LETTERS = 8
"""What a line has beside its numbers, at least …"""
LEAST_WORDS = 2
"""… in so many words, where it is of a script that writes words apart: `page 404` is no other page."""

_NUMBER = re.compile(r"0x[0-9a-f]+|(?<![^\W_])\d+(?:[.,:t-]\d+)*(?=[a-z%]{0,3}(?![^\W_]))|(?<=[^\x00-\u0fff])\d+")
"""A number, also a time or an address, and without its unit (`30` of `30s`); none within a word (`e0433`), but for
scripts without spaces."""
_WORD = re.compile(r"[^\W\d_]+")


def beside_numbers(passage: str) -> str:
    """A folded passage without its numbers; empty where it has none, or little else."""
    bare = _NUMBER.sub(" ", passage)
    words = _WORD.findall(bare)
    is_enough = sum(map(len, words)) >= LEAST_LETTERS and (len(words) >= LEAST_WORDS or not bare.isascii())
    return bare if bare != passage and is_enough else ""


def with_other_numbers(passage: str, texts: Iterable[tuple[int, str]]) -> list[int]:
    """The places of those folded texts in which a folded passage stands, whatever its numbers are."""
    wanted = _alike(passage)
    longest = max(_NUMBER.split(passage), key=len).strip()
    # To look for numbers in every text takes far longer than for a few words.
    return [place for place, text in texts if longest in text and wanted in _alike(text)]


def _alike(text: str) -> str:
    return _NUMBER.sub("0", text)
