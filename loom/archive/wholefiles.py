"""A file that is kept gets its name when it is whole: whoever is killed before leaves nothing that looks like one."""

from __future__ import annotations

import os
from pathlib import Path

from loom.archive import guard


def give_name(made: Path, target: Path) -> None:
    """Give a finished file, which is on the same disk, its name, and see both onto the disk. Raises FileExistsError
    when there is such a file, or OSError; then it has the name that it had."""
    # It is closed, whatever it is: there are no locks on it that closing it again could drop.
    with guard.ours():
        _sync(made)
    try:
        # It fails where there is something, which a rename would take away.
        target.hardlink_to(made)
    except FileExistsError:
        raise
    except OSError:
        # No file has two names on this disk (FAT): there somebody who makes one at the same moment loses it.
        if os.path.lexists(target):
            raise FileExistsError(str(target)) from None
        made.rename(target)
    else:
        made.unlink()
    _sync(target.parent)


def _sync(place: Path) -> None:
    descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
