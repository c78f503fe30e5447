"""A request as a person reads it: part by part, verbatim, each with its turn."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from loom.config import OFFLINE
from loom.context.usage import Segment


class Standing(StrEnum):
    """What can be said of a request that was put together again."""

    SAME = "same"
    """Its digest is that of the request that was sent."""
    DIFFERENT = "different"
    """Its digest is another one: what is shown is not all as it was."""
    UNKNOWN = "unknown"
    """An older loom sent it and kept no digest, or that is damaged: shown are the turns that were in it, whole."""


@dataclass(frozen=True, slots=True)
class SeenPart:
    """One piece of a request."""

    side: str
    """`loom` (instructions, tools, receipts, hints: its own words), `user`, `model` or `tool`."""
    kind: str
    """`tools`, `instructions`, `state`, or the part's kind as pydantic-ai names it."""
    segment: Segment
    """The segment of the gauge that it counts in."""
    text: str
    """Its words, all of them."""
    counted: int
    """Tokens by our own count, framing included: the same words count the same in every request."""
    tokens: int = 0
    """On the scale of its request: those of a segment add up to the segment's."""
    turn: int | None = None
    """The turn that holds it; None for what is in no turn."""
    tool: str = ""
    call_id: str = ""
    shortened: bool = False
    """True when the archive has more of it than the model saw."""

    @property
    def key(self) -> tuple[object, ...]:
        """What is the same for a part of two requests, however it looks in them."""
        return (self.segment if self.turn is None else self.kind, self.turn, self.call_id)


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """One request, as it was sent."""

    request: int
    exchange: int
    created_at: str
    model_name: str
    window: int
    high_water: int | None
    tokens: int
    """Input tokens, see `loom.context.scale`: the number that every view of this request shows."""
    factor: float
    """Of the same scale: what one token of our own count is on it."""
    expected_tokens: int
    """As the gauge showed it when it was sent."""
    estimated_tokens: int
    """By our own count."""
    reported_tokens: int | None
    cache_read_tokens: int | None
    segments: dict[Segment, int]
    """`tokens` by segment."""
    counted_segments: dict[Segment, int]
    """`estimated_tokens` by segment."""
    turns: tuple[tuple[int, int], ...]
    parts: tuple[SeenPart, ...]
    """In the order in which they were sent."""
    standing: Standing
    missing: tuple[str, ...] = ()
    """What could not be found any more, in words."""

    @property
    def about(self) -> str:
        """`~` where `tokens` is an estimate, as on the gauge."""
        return "" if self.tokens == self.reported_tokens else "~"


def counting_words(seen: SeenRequest) -> str:
    """Whose number `tokens` is, and what else was said of it."""
    counter = "the offline model" if seen.model_name == OFFLINE else "the provider"
    if seen.reported_tokens is None:
        return f"loom's own count; {counter} gave none"
    if seen.tokens == seen.reported_tokens:
        off = seen.expected_tokens != seen.tokens
        return f"counted by {counter}{f'; the gauge had said ~{seen.expected_tokens:,}' if off else ''}"
    return f"loom's own count; that of {counter} ({seen.reported_tokens:,}) cannot be of this request"
