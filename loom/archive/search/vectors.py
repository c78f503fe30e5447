"""Packed word vectors, English only: the meaning of a text is the sum of those of its words.

A vector is one large number with a lane of 16 bits for each of its coordinates, so that adding up a text's words is
adding numbers.
"""

from __future__ import annotations

import lzma
import math
import struct
from collections.abc import Iterator, Sequence
from functools import cache, cached_property, lru_cache
from hashlib import blake2b
from importlib.resources import files
from itertools import chain, islice, pairwise

from loom.archive.search.stems import stem
from loom.archive.search.stopwords import STOP_STEMS

MOST_TERMS = 215
"""Words, and pairs of them, of a text that are added up. Times the largest weight and code of a table this must fit a
lane: 215 * 100 * 3 and 215 * 20 * 15 are less than 65,536."""
KEPT = 16_384
"""Terms whose vectors are kept, 300 to 600 bytes each: those that were asked for, read or indexed lately."""


class Vectors:
    """A table of vectors: `NAME.terms.xz`, a stem a line, or two with a space between them for words that stand beside
    each other; `NAME.weights`, a byte for each; `NAME.vectors`, some bits for each coordinate, the first in the lowest
    bits of a byte: a code that counts upwards from the least value, in steps of 2, to the greatest, which is as far
    from 0. The files are read when they are first needed."""

    def __init__(self, name: str, dimensions: int, bits: int, *, pairs: bool = False, guesses: bool = False) -> None:
        """With `pairs` words beside each other are looked for, too. With `guesses` a word that the table lacks gets a
        vector made from its letters, and the largest weight: it is like itself and like no other. Otherwise it says
        nothing."""
        self.dimensions = dimensions
        self.bits = bits
        self._name = name
        self._pairs = pairs
        self._guesses = guesses
        self._bytes = dimensions * bits // 8
        self._lanes = struct.Struct(f"<{dimensions + 1}H")
        # The lane behind the coordinates, in which the weights add up.
        self._weight = 1 << (16 * dimensions)
        self._of_word = lru_cache(KEPT)(self._find_word)
        self._of_row = lru_cache(KEPT)(self._row)

    def known(self, word: str) -> bool:
        """Whether the table has the word."""
        return stem(word) in self.places

    def sum(self, words: Sequence[str]) -> tuple[Sequence[int], float]:
        """The coordinates of the sum of the words' vectors, and of those of the pairs, MOST_TERMS of them, and its
        length; 0 where no word says anything. Stop words and single characters do not, outside of pairs."""
        terms: Iterator[int] = map(self._of_word, words)
        if self._pairs:
            terms = chain(terms, self._of_pairs(words))
        total = sum(islice(filter(None, terms), MOST_TERMS))
        *codes, weight = self._lanes.unpack(total.to_bytes(self._lanes.size, "little"))
        least = (1 << self.bits) - 1
        sides = [2 * code - least * weight for code in codes]
        return sides, math.hypot(*sides)

    def _find_word(self, word: str) -> int:
        key = stem(word)
        if len(word) == 1 or key in STOP_STEMS or word in STOP_STEMS:
            return 0
        place = self.places.get(key)
        if place is not None:
            return self._of_row(place)
        if not self._guesses:
            return 0
        return self._weighed(blake2b(key.encode(), digest_size=self._bytes).digest(), self._largest)

    def _of_pairs(self, words: Sequence[str]) -> Iterator[int]:
        known = map(self.places.get, map(" ".join, pairwise(map(stem, words))))
        return (self._of_row(place) for place in known if place is not None)

    def _row(self, place: int) -> int:
        return self._weighed(self.rows[place * self._bytes : (place + 1) * self._bytes], self.weights[place])

    def _weighed(self, row: bytes, weight: int) -> int:
        codes = b"".join(map(_lanes_of(self.bits).__getitem__, row))
        return (int.from_bytes(codes, "little") | self._weight) * weight

    @cached_property
    def places(self) -> dict[str, int]:
        """The terms, with the numbers of their rows."""
        terms = lzma.decompress(self._read("terms.xz")).decode("ascii").split("\n")
        return {key: place for place, key in enumerate(terms)}

    @cached_property
    def rows(self) -> bytes:
        """The packed coordinates, row after row."""
        return self._read("vectors")

    @cached_property
    def weights(self) -> bytes:
        """What each term weighs."""
        return self._read("weights")

    @cached_property
    def _largest(self) -> int:
        return max(self.weights)

    def _read(self, suffix: str) -> bytes:
        return files("loom.archive.search").joinpath(f"data/{self._name}.{suffix}").read_bytes()


@cache
def _lanes_of(bits: int) -> list[bytes]:
    """The codes of each byte, a lane for each."""
    codes = range(0, 8, bits)
    mask = (1 << bits) - 1
    return [struct.pack(f"<{len(codes)}H", *(byte >> at & mask for at in codes)) for byte in range(256)]
