"""Words that some write as one and others as two: `roadtrip` and `road trip`."""

from __future__ import annotations

from collections.abc import Iterator

from loom.archive.search.stems import stem
from loom.archive.search.stopwords import STOP_STEMS

SHORTEST = 3
"""Letters of each half: shorter ones make too many words by chance."""


def halves(word: str) -> Iterator[tuple[str, str]]:
    """The stems of each two parts that an English word may be made of; a stop word is none."""
    if not (word.isascii() and word.isalpha()):
        return
    for end in range(SHORTEST, len(word) - SHORTEST + 1):
        first, second = word[:end], word[end:]
        stems = stem(first), stem(second)
        if STOP_STEMS.isdisjoint((first, second, *stems)):
            yield stems
