"""Whether names in a folder may have been given, taken or changed since they were looked up, by one look at the folder.

A folder's time of change moves with each file in it that is made, removed, renamed or replaced, and nobody can set it
back but with the clock. So a writer that has to know whether several files still have their names need not look each of
them up before and behind each write: while the folder's time is what it was, they do. A look at the folder takes
half as long as one at a name, and each write would need six of these.

Times come in steps of some milliseconds: a name that changed in the same step as it was looked up would not show.
So a time is only believed once it is older than that, and only where file systems are known to note each change at
once; anywhere else every look is a look at the names. What is no change of the folder (another file system mounted on
a name) does not show either: each second the names are looked up whatever the folder says.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from loom.archive.mounts import find_mount

SETTLED_SECONDS = 0.1
"""A folder that has not changed for so long will show another time when it changes. The steps are 10 ms at most on the
file systems below (https://docs.kernel.org/filesystems/multigrain-ts.html)."""

_NOTING = frozenset(("btrfs", "ext2", "ext3", "ext4", "tmpfs", "xfs"))

_SECOND = 1_000_000_000


def notes_changes(folder: Path) -> bool:
    """Whether the folder is on a file system that notes at once, and finely, when its names change."""
    mount = find_mount(folder)
    return mount is not None and mount.kind in _NOTING


class FolderTime:
    """What one look at some names in a folder found, for as long as the folder's time says that it holds."""

    def __init__(self, folder: int, *, is_noted: bool) -> None:
        """Of the folder that is open under this descriptor; `is_noted` as `notes_changes` has it."""
        self._folder = folder
        self._is_noted = is_noted
        self._seen: int | None = None

    def holds(self, look: Callable[[], bool]) -> bool:
        """Whether the names are as they should be: as `look`, which looks them up, says now, or has said while the
        folder is as it was then. Raises OSError."""
        now, changed = time.time_ns(), os.fstat(self._folder).st_ctime_ns
        if changed == self._seen:
            return True
        self._seen = None
        if not look():
            return False
        # Whole seconds are those of a file system that knows no others.
        if self._is_noted and changed % _SECOND and now - changed > SETTLED_SECONDS * _SECOND:
            self._seen = changed
        return True

    def forget(self) -> None:
        """Look the names up next time, whatever the folder says."""
        self._seen = None
