"""One request, assembled: its messages and what they are made of."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic_ai.messages import ModelMessage

from loom.context.receipts import Receipt, Shortening
from loom.context.recipes import Recipe
from loom.context.usage import Segment


@dataclass(frozen=True, slots=True)
class Assembly:
    """One request, and what it was made of."""

    messages: list[ModelMessage]
    tokens: int
    """Input tokens, on the provider's scale as far as it is known: the number that the gauge shows."""
    counted: int
    """Input tokens by our own count alone; a manifest keeps it beside the provider's."""
    segments: dict[Segment, int]
    """The same tokens, by segment; they add up to `tokens`."""
    counted_segments: dict[Segment, int]
    """The same by our own count; they add up to `counted`."""
    turns: tuple[tuple[int, int], ...]
    """Turn numbers in the window: inclusive ranges, ascending."""
    texts: dict[str, str]
    """What is in the request and is no turn: `state`, `receipt`, `pins`, `hint`."""
    recipe: Recipe
    """How it is put together again; a manifest keeps it."""
    receipt: Receipt | None
    """Set when exchanges left because of this request: store its turn and tell the person."""
    shortening: Shortening | None
    """Set when nothing left and something is shown shorter from this request on: store its turn."""
    notice: str | None
    """Set when the person's own message had to be cut, or what they put back had to go, in words for them."""
