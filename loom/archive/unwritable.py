"""An archive in a place where nothing can be written: a read-only disk or folder, a file of somebody else's.

SQLite makes the log's index even to read. Where it cannot, an archive that was closed in order is read as it stands
(`immutable`: https://www.sqlite.org/uri.html#uriimmutable). One whose log holds turns, or that is to be migrated, is
read from a private copy: without its log it would lack its newest turns.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from loom.archive import guard
from loom.archive.errors import ArchiveUnavailable
from loom.archive.privatefolders import READING, PrivateFolder, temporary_folder

_TRIES = 3


def is_unwritable(path: Path) -> bool:
    """Whether the archive at `path` is there, and it or its folder cannot be written."""
    return path.exists() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


def is_at_rest(path: Path) -> bool:
    """Whether all of it is in the database's file: its log holds nothing. Raises ArchiveUnavailable."""
    try:
        return _log(path).stat().st_size == 0
    except FileNotFoundError:
        return True
    except OSError as error:
        raise ArchiveUnavailable(
            f"{_log(path)} cannot be looked at: {error.strerror}.", "Look what it is, and move it away if it is no log."
        ) from error


@dataclass(frozen=True, slots=True)
class PrivateCopy:
    """A copy of an archive and its log, in a folder of its own."""

    path: Path
    folder: PrivateFolder

    def remove(self) -> None:
        """Raises nothing."""
        self.folder.remove()


def copy_privately(path: Path) -> PrivateCopy:
    """A copy to read from. Blocking. Raises ArchiveUnavailable."""
    temporary = temporary_folder()
    try:
        if temporary is None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        folder = PrivateFolder.made(temporary, READING)
        copy = PrivateCopy(folder.path / path.name, folder)
        try:
            _copy(path, copy.path)
        except BaseException:
            copy.remove()
            raise
    except OSError as error:
        raise ArchiveUnavailable(
            f"The archive {path} cannot be written, and no copy of it can be made to read ({error.strerror or error}).",
            f"Make {path.parent} writable, or room in {temporary or 'the folder for temporary files'}.",
        ) from error
    return copy


@contextmanager
def readable(path: Path) -> Iterator[Path]:
    """Where the archive can be read: at its place, or from a copy that lasts as long as this. Raises
    ArchiveUnavailable."""
    if is_at_rest(path) or not is_unwritable(path):
        yield path
        return
    copy = copy_privately(path)
    try:
        yield copy.path
    finally:
        copy.remove()


def _copy(path: Path, copy: Path) -> None:
    for _ in range(_TRIES):
        before = _state(path)
        for source, target in ((path, copy), (_log(path), _log(copy))):
            target.unlink(missing_ok=True)
            if source.exists():
                descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                # Who may not write has no locks there that closing it could drop.
                with guard.ours(), os.fdopen(descriptor, "wb") as to, source.open("rb") as of:
                    shutil.copyfileobj(of, to, 1 << 20)
        # It may be written from somewhere else: through another mount, by its owner.
        if _state(path) == before:
            return
    raise OSError(errno.EBUSY, "it is being written from elsewhere")


def _state(path: Path) -> list[tuple[int, int, int] | None]:
    found: list[tuple[int, int, int] | None] = []
    for file in (path, _log(path)):
        status = file.stat() if file.exists() else None
        found.append(None if status is None else (status.st_ino, status.st_size, status.st_mtime_ns))
    return found


def _log(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")
