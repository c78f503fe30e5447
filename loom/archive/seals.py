"""What the database's file looked like when loom had last written to it: kept in the lock file beside it.

A file that looks like that is the one that the log beside it goes with, whatever was copied, moved or restored
meanwhile. One that does not may still be it: a process that was killed in the middle of moving the log wrote no seal,
and a home that was copied has other inodes. A seal is not waited for: what a power cut takes of it only costs a look.
"""

from __future__ import annotations

import os
from pathlib import Path

from loom.archive.flocks import lock_at_once, lock_file, open_lock

_LENGTH = 80


def seal_of(status: os.stat_result) -> bytes:
    """What is kept of a file."""
    return f"{status.st_ino:x} {status.st_size:x} {status.st_mtime_ns:x}\n".encode().ljust(_LENGTH)


def write_seal(lock: int, seal: bytes) -> None:
    """To be called by whoever has locked the file under this descriptor. Raises OSError."""
    if os.pread(lock, _LENGTH, 0) != seal:
        os.pwrite(lock, seal, 0)


def is_sealed(path: Path) -> bool:
    """Whether the database at `path` looks as when it was sealed. Raises OSError but for a seal that is not there."""
    try:
        descriptor = os.open(lock_file(path), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        return os.pread(descriptor, _LENGTH, 0) == seal_of(path.stat())
    finally:
        os.close(descriptor)


def seal_at_once(path: Path) -> None:
    """Seal the database at `path`, unless somebody is about to write to it: then it is theirs to do. Raises OSError."""
    descriptor = open_lock(lock_file(path))
    try:
        if lock_at_once(descriptor):
            write_seal(descriptor, seal_of(path.stat()))
    finally:
        os.close(descriptor)
