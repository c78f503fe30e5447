"""The o200k_base encoding from the packaged vocabulary: no network, no cache directory."""

from __future__ import annotations

import hashlib
import lzma
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from loom.errors import LoomError

if TYPE_CHECKING:
    import tiktoken

VOCABULARY = 199_998
RAW_SHA256 = "440741350e7cfa1c0f4869ce742d1b043550adbda5187adcac9e787edac6fba9"

# As in tiktoken_ext.openai_public, which would download the vocabulary.
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_PATTERN = "|".join(
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + _CONTRACTION,
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + _CONTRACTION,
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)


class VocabularyDamaged(LoomError):
    """The packaged vocabulary is not the one that was packed."""


@cache
def load_o200k() -> tiktoken.Encoding:
    """The encoding, one for the whole process: it never changes. The first call takes about half a second: make it in a
    thread. Raises VocabularyDamaged."""
    import tiktoken  # 30 ms and a native library

    return tiktoken.Encoding(
        "o200k_base",
        pat_str=_PATTERN,
        mergeable_ranks=read_ranks(),
        special_tokens={"<|endoftext|>": 199_999, "<|endofprompt|>": 200_018},
    )


def read_ranks() -> dict[bytes, int]:
    """Rank by token, from `data/o200k_base.ranks.xz`. Raises VocabularyDamaged."""
    try:
        raw = lzma.decompress((files("loom.context") / "data" / "o200k_base.ranks.xz").read_bytes())
    except (OSError, lzma.LZMAError) as error:
        raise VocabularyDamaged(f"The token vocabulary cannot be read: {error}.", "Install loom again.") from error
    if hashlib.sha256(raw).hexdigest() != RAW_SHA256:
        raise VocabularyDamaged("The token vocabulary is damaged.", "Install loom again.")
    ranks: dict[bytes, int] = {}
    at = VOCABULARY
    for rank, length in enumerate(raw[:VOCABULARY]):
        ranks[raw[at : at + length]] = rank
        at += length
    return ranks
