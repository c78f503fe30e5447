"""Which keys count as an answer: never one that was already on its way when the question appeared."""

from __future__ import annotations

from collections.abc import Callable, Container

QUIET_SECONDS = 0.4
"""A key answers only after this long without any key since the question got the keyboard. People type a letter every
0.1 to 0.3 s, so whoever is in the middle of a word never answers by accident, however long the word is."""


class KeyGuard:
    """Counts a key only when the keyboard was quiet before it."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._last = clock()

    def restart(self) -> None:
        """The question has just appeared or got the keyboard."""
        self._last = self._clock()

    def heard(self, key: str, answers: Container[str]) -> None:
        """A key was pressed. A word that is being typed has letters that answer: the wait begins anew with each of its
        others."""
        if key not in answers:
            self.restart()

    def accepts(self) -> bool:
        """Whether the key pressed now counts; one that does not starts the wait again."""
        now = self._clock()
        quiet = now - self._last >= QUIET_SECONDS
        self._last = now
        return quiet
