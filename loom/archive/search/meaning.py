"""How near texts are to a question in meaning, with words in common or without.

The meaning of a text is the sum of its words' vectors, the commonest words weighing least; two meanings are as near as
the cosine of the angle between them. The vectors are GloVe's, packed by tests/bench/pack_meaning.py, English only. A
word that has none gets one made from its letters: it is like itself and like no other.

A vector is one large number with a lane of 16 bits for each of its coordinates, so that adding up a text's words is
adding numbers.
"""

from __future__ import annotations

import lzma
import math
import struct
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from importlib.resources import files
from operator import mul

from loom.archive.search.stems import stem
from loom.archive.search.stopwords import STOP_STEMS
from loom.archive.search.words import plain_words

DIMENSIONS = 96
MOST_CHARACTERS, MOST_WORDS = 1_500, 200
"""Of a text that are looked at: its beginning says what it is about. Times the largest weight and code this must fit a
lane: 200 * 100 * 3 is less than 65,536."""
LARGEST_WEIGHT = 100
COMMON = 1_000
"""The rank from which on a word weighs more than half: what is rarer says what a text is about."""
KEPT = 16_384
"""Words whose vectors are kept, 300 bytes each: those of what was asked lately and of the turns that came near."""

_ROW = DIMENSIONS // 4
_LANES = struct.Struct(f"<{DIMENSIONS + 1}H")
_WEIGHT = 1 << (16 * DIMENSIONS)
"""The lane behind the coordinates, in which the weights add up."""
_SPREAD = [struct.pack("<4H", byte & 3, byte >> 2 & 3, byte >> 4 & 3, byte >> 6) for byte in range(256)]
"""The four codes of a byte, a lane each."""


class Meaning:
    """What a question means, to compare texts with. `names` are words that only name a speaker: they do not count."""

    def __init__(self, question: str, names: Collection[str]) -> None:
        self._names = frozenset(names)
        words = dict.fromkeys(self._words(question))
        sides, length = _sides(words)
        known = any(stem(word) in _ranks() for word in words)
        self._direction = [side / length for side in sides] if known and length else []

    def nearness(self, text: str) -> float:
        """How near a text is, -1 to 1; 0 where the question has no known word, or the text none that counts."""
        if not self._direction:
            return 0.0
        sides, length = _sides(self._words(text[:MOST_CHARACTERS]))
        return sum(map(mul, self._direction, sides)) / length if length else 0.0

    def _words(self, text: str) -> list[str]:
        return [word for word in plain_words(text)[:MOST_WORDS] if word not in self._names]


def _sides(words: Iterable[str]) -> tuple[Sequence[float], float]:
    """The coordinates of the sum of the words' vectors, and its length. A code stands for twice itself less 3."""
    *codes, weight = _LANES.unpack(sum(map(_vector, words)).to_bytes(_LANES.size, "little"))
    sides = [2 * code - 3 * weight for code in codes]
    return sides, math.hypot(*sides)


@lru_cache(KEPT)
def _vector(word: str) -> int:
    """The weighted vector of a word in lanes; 0 of a stop word and of a single character."""
    key = stem(word)
    if len(word) == 1 or key in STOP_STEMS or word in STOP_STEMS:
        return 0
    rank = _ranks().get(key)
    if rank is None:
        row, weight = blake2b(key.encode(), digest_size=_ROW).digest(), LARGEST_WEIGHT
    else:
        row = _rows()[rank * _ROW : (rank + 1) * _ROW]
        weight = 1 + round((LARGEST_WEIGHT - 1) * rank / (rank + COMMON))
    return (int.from_bytes(b"".join(map(_SPREAD.__getitem__, row)), "little") | _WEIGHT) * weight


@lru_cache(maxsize=1)
def _ranks() -> dict[str, int]:
    """The stems that have a vector, with their places among the commonest."""
    packed = files("loom.archive.search").joinpath("data/meaning.stems.xz").read_bytes()
    return {key: rank for rank, key in enumerate(lzma.decompress(packed).decode("ascii").split("\n"))}


@lru_cache(maxsize=1)
def _rows() -> bytes:
    return files("loom.archive.search").joinpath("data/meaning.vectors").read_bytes()
