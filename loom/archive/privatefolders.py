"""Folders for copies of an archive that one process reads or makes: nobody else's to read, locked while they are in
use, and removed when their process has ended, however it ended."""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from loom.archive.flocks import lock_at_once

READING = "loom-archive-"
"""How the folder of a copy that is read begins: in the folder for temporary files."""

RECOVERING = ".loom-recover-"
"""How the folder of a copy that turns are saved from begins: beside what they are saved to, where there is room."""

BACKING_UP = ".loom-backup-"
"""How the folder of a backup begins that is being made: beside what it will be."""

_made: set[Path] = set()
"""Those of this process."""


@atexit.register
def _remove_made() -> None:
    """What an interruption kept from being removed in time."""
    for folder in _made:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class PrivateFolder:
    """A folder, mode 0700, that is locked while it is in use."""

    path: Path
    lock: int
    """Descriptor of the folder."""

    @classmethod
    def made(cls, parent: Path, beginning: str) -> PrivateFolder:
        """A new one. Raises OSError."""
        while True:
            folder = parent / f"{beginning}{uuid.uuid4().hex}"
            # Known before it is made: Ctrl+C may come in between.
            _made.add(folder)
            folder.mkdir(mode=0o700)
            # Somebody who removes old ones may have come before the lock.
            with suppress(FileNotFoundError):
                lock = _open(folder)
                if _is_left_to_us(lock) and folder.exists():
                    return cls(folder, lock)
                os.close(lock)
            _made.discard(folder)

    def remove(self) -> None:
        """Raises nothing: what stays is nobody else's to read, and is removed at another start."""
        shutil.rmtree(self.path, ignore_errors=True)
        _made.discard(self.path)
        os.close(self.lock)


def remove_old_copies(home: Path) -> list[Path]:
    """Remove the copies of those that were ended by force and could not: in the folder for temporary files, in that of
    the archive and in that of its backups. Gives the files of those still in use, or that cannot be removed. Raises
    nothing."""
    temporary = temporary_folder()
    elsewhere = [] if temporary is None else remove_left(temporary, READING)
    return [*elsewhere, *remove_left(home, RECOVERING), *remove_left(home / "backups", BACKING_UP)]


def temporary_folder() -> Path | None:
    """The folder for temporary files; None where nothing can be written in any that Python knows: the disk is full."""
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError:
        return None


def remove_left(parent: Path, beginning: str) -> list[Path]:
    """As `remove_old_copies`, of the folders in one place whose names begin like this."""
    left: list[Path] = []
    for folder in parent.glob(f"{beginning}*"):
        with suppress(OSError):
            status = folder.lstat()
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
                continue
            lock = _open(folder)
            try:
                if lock_at_once(lock):
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
        # Its process may take it away meanwhile.
        with suppress(OSError):
            left += [file for file in folder.glob("*") if file.is_file()]
    return left


def _is_left_to_us(lock: int) -> bool:
    try:
        return lock_at_once(lock)
    except OSError:
        # No folder can be locked on this disk (NFS): then nobody who finds it takes it for an old one.
        return True


def _open(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
