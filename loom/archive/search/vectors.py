"""Packed word vectors, English only: the meaning of a text is the sum of those of its words.

A vector is one large number with a lane of 16 bits for each of its coordinates, so that adding up a text's words is
adding numbers.
"""

from __future__ import annotations

import lzma
import math
import struct
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from hashlib import blake2b
from importlib.resources import files
from itertools import islice

from loom.archive.search.stems import stem
from loom.archive.search.stopwords import STOP_STEMS

MOST_WORDS = 200
"""Of a text that are added up. Times the largest weight and code this must fit a lane: 200 * 100 * 3 is less than
65,536."""
LARGEST_WEIGHT = 100
KEPT = 16_384
"""Words whose vectors are kept, 300 to 600 bytes each: those that were asked for, read or indexed lately."""

_SPREAD = [struct.pack("<4H", byte & 3, byte >> 2 & 3, byte >> 4 & 3, byte >> 6) for byte in range(256)]
"""The four codes of a byte, a lane each."""


class Vectors:
    """A table of vectors: `NAME.stems.xz`, a stem a line; `NAME.weights`, a byte for each, 1 to 100; `NAME.vectors`,
    two bits for each coordinate, four a byte, the first in the lowest bits, 0 for -3 up to 3 for 3. The files are read
    when they are first needed."""

    def __init__(self, name: str, dimensions: int, *, guesses: bool) -> None:
        """With `guesses` a word that the table lacks gets a vector made from its letters, and the largest weight: it
        is like itself and like no other. Otherwise it says nothing."""
        self.dimensions = dimensions
        self._name = name
        self._guesses = guesses
        self._row = dimensions // 4
        self._lanes = struct.Struct(f"<{dimensions + 1}H")
        # The lane behind the coordinates, in which the weights add up.
        self._weight = 1 << (16 * dimensions)
        self._vector = lru_cache(KEPT)(self._made)

    def known(self, word: str) -> bool:
        """Whether the table has the word."""
        return stem(word) in self.places

    def sum(self, words: Iterable[str]) -> tuple[Sequence[int], float]:
        """The coordinates of the sum of the words' vectors, at most MOST_WORDS of them, and its length; 0 where no
        word says anything. Stop words and single characters do not."""
        total = sum(map(self._vector, islice(words, MOST_WORDS)))
        *codes, weight = self._lanes.unpack(total.to_bytes(self._lanes.size, "little"))
        # A code stands for twice itself less 3.
        sides = [2 * code - 3 * weight for code in codes]
        return sides, math.hypot(*sides)

    def _made(self, word: str) -> int:
        key = stem(word)
        if len(word) == 1 or key in STOP_STEMS or word in STOP_STEMS:
            return 0
        place = self.places.get(key)
        if place is not None:
            row, weight = self.rows[place * self._row : (place + 1) * self._row], self.weights[place]
        elif self._guesses:
            row, weight = blake2b(key.encode(), digest_size=self._row).digest(), LARGEST_WEIGHT
        else:
            return 0
        return (int.from_bytes(b"".join(map(_SPREAD.__getitem__, row)), "little") | self._weight) * weight

    @cached_property
    def places(self) -> dict[str, int]:
        """The stems, with the numbers of their rows."""
        stems = lzma.decompress(self._read("stems.xz")).decode("ascii").split("\n")
        return {key: place for place, key in enumerate(stems)}

    @cached_property
    def rows(self) -> bytes:
        """The packed coordinates, row after row."""
        return self._read("vectors")

    @cached_property
    def weights(self) -> bytes:
        """What each stem weighs."""
        return self._read("weights")

    def _read(self, suffix: str) -> bytes:
        return files("loom.archive.search").joinpath(f"data/{self._name}.{suffix}").read_bytes()
