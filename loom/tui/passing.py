"""What is said in passing: one thing at a time, the same thing once, each on the screen that it is about, and what went
wrong until somebody has seen it."""

from __future__ import annotations

from collections.abc import Callable, Collection
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
    place: object = None
    """The screen that it is about: it is not shown on another one. None is said everywhere."""
    fleeting: bool = False
    """Whether the next key that is pressed takes it away: it spoke of what that key changes."""


class Passing:
    """Everything that is still to be said. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._queue: list[Said] = []
        self._place: object = None
        self._since = 0.0

    @property
    def everything(self) -> tuple[Said, ...]:
        """What is shown, and what waits for its turn or its screen."""
        return tuple(self._queue)

    @property
    def shown(self) -> Said | None:
        """What is on the screen."""
        here = self._here
        return here[0] if here else None

    @property
    def waiting(self) -> int:
        """How many other things are said after it."""
        return max(0, len(self._here) - 1)

    @property
    def _here(self) -> list[Said]:
        return [said for said in self._queue if said.place is None or said.place is self._place]

    def go_to(self, place: object, known: Collection[object]) -> None:
        """Another screen is open. What belongs to one that is not among the `known` is dropped; what belongs to one
        that is only covered waits for it."""
        if place is self._place:
            return
        before, self._place = self.shown, place
        self._queue = [said for said in self._queue if said.place is None or said.place in known]
        self._shown_since(before)

    def say(self, said: Said) -> None:
        """Show this, or let it wait; what stands there already, or waits, is counted instead. What went wrong does
        not wait for what did not."""
        before = self.shown
        for at, other in enumerate(self._queue):
            if (other.text, other.severity, other.place) == (said.text, said.severity, said.place):
                self._queue[at] = replace(other, seconds=said.seconds, count=other.count + said.count)
                self._shown_since(before)
                return
        at = len(self._queue)
        if said.severity == "error":
            at = sum(other.severity == "error" for other in self._queue)
        self._queue.insert(at, said)
        self._shown_since(before)

    def answer(self, said: Said) -> None:
        """Show this at once: it answers the key that was just pressed, and soon means nothing. What it covers is shown
        again after it."""
        self._queue = [said, *(other for other in self._queue if other.text != said.text)]
        self._since = self._clock()

    def _shown_since(self, before: Said | None) -> None:
        """What is shown, if it is not what was shown before, has its time from now on."""
        if self.shown is not before:
            self._since = self._clock()

    def pass_on(self) -> bool:
        """Go on to the next if what is shown was there long enough; whether that changed anything."""
        shown = self.shown
        if shown is None or shown.severity == "error":
            return False
        seconds = min(shown.seconds, BRIEF_SECONDS) if self.waiting else shown.seconds
        return self._clock() - self._since >= seconds and self._next()

    def pressed(self) -> bool:
        """A key was pressed: what spoke of the time before it is over; whether that changed anything."""
        before = self.shown
        kept = [said for said in self._queue if not said.fleeting]
        changed, self._queue = len(kept) != len(self._queue), kept
        self._shown_since(before)
        return changed

    def seen(self) -> bool:
        """A key was pressed: go on from an error that was there long enough; whether that changed anything."""
        shown = self.shown
        if shown is None or shown.severity != "error":
            return False
        return self._clock() - self._since >= SEEN_SECONDS and self._next()

    def _next(self) -> bool:
        self._queue.remove(self._here[0])
        self._since = self._clock()
        return True
