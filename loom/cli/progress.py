"""How far a long command is: one line on standard error, when that is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from loom.archive.chains import Progress

_WIDTH = 24
_EVERY = 0.1
"""Seconds between two drawings."""


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """A function that draws what it is called with; the line is gone at the end."""
    if not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    last = 0.0

    def draw(what: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < _EVERY and done != total:
            return
        last = now
        line = f"{what} …"
        if total:
            full = done * _WIDTH // total
            line = f"{what}  {'━' * full}{'─' * (_WIDTH - full)}  {done:,} of {total:,}"
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()

    try:
        yield draw
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
