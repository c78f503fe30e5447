"""What the window holds and what left it, in words for a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from loom.archive import Turn
from loom.context.usage import Segment, WindowUsage

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


def usage_words(usage: WindowUsage | None) -> str:
    """The gauge's reading, segment by segment, in lines; tokens and percent of the window."""
    if usage is None:
        return "The window is still being counted."

    def line(name: str, tokens: int) -> str:
        share = 100 * tokens / usage.window if usage.window else 0.0
        return f"{name}: {tokens:,} tokens, {share:.1f}%"

    about = "about " if usage.estimated else ""
    assumed = ", assumed" if usage.window_assumed else ""
    lines = [
        f"The window has {usage.window:,} tokens{assumed}.",
        line(f"used ({about}what the next request takes)", usage.used),
        *(line(f"- {each}", usage.segments[each]) for each in Segment if usage.segments.get(each)),
        line("free", usage.free),
        line("reserve for the answer", usage.reserve),
        line("whole exchanges leave at", usage.high_water),
    ]
    if usage.cost_usd:
        lines.append(f"cost so far: ${usage.cost_usd:.4f}")
    if usage.cache_read_share is not None:
        lines.append(f"from the provider's cache in the last request: {100 * usage.cache_read_share:.0f}%")
    return "\n".join(lines)
