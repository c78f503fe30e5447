"""The log of another database, beside a backup that was put in the archive's place.

SQLite reads any log of that name into the database, whatever its header says, and so would mix the two. A backup by
loom says in its header that it has no log (https://www.sqlite.org/fileformat2.html#file_format_version_numbers), and
the archive says that it has one from before the first write to it.
"""

from __future__ import annotations

import os
import time
import uuid
from pathlib import Path

from loom.archive.errors import ArchiveUnavailable
from loom.archive.flocks import lock_at_once, lock_file, open_lock
from loom.archive.logindex import LogIndex
from loom.archive.openfiles import ASIDE

_VERSIONS = slice(18, 20)
_NO_LOG = b"\x01\x01"

_PATIENCE = 3.0
"""Seconds for another loom that is just doing the same."""
_LOOK_AGAIN = 0.05


def put_strange_log_aside(path: Path) -> None:
    """Give the log beside the database at `path` another name, and remove its index, if it is another database's.
    Raises ArchiveUnavailable, or OSError where that cannot be done."""
    if not _is_strange(path):
        return
    until = time.monotonic() + _PATIENCE
    descriptor = open_lock(lock_file(path))
    try:
        while not lock_at_once(descriptor):
            if time.monotonic() > until:
                raise ArchiveUnavailable("Another loom uses the archive that was here before.", "End it, then retry.")
            time.sleep(_LOOK_AGAIN)
        if _is_strange(path):
            log = _log(path)
            log.rename(log.with_name(f"{log.name}{ASIDE}{uuid.uuid4().hex[:8]}"))
            path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _is_strange(path: Path) -> bool:
    # In this order: an archive is noted to have a log before it gets one.
    try:
        if not _log(path).stat().st_size:
            return False
    except FileNotFoundError:
        return False
    return LogIndex.beginning(path, _VERSIONS.stop)[_VERSIONS] == _NO_LOG


def _log(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")
