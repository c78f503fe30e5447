"""An archive in a place where nothing can be written: a read-only disk or folder, a file of somebody else's.

SQLite makes the log's index even to read. Where it cannot, an archive that was closed in order is read as it stands
(`immutable`: https://www.sqlite.org/uri.html#uriimmutable). One whose log holds turns, or that is to be migrated, is
read from a private copy: without its log it would lack its newest turns.
"""

from __future__ import annotations

import atexit
import errno
import os
import shutil
import stat
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from loom.archive import guard
from loom.archive.errors import ArchiveUnavailable
from loom.archive.flocks import lock_at_once

_TRIES = 3
_PREFIX = "loom-archive-"
_made: set[Path] = set()
"""Folders of this process's copies."""


@atexit.register
def _remove_made() -> None:
    """What an interruption kept from being removed in time."""
    for folder in _made:
        shutil.rmtree(folder, ignore_errors=True)


def is_unwritable(path: Path) -> bool:
    """Whether the archive at `path` is there, and it or its folder cannot be written."""
    return path.exists() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


def is_at_rest(path: Path) -> bool:
    """Whether all of it is in the database's file: its log holds nothing."""
    try:
        return _log(path).stat().st_size == 0
    except FileNotFoundError:
        return True


@dataclass(frozen=True, slots=True)
class PrivateCopy:
    """A copy of an archive and its log in a folder of its own, mode 0700, which is locked while it is in use."""

    path: Path
    lock: int
    """Descriptor of the folder."""

    def remove(self) -> None:
        """Raises nothing: what stays is nobody else's to read, and is removed at another start."""
        shutil.rmtree(self.path.parent, ignore_errors=True)
        _made.discard(self.path.parent)
        os.close(self.lock)


def copy_privately(path: Path) -> PrivateCopy:
    """A copy to read from. Blocking. Raises ArchiveUnavailable."""
    try:
        folder, lock = _locked_folder()
        copy = PrivateCopy(folder / path.name, lock)
        try:
            _copy(path, copy.path)
        except BaseException:
            copy.remove()
            raise
    except OSError as error:
        raise ArchiveUnavailable(
            f"The archive {path} cannot be written, and no copy of it can be made to read ({error.strerror or error}).",
            f"Make {path.parent} writable, or room in {tempfile.gettempdir()}.",
        ) from error
    return copy


def remove_old_copies() -> list[Path]:
    """Remove the copies of those that were ended by force and could not; gives the files of those still in use, or
    that cannot be removed. Raises nothing."""
    left: list[Path] = []
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            status = folder.lstat()
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
                continue
            lock = _open_folder(folder)
            try:
                if lock_at_once(lock):
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
        left += [file for file in folder.glob("*") if file.is_file()]
    return left


def _locked_folder() -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.gettempdir(), f"{_PREFIX}{uuid.uuid4().hex}")
        # Known before it is made: Ctrl+C may come in between.
        _made.add(folder)
        folder.mkdir(mode=0o700)
        lock = _open_folder(folder)
        # Somebody who removes old copies may have come before the lock.
        if lock_at_once(lock) and folder.exists():
            return folder, lock
        os.close(lock)


def _open_folder(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


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
