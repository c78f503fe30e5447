"""What is said in passing: one thing at a time, the same thing once, and what went wrong until somebody has seen it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

Severity = Literal["information", "warning", "error"]

BRIEF_SECONDS = 2.0
"""So long something is shown at least, when something else waits behind it."""
SEEN_SECONDS = 3.0
"""A key that is pressed so long after an error appeared says that it was seen."""


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that is said."""

    text: str
    severity: Severity
    seconds: float
    """So long it is shown; an error stays until it was seen."""
    count: int = 1
    """How often it was said."""


class Passing:
    """Everything that is still to be said. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._queue: list[Said] = []
        self._since = 0.0

    @property
    def shown(self) -> Said | None:
        """What is on the screen."""
        return self._queue[0] if self._queue else None

    @property
    def waiting(self) -> int:
        """How many other things are said after it."""
        return max(0, len(self._queue) - 1)

    def say(self, said: Said) -> None:
        """Show this, or let it wait; what stands there already, or waits, is counted instead. What went wrong does
        not wait for what did not."""
        for at, other in enumerate(self._queue):
            if (other.text, other.severity) == (said.text, said.severity):
                self._queue[at] = replace(other, seconds=said.seconds, count=other.count + said.count)
                if at == 0:
                    self._since = self._clock()
                return
        at = len(self._queue)
        if said.severity == "error":
            at = sum(other.severity == "error" for other in self._queue)
        self._queue.insert(at, said)
        if at == 0:
            self._since = self._clock()

    def answer(self, said: Said) -> None:
        """Show this at once: it answers the key that was just pressed, and soon means nothing. What it covers is shown
        again after it."""
        self._queue = [said, *(other for other in self._queue if other.text != said.text)]
        self._since = self._clock()

    def pass_on(self) -> bool:
        """Go on to the next if what is shown was there long enough; whether that changed anything."""
        shown = self.shown
        if shown is None or shown.severity == "error":
            return False
        seconds = min(shown.seconds, BRIEF_SECONDS) if self.waiting else shown.seconds
        return self._clock() - self._since >= seconds and self._next()

    def seen(self) -> bool:
        """A key was pressed: go on from an error that was there long enough; whether that changed anything."""
        shown = self.shown
        if shown is None or shown.severity != "error":
            return False
        return self._clock() - self._since >= SEEN_SECONDS and self._next()

    def _next(self) -> bool:
        del self._queue[0]
        self._since = self._clock()
        return True
