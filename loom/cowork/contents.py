"""What the window holds and what left it, in words for a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from loom.archive import Turn

if TYPE_CHECKING:
    # Half a second of imports, of which nothing is needed to hold the record.
    from loom.context.outlook import Outlook


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
    outlook: Outlook | None = None
    """What would leave next; None before the window is counted."""
