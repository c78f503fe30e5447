"""How near texts are to a question in meaning, with words in common or without.

Two meanings are as near as the cosine of the angle between them. Two tables of vectors say what words mean:

- GloVe's (tests/bench/pack_glove.py), the commonest words weighing least, order what was found by its words;
- those that were made to sum up to what a sentence means (tests/bench/pack_sentences.py) find what was said in quite
  other words.
"""

from __future__ import annotations

from collections.abc import Collection
from operator import mul

from loom.archive.search.vectors import Vectors
from loom.archive.search.words import plain_words

WORDS = Vectors("glove", 96, 2, guesses=True)
SENTENCES = Vectors("sentences", 192, 4, pairs=True)
SKETCH_BYTES = SENTENCES.dimensions // 8

MOST_CHARACTERS = 1_500
"""Of a text that are looked at: its beginning says what it is about."""
MOST_WORDS = 200
"""Of these, stop words among them."""


class Meaning:
    """What a question means, to compare texts with. `names` are words that only name a speaker: they do not count."""

    def __init__(self, question: str, names: Collection[str], vectors: Vectors = WORDS) -> None:
        self._names = frozenset(names)
        self._vectors = vectors
        words = list(dict.fromkeys(self._words(question)))
        sides, length = vectors.sum(words)
        known = any(map(vectors.known, words))
        self.direction = [side / length for side in sides] if known and length else []
        """The coordinates of what it means, of length 1; none where no word is known."""

    def nearness(self, text: str) -> float:
        """How near a text is, -1 to 1; 0 where the question has no known word, or the text none that counts."""
        if not self.direction:
            return 0.0
        sides, length = self._vectors.sum(self._words(text[:MOST_CHARACTERS]))
        return sum(map(mul, self.direction, sides)) / length if length else 0.0

    def _words(self, text: str) -> list[str]:
        return [word for word in plain_words(text)[:MOST_WORDS] if word not in self._names]


def sketch_of(text: str) -> bytes:
    """What a text means, in a bit for each coordinate of `SENTENCES`, the first in the lowest of the first byte:
    whether it is positive. Of two texts as many bits are alike as the angle between them is small (Charikar 2002).
    None is set where it has no known word: that is like nothing."""
    sides, length = SENTENCES.sum(plain_words(text[:MOST_CHARACTERS])[:MOST_WORDS])
    bits = "".join("1" if length and side > 0 else "0" for side in reversed(sides))
    return int(bits, 2).to_bytes(SKETCH_BYTES, "little")
