"""Words that mean nearly the same as another, or a kind of it: `movie` and `film`, `instrument` and `violin`.

From GloVe's word vectors and WordNet 3.0, packed by tests/bench/pack_related.py; English only.
"""

from __future__ import annotations

import lzma
import re
from functools import lru_cache
from importlib.resources import files

_OTHER = re.compile(r"([a-z]+)(\d\d)")

Related = tuple[tuple[str, float], ...]
"""Stems with how alike they are, 0 to 1, the most alike first."""


def related_to(stem: str) -> Related:
    """The stems that are related to one; none for a rare word."""
    return tuple((other, int(alike) / 100) for other, alike in _OTHER.findall(_lines().get(stem, "")))


@lru_cache(maxsize=1)
def _lines() -> dict[str, str]:
    packed = files("loom.archive.search").joinpath("data/related.txt.xz").read_bytes()
    split = (line.partition(" ") for line in lzma.decompress(packed).decode("ascii").splitlines())
    return {stem: others for stem, _, others in split}
