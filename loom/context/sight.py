"""What the model sees of a session: which turns, and which it had better be told of."""

from __future__ import annotations

from dataclasses import dataclass

from loom.archive.rewound import is_rewound
from loom.turn_numbers import Ranges


@dataclass(frozen=True, slots=True)
class Sight:
    """The turns that one request shows."""

    left_to: int
    """The newest turn that left; 0 if none did."""
    turns: Ranges
    """Those that it shows, pinned ones included: inclusive ranges, ascending."""
    rewound: Ranges
    """Those that the person rewound past."""

    def holds(self, turn_number: int) -> bool:
        """Whether the model sees this turn."""
        return any(first <= turn_number <= last for first, last in self.turns)

    def may_recall(self, turn_number: int) -> bool:
        """Whether the model does not see this turn, and the person did not rewind past it."""
        return not self.holds(turn_number) and not is_rewound(turn_number, self.rewound)
