"""A file is replaced whole or not at all."""

import contextlib
import os
import secrets
import stat
from collections.abc import Callable

from loom.tools.outcome import ToolFailure
from loom.tools.paths import Place, Workspace

MAX_READ = 10_000_000
"""Bytes of a file that is changed: it is held in memory, with its diff."""


def read_whole(workspace: Workspace, place: Place) -> bytes | None:
    """The bytes of a file that is to be changed; None if there is none. Raises ToolFailure for a file that cannot be
    replaced: too large, read-only, not a regular file."""
    status = workspace.stat(place)
    if status is None:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise workspace.not_a_file(place, status)
    if not status.st_mode & 0o222:
        raise ToolFailure(f"{place.shown} is read-only.", "It was protected on purpose; ask before you change that.")
    if status.st_size > MAX_READ:
        raise ToolFailure(
            f"{place.shown} has {status.st_size:,} bytes, more than the {MAX_READ:,} that can be changed here.",
            "Change it with a command.",
        )
    with workspace.open(place) as file:
        return file.read(MAX_READ + 1)


def replace_file(workspace: Workspace, place: Place, content: bytes, still_right: Callable[[], None]) -> None:
    """Make the file have this content, durably, with the mode it had (a new one: as the umask says); missing folders
    are made. `still_right` is called at the last moment and may raise to leave everything as it was.

    Readers see the old content or the new, never a part. Raises ToolFailure.
    """
    with workspace.beside(place) as (folder, name):
        temporary = f".loom-{secrets.token_hex(6)}.tmp"
        try:
            _write_aside(folder, temporary, name, content)
            still_right()
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)
            raise
        _sync_folder(folder)


def _write_aside(folder: int, temporary: str, name: str, content: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(temporary, flags, 0o666, dir_fd=folder), "wb") as file:
        with contextlib.suppress(FileNotFoundError):
            _like(file.fileno(), os.stat(name, dir_fd=folder, follow_symlinks=False))
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _like(descriptor: int, status: os.stat_result) -> None:
    """Give the new file the owner, where the system lets us, and the mode of the one it replaces."""
    mine = os.fstat(descriptor)
    if (mine.st_uid, mine.st_gid) != (status.st_uid, status.st_gid):
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, status.st_uid, status.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))


def _sync_folder(folder: int) -> None:
    descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
