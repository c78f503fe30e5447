"""What the window holds and what left it, in words for a person."""

from __future__ import annotations

from dataclasses import dataclass

from loom.archive import Turn


@dataclass(frozen=True, slots=True)
class ExchangeInWindow:
    """One exchange that the model sees."""

    exchange: int
    first_turn: int
    last_turn: int
    tokens: int
    text: str
    """What the person said to begin it; empty when that turn has left."""


@dataclass(frozen=True, slots=True)
class WindowContents:
    """The window exchange by exchange."""

    exchanges: tuple[ExchangeInWindow, ...]
    """Oldest first."""
    marks: tuple[Turn, ...]
    """The turns that moved the window's beginning (receipts, summaries, clearings), newest first."""
