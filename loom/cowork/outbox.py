"""What is typed while an exchange runs: it waits here, in order, is held when the exchange is interrupted, and can be
taken back."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from loom.cowork.events import Listener, QueueChanged
from loom.cowork.typed import Typed


class Outbox:
    """A queue that says so when it changes. What it tells of its content is spelled as `loom.cowork.typed` has it."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._held: deque[Typed] = deque()
        self._waiting: deque[Typed] = deque()
        self._taken: Typed | None = None

    @property
    def waiting(self) -> tuple[str, ...]:
        """Oldest first; those that are held come before those that go by themselves."""
        return tuple(typed.spelled for typed in (*self._held, *self._waiting))

    @property
    def held(self) -> int:
        """How many of them, from the oldest on, wait for `release`."""
        return len(self._held)

    @property
    def sending(self) -> str:
        """What was taken out and is on no disk yet; empty when there is nothing."""
        return self._taken.spelled if self._taken is not None else ""

    def put(self, typed: Typed) -> None:
        self._waiting.append(typed)
        self._changed()

    def put_held(self, typed: Sequence[Typed]) -> None:
        """This does not go by itself."""
        self._held.extend(typed)
        self._changed()

    def hold(self) -> None:
        """Nothing that waits now goes by itself."""
        waiting = list(self._waiting)
        self._waiting.clear()
        self.put_held(waiting)

    def release(self) -> bool:
        """Let what is held go, before everything else; False when there is nothing."""
        if not self._held:
            return False
        self._waiting.extendleft(reversed(self._held))
        self._held.clear()
        self._changed()
        return True

    def next(self, *, messages: bool, waits: bool) -> Typed | None:
        """The oldest, taken out to be sent; `sent` or `put_back` follows. None when there is none, and, when messages
        cannot be sent now, instead of a message: behind one that `waits` for its turn everything does, else commands
        go before it."""
        for typed in self._waiting:
            if messages or typed.is_command:
                self._waiting.remove(typed)
                self._taken = typed
                self._changed()
                return typed
            if waits:
                break
        return None

    def sent(self) -> None:
        """What was taken out is stored."""
        self._taken = None
        self._changed()

    def put_back(self, *, held: bool = False) -> bool:
        """Put what could not be sent back to the front, of what is `held` if it is not to go by itself; False when
        there is nothing."""
        if self._taken is None:
            return False
        (self._held if held else self._waiting).appendleft(self._taken)
        self.sent()
        return True

    def take_back(self) -> str | None:
        """The newest, taken out to be edited; None when there is none."""
        queue = self._waiting or self._held
        if not queue:
            return None
        typed = queue.pop()
        self._changed()
        return typed.spelled

    def _changed(self) -> None:
        self._listener(QueueChanged(self.waiting))
