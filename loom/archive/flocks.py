"""Advisory file locks: freed by the kernel when their process ends, however it ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_AT_ONCE = fcntl.LOCK_EX | fcntl.LOCK_NB


def lock_file(path: Path) -> Path:
    """The file that whoever makes, migrates, writes or checkpoints the database at `path` has locked."""
    return path.with_name(f"{path.name}-lock")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock on the file at `path` (made if need be, mode 0600), waiting for it.

    Raises OSError if the file cannot be made.
    """
    descriptor = open_lock(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def open_lock(path: Path) -> int:
    """A descriptor of the file at `path`, made if need be (mode 0600). Raises OSError."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def lock_at_once(descriptor: int) -> bool:
    """Lock the file if nobody else has it locked; whether that was so. Raises OSError where it cannot be locked."""
    try:
        fcntl.flock(descriptor, _AT_ONCE)
    except BlockingIOError:
        return False
    return True
