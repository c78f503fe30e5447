"""How many tokens a request may take, and at how many exchanges begin to leave."""

from __future__ import annotations

from dataclasses import dataclass, replace

from loom.config import Settings
from loom.errors import LoomError

RESERVE_SHARE = 4
"""The answer's reserve takes at most this part (a quarter) of the window: 8,000 tokens would be the whole of a small
local model's."""

PIN_SHARE = 10
"""Pins take together at most this part (a tenth) of the window without the reserve."""

PREVIEW_SHARE = 30
"""A single tool output takes at most this part (a thirtieth) of the window without the reserve: some ten steps of an
exchange fit beside it, and the window's beginning stays where it is through most exchanges."""
LEAST_PREVIEW = 300
"""Tokens; a smaller share of a very small window would not say what was found."""

RECALL_SHARE = 8
"""One recall takes at most this part (an eighth) of the window without the reserve: it brings several turns at once."""
LEAST_RECALL = 500
"""Tokens; what frames a recall takes a hundred."""


class WindowTooSmall(LoomError):
    """What must be sent does not fit into the model's window."""


@dataclass(frozen=True, slots=True)
class Marks:
    """Used tokens, everything included, at which something happens."""

    full: int
    """The most that may be sent: the window without the reserve."""
    high: int
    """Above this, exchanges leave."""
    low: int
    """Down to this, once they do."""


@dataclass(frozen=True, slots=True)
class Budget:
    """A model's window and how it is to be used; tokens and shares."""

    window: int
    reserve: int
    high_water: float
    low_water: float
    assumed: bool = False

    def marks(self, floor: int) -> Marks:
        """The marks above a floor (instructions, tools, memory, state) of so many tokens. The shares are of what the
        floor leaves."""
        full = max(0, self.window - self.reserve)
        usable = max(0, full - floor)
        return Marks(full, floor + int(usable * self.high_water), floor + int(usable * self.low_water))

    def slack(self, messages: int) -> int:
        """Of so many messages, how many leave when they are exceeded: with the same share as the marks have."""
        return messages - int(messages * self.low_water / self.high_water)

    @property
    def pin_room(self) -> int:
        """The most tokens that pins may take together, by our own count."""
        return max(0, self.window - self.reserve) // PIN_SHARE

    @property
    def preview_room(self) -> int:
        """The most tokens that one tool output may take, by our own count."""
        return max(LEAST_PREVIEW, (self.window - self.reserve) // PREVIEW_SHARE)

    @property
    def recall_room(self) -> int:
        """The most tokens that one recall may take, by our own count."""
        return max(LEAST_RECALL, (self.window - self.reserve) // RECALL_SHARE)

    def check(self, floor: int) -> None:
        """Raises WindowTooSmall if the floor alone fills the window."""
        full = self.window - self.reserve
        if floor >= full:
            raise WindowTooSmall(
                f"Instructions, tools and session state take about {floor:,} tokens; of the model's window of "
                f"{self.window:,} tokens {max(0, full):,} are left beside the {self.reserve:,} kept for the answer.",
                "Choose a model with a larger window, or correct `context_window` or `output_reserve`.",
            )

    def smaller(self, window: int) -> Budget:
        """The same shares of a smaller window."""
        return replace(self, window=window, reserve=min(self.reserve, window // RESERVE_SHARE))


def budget_for(settings: Settings, window: int, *, assumed: bool = False) -> Budget:
    """The budget of a window of so many tokens under these settings."""
    return Budget(
        window=window,
        reserve=min(settings.output_reserve, window // RESERVE_SHARE),
        high_water=settings.high_water,
        low_water=settings.low_water,
        assumed=assumed,
    )
