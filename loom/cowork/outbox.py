"""Messages typed while an exchange runs: they wait here, in order, and can be taken back."""

from __future__ import annotations

from collections import deque

from loom.cowork.events import Listener, QueueChanged


class Outbox:
    """A queue that says so when it changes."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._waiting: deque[str] = deque()
        self.sending = ""
        """The message that was taken out and is on no disk yet; empty when there is none."""

    @property
    def waiting(self) -> tuple[str, ...]:
        """Oldest first."""
        return tuple(self._waiting)

    def put(self, text: str) -> None:
        self._waiting.append(text)
        self._changed()

    def next(self) -> str | None:
        """The oldest message, taken out to be sent; None when there is none. `sent` or `put_back` follows."""
        if not self._waiting:
            return None
        self.sending = self._waiting.popleft()
        self._changed()
        return self.sending

    def sent(self) -> None:
        """The message that was taken out is stored."""
        self.sending = ""
        self._changed()

    def put_back(self) -> bool:
        """Put the message that could not be sent back to the front; False when there is none."""
        if not self.sending:
            return False
        self._waiting.appendleft(self.sending)
        self.sent()
        return True

    def take_back(self) -> str | None:
        """The newest message, taken out to be edited; None when there is none."""
        if not self._waiting:
            return None
        text = self._waiting.pop()
        self._changed()
        return text

    def _changed(self) -> None:
        self._listener(QueueChanged(self.waiting))
