"""Counts tokens: exactly as o200k_base does once its vocabulary is loaded, by a fast estimate until then."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from loom.context.estimate import estimate
from loom.context.o200k import load_o200k

if TYPE_CHECKING:
    import tiktoken

PIECE_CHARS = 16_384
"""Text is encoded in pieces of at most this many characters: the encoder is quadratic in a run without a break, and
1 MB of one letter takes 0.4 s whole."""

WHOLE_CHARS = 262_144
"""Longer texts are counted by samples, so that a 2 MB tool output does not hold the event loop for half a second."""

SAMPLES = 12

_MEMO_ENTRIES = 8_192
_MEMO_MIN_CHARS = 64


class TokenCounter:
    """Tokens of text, messages and tool schemas. Safe to use from one thread while `load` runs in another."""

    def __init__(self) -> None:
        self._encoding: tiktoken.Encoding | None = None
        self._memo: OrderedDict[tuple[int, int], int] = OrderedDict()

    def twin(self) -> TokenCounter:
        """A counter with the same vocabulary and a memory of its own, for another thread."""
        twin = TokenCounter()
        twin._encoding = self._encoding
        return twin

    @property
    def loaded(self) -> bool:
        """True once counts are the tokenizer's and no longer estimates."""
        return self._encoding is not None

    def load(self) -> None:
        """Load the vocabulary: half a second, so call it in a thread. Raises VocabularyDamaged."""
        if self._encoding is None:
            encoding = load_o200k()
            encoding.encode_ordinary("the first call compiles the pattern")
            self._encoding = encoding
            self._memo = OrderedDict()

    def count(self, text: str) -> int:
        """Tokens of the text; texts over WHOLE_CHARS by SAMPLES pieces of it (within 2% on text of one kind)."""
        if len(text) < _MEMO_MIN_CHARS:
            return self._count(text)
        memo, key = self._memo, (len(text), hash(text))
        known = memo.get(key)
        if known is None:
            known = memo[key] = self._count(text)
            if len(memo) > _MEMO_ENTRIES:
                memo.popitem(last=False)
        return known

    def count_schema(self, tools: Iterable[Any]) -> int:
        """Tokens of tool schemas (pydantic-ai ToolDefinitions or JSON schema mappings)."""
        from loom.context.measure import schema_tokens  # imports pydantic_ai: half a second

        return schema_tokens(tools, self.count)

    def _count(self, text: str) -> int:
        if len(text) <= WHOLE_CHARS:
            return sum(self._exact(piece) for piece in _pieces(text))
        step = (len(text) - PIECE_CHARS) // (SAMPLES - 1)
        sampled = sum(self._exact(text[at * step : at * step + PIECE_CHARS]) for at in range(SAMPLES))
        return round(sampled * len(text) / (SAMPLES * PIECE_CHARS))

    def _exact(self, piece: str) -> int:
        encoding = self._encoding
        return estimate(piece) if encoding is None else len(encoding.encode_ordinary(piece))


def _pieces(text: str) -> Iterable[str]:
    """The text in pieces of at most PIECE_CHARS, cut behind a newline where there is one in the last quarter."""
    at = 0
    while len(text) - at > PIECE_CHARS:
        end = text.rfind("\n", at + PIECE_CHARS * 3 // 4, at + PIECE_CHARS) + 1 or at + PIECE_CHARS
        yield text[at:end]
        at = end
    if at < len(text):
        yield text[at:]
