"""How many tokens things take on the provider's scale, and where the marks are."""

from __future__ import annotations

from dataclasses import replace

from loom.context.budget import LEAST_PREVIEW, Budget, Marks
from loom.context.measure import PART_OVERHEAD, Count
from loom.context.scale import factor_of
from loom.context.usage import Segment


class Meter:
    """The budget, the floor (what is in every request and never leaves), and the scale learned from reports.

    The provider's count of a request over ours is the scale. Read on it, our count of that request is the provider's
    own number, and of any later one an estimate that differs only in what has changed since.
    """

    def __init__(self, budget: Budget, count: Count) -> None:
        self.budget = budget
        self.floor = {
            Segment.TOOLS: 0,
            Segment.INSTRUCTIONS: 0,
            Segment.MEMORY: 0,
            Segment.PROJECT: 0,
            Segment.STATE: 0,
        }
        self.state = ""
        self.memory = ""
        self.project = ""
        self._count = count
        self._factor = 1.0
        self._assembled: int | None = None
        self._reported: int | None = None

    def set_floor(self, *, tools: int, instructions: int) -> None:
        self.floor |= {Segment.TOOLS: tools, Segment.INSTRUCTIONS: instructions}

    def set_beside(self, memory: str, project: str) -> None:
        self.memory, self.project = memory, project
        for segment, text in ((Segment.MEMORY, memory), (Segment.PROJECT, project)):
            self.floor[segment] = self._count(text) + PART_OVERHEAD if text else 0

    def set_state(self, text: str) -> None:
        self.state = text
        self.floor[Segment.STATE] = self._count(text) + PART_OVERHEAD if text else 0

    def recount(self) -> None:
        """The counter has become exact: what was learned of the old one is void."""
        self.set_state(self.state)
        self._factor = 1.0
        self._assembled = self._reported = None

    @property
    def floor_tokens(self) -> int:
        """By our own count."""
        return sum(self.floor.values())

    @property
    def factor(self) -> float:
        """The provider's tokens for one of ours."""
        return self._factor

    def scaled(self, tokens: int) -> int:
        """Our count on the provider's scale."""
        return round(tokens * self._factor)

    def unscaled(self, tokens: int) -> int:
        """The provider's count on our scale."""
        return int(tokens / self._factor)

    def marks(self) -> Marks:
        return self.budget.marks(self.scaled(self.floor_tokens))

    def floor_mark(self, share: float) -> int:
        """So much of what the floor leaves of the window, above the floor; on the provider's scale."""
        floor = self.scaled(self.floor_tokens)
        return floor + int(max(0, self.marks().full - floor) * share)

    def check(self) -> None:
        """Raises WindowTooSmall if the floor alone fills the window."""
        self.budget.check(self.scaled(self.floor_tokens))

    def assembled(self, tokens: int) -> None:
        """A request of so many tokens by our count is about to be sent."""
        self._assembled = tokens

    def report(self, input_tokens: int) -> None:
        """The provider's count of that request; 0 if it gave none."""
        factor = factor_of(self._assembled or 0, input_tokens)
        if factor is not None:
            self._factor = factor
            self._reported = self._assembled

    def is_estimate(self, tokens: int) -> bool:
        """Whether this count of ours, scaled, is anything but what the provider reported."""
        return self._reported is None or self._reported != tokens

    def overflowed(self, limit: int | None, now: int) -> bool:
        """The last request (or one like that of `now` tokens) was refused as too long: the window is `limit` tokens
        if the provider named it, and a fifth less than what was sent if it did not, or if by our count that had fitted.

        False, and nothing is changed, when that is a guess which the floor alone would fill: it explains nothing, and
        no later request would be sent.
        """
        sent = self.scaled(self._assembled or now)
        named = limit is not None and limit < sent
        window = limit if limit is not None and named else sent * 4 // 5
        smaller = replace(self.budget.smaller(min(window, self.budget.window)), assumed=True)
        if not named and self.scaled(self.floor_tokens) + LEAST_PREVIEW > smaller.marks(0).full:
            return False
        self.budget = smaller
        return True
