"""How full the window is: the numbers that the gauge draws and the trigger uses. They are the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Segment(StrEnum):
    """The parts of a window, in the order in which they are sent."""

    TOOLS = "tools"
    INSTRUCTIONS = "instructions"
    MEMORY = "memory"
    PROJECT = "project"
    STATE = "state"
    RECEIPT = "receipt"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    RECALLED = "recalled"
    PINS = "pins"
    HINT = "hint"


@dataclass(frozen=True, slots=True)
class WindowUsage:
    """One reading of the gauge; every number in tokens."""

    segments: dict[Segment, int]
    window: int
    """The model's context window."""
    window_assumed: bool
    """True when nobody told us the window's size and 200,000 was assumed."""
    reserve: int
    """Kept free for the answer."""
    high_water: int
    """The used tokens at which whole exchanges leave the window."""
    put_back: bool = field(default=False, kw_only=True)
    """True while what the person put back into the window is left alone: `high_water` is the full window as long, see
    `loom.context.restored`."""
    used: int
    """Input tokens of the next request. The provider's own count up to its last response, estimated since."""
    estimated: bool
    """True when any of `used` is an estimate (drawn with `~`)."""
    cost_usd: float = 0.0
    """Of the whole session."""
    cache_read_share: float | None = None
    """Cached share of the last request's input, 0 to 1; None when the provider did not say."""

    @property
    def percent(self) -> float:
        """Used share of the whole window, 0 to 100 and above when it overflows."""
        return 100.0 * self.used / self.window if self.window else 0.0

    @property
    def free(self) -> int:
        return max(0, self.window - self.reserve - self.used)


def short_tokens(tokens: int) -> str:
    """`812`, `8.4k`, `84k`, `1.2M`."""
    if tokens < 1_000:
        return str(tokens)
    if tokens < 9_950:
        return f"{tokens / 1_000:.1f}k".replace(".0k", "k")
    if tokens < 999_500:
        return f"{tokens / 1_000:.0f}k"
    return f"{tokens / 1_000_000:.1f}M".replace(".0M", "M")
