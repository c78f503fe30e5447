"""Who sees the output of a call's command while it comes: whoever let the call run, and the tool need not know them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from loom.tools.capture import Capture

_captures: ContextVar[Callable[[int], Capture]] = ContextVar("captures", default=Capture)


@contextmanager
def captured_by(make: Callable[[int], Capture]) -> Iterator[None]:
    """Inside of it, and in the tasks begun there, the output of a call's command goes into what `make` gives for the
    bytes that are to be kept."""
    token = _captures.set(make)
    try:
        yield
    finally:
        _captures.reset(token)


def capture_of_call(limit: int) -> Capture:
    """What the output of this call's command is to go into. Make it when the command is about to start."""
    return _captures.get()(limit)
