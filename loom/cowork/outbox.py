"""Messages typed while an exchange runs: they wait here, in order, and can be taken back."""

from __future__ import annotations

from collections import deque

from loom.cowork.events import Listener, QueueChanged


class Outbox:
    """A queue that says so when it changes."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._waiting: deque[str] = deque()

    @property
    def waiting(self) -> tuple[str, ...]:
        """Oldest first."""
        return tuple(self._waiting)

    def put(self, text: str) -> None:
        self._waiting.append(text)
        self._changed()

    def put_back(self, text: str) -> None:
        """Put a message that could not be sent back to the front."""
        self._waiting.appendleft(text)
        self._changed()

    def next(self) -> str | None:
        """The oldest message, taken out; None when there is none."""
        if not self._waiting:
            return None
        text = self._waiting.popleft()
        self._changed()
        return text

    def take_back(self) -> str | None:
        """The newest message, taken out to be edited; None when there is none."""
        if not self._waiting:
            return None
        text = self._waiting.pop()
        self._changed()
        return text

    def _changed(self) -> None:
        self._listener(QueueChanged(self.waiting))
