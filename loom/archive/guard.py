"""Keeps everything but SQLite away from the archive's files.

SQLite's POSIX locks belong to the process, not to the descriptor: when anything else in this process opens and
closes the database file (a tool that reads it, `shutil.copy`, a search through all files), the kernel drops every
lock that SQLite holds there. The next process to close the database then believes that it is alone and deletes the
live write-ahead log, and with it turns that were acknowledged. An audit hook sees every open of the interpreter.
SQLite's own opens do not pass it.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from loom.archive.errors import GuardedFile

_Inode = tuple[int, int]

_files: dict[_Inode, str] = {}
_names: set[str] = set()
_state = threading.Lock()
_thread = threading.local()
_installed = False


def protect(database: Path) -> None:
    """Refuse, from now on, every open of the database, its -wal and its -shm in this process but SQLite's own.

    To be called when a connection is open: only then do all three files exist, and they keep their inodes until the
    last connection closes.
    """
    global _installed  # noqa: PLW0603 - an audit hook is a fact of the whole process and cannot be removed
    with _state:
        for path in (str(database), f"{database}-wal", f"{database}-shm"):
            inode = _inode(path)
            if inode is not None:
                _files[inode] = path
            _names.add(os.path.basename(path))  # noqa: PTH119 - a string in, a string out, on the path of every open
        if not _installed:
            sys.addaudithook(_refuse)
            _installed = True


@contextlib.contextmanager
def checked(status: os.stat_result) -> Iterator[None]:
    """While it lasts, what this thread opens relative to a folder's descriptor is judged by `status`, which the caller
    has just got for the same name and descriptor. Without it such an open is judged by its name alone."""
    _thread.inode = status.st_dev, status.st_ino
    try:
        yield
    finally:
        _thread.inode = None


@contextlib.contextmanager
def ours() -> Iterator[None]:
    """While it lasts, this thread may open what is protected. Only for the -wal: SQLite has no locks on that file, so
    that closing it drops none; for a database that cannot be written; and for the -shm, which
    `loom.archive.logindex` never closes before SQLite does."""
    _thread.ours = True
    try:
        yield
    finally:
        _thread.ours = False


def _inode(path: str | bytes) -> _Inode | None:
    try:
        found = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event != "open" or not arguments:
        return
    path = arguments[0]
    if not isinstance(path, str | bytes) or getattr(_thread, "ours", False):
        return
    absolute = os.path.isabs(path)  # noqa: PTH117
    looked_at: _Inode | None = None if absolute else getattr(_thread, "inode", None)
    inode = looked_at or _inode(path)
    if inode is None:
        # An open relative to a directory descriptor cannot be looked up from here: go by the name.
        name = os.path.basename(os.fsdecode(path))  # noqa: PTH119
        if name not in _names or absolute or not _opens_existing_file(arguments):
            return
    else:
        protected = _files.get(inode)
        if protected is None:
            return
        if _inode(protected) != inode:
            # The file is gone, and the file system gave its inode number to another one.
            _files.pop(inode, None)
            return
    raise GuardedFile(
        f"{os.fsdecode(path)} belongs to loom's archive and is only opened by the database itself.",
        "Use `loom backup` for a copy.",
    )


def _opens_existing_file(arguments: tuple[object, ...]) -> bool:
    flags = arguments[2] if len(arguments) > 2 else 0
    return not (isinstance(flags, int) and flags & (os.O_EXCL | os.O_DIRECTORY))
