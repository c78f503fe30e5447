"""The log of another database, beside one that was put in the archive's place.

SQLite reads any log of that name into the database, whatever its header says, and so would mix the two. A backup by
loom says in its header that it has no log (https://www.sqlite.org/fileformat2.html#file_format_version_numbers), and
the archive says that it has one from before the first write to it. A copy that another program made of an archive in
use does not say so: the two are held against each other where the database is not the one that was sealed.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path

from loom.archive.errors import ArchiveUnavailable
from loom.archive.flocks import lock_at_once, lock_file, open_lock
from loom.archive.kinship import is_foreign
from loom.archive.logindex import LogIndex
from loom.archive.openfiles import ASIDE
from loom.archive.seals import is_sealed, seal_of, write_seal

_VERSIONS = slice(18, 20)
_NO_LOG = b"\x01\x01"

_PATIENCE = 3.0
"""Seconds for another loom that is just doing the same."""
_LOOK_AGAIN = 0.05


class _Log(Enum):
    """What the log is to the database beside it."""

    OWN = "its own, or none"
    STRANGE = "another one's"
    DOUBTFUL = "its own or another one's"


def put_strange_log_aside(path: Path) -> None:
    """Give the log beside the database at `path` another name, and remove its index, if it is another database's.
    Raises ArchiveUnavailable, or OSError where that cannot be done."""
    found = _look(path)
    if found is _Log.OWN or (found is _Log.DOUBTFUL and not os.access(path.parent, os.W_OK)):
        return
    with _locked(path) as lock:
        if lock is None:
            if found is _Log.DOUBTFUL:
                # Somebody writes: who opened it before had to look as well.
                return
            raise ArchiveUnavailable("Another loom uses the archive that was here before.", "End it, then retry.")
        found = _look(path)
        if found is _Log.STRANGE or (found is _Log.DOUBTFUL and is_foreign(path)):
            log = _log(path)
            log.rename(log.with_name(f"{log.name}{ASIDE}{uuid.uuid4().hex[:8]}"))
            path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
        elif found is _Log.DOUBTFUL:
            write_seal(lock, seal_of(path.stat()))


def _look(path: Path) -> _Log:
    # In this order: an archive is noted to have a log before it gets one.
    try:
        if not _log(path).stat().st_size:
            return _Log.OWN
    except FileNotFoundError:
        return _Log.OWN
    beginning = LogIndex.beginning(path, _VERSIONS.stop)
    if not beginning:
        return _Log.OWN  # it was looked at when it was opened here
    if beginning[_VERSIONS] == _NO_LOG:
        return _Log.STRANGE
    return _Log.OWN if is_sealed(path) else _Log.DOUBTFUL


@contextmanager
def _locked(path: Path) -> Iterator[int | None]:
    """A descriptor of the locked file; None when others have it locked for too long. Raises OSError."""
    until = time.monotonic() + _PATIENCE
    descriptor = open_lock(lock_file(path))
    try:
        while not (mine := lock_at_once(descriptor)) and time.monotonic() < until:
            time.sleep(_LOOK_AGAIN)
        yield descriptor if mine else None
    finally:
        os.close(descriptor)


def _log(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")
