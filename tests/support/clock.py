"""A clock that only the test moves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Clock:
    """Seconds that pass when the test says so."""

    now: float = 100.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds
