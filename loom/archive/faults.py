"""What SQLite's error codes mean to a person."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

from loom.archive.errors import ArchiveDamaged, ArchiveError, ArchiveUnavailable, NotAnArchive, WriteFailed

RECOVER = "Keep the file as it is; `loom check` says what is wrong and `loom recover` saves what can be saved."

_UNDECODABLE = "a text in it is no UTF-8"

_NO_ROOM = 1_000_000
"""With fewer bytes free than this, an error at the log's index means that it found no room."""

_READING = {
    sqlite3.SQLITE_FULL: (
        "The disk is full: the archive {path} needs a little room even to be read.",
        "Make room on {folder} and retry.",
    ),
    sqlite3.SQLITE_BUSY: ("The archive is locked by another process.", "Try again when it is done."),
    sqlite3.SQLITE_LOCKED: ("The archive is locked by another process.", "Try again when it is done."),
    sqlite3.SQLITE_CANTOPEN: (
        "The archive {path} cannot be opened.",
        "Check that the folder exists and that you may read and write in it.",
    ),
    sqlite3.SQLITE_PERM: ("The archive {path} may not be opened.", "Check who owns the file."),
    sqlite3.SQLITE_AUTH: ("The archive {path} may not be opened.", "Check who owns the file."),
    sqlite3.SQLITE_IOERR: (
        "The disk gave an error while the archive {path} was read ({detail}).",
        "Check the disk, and copy the folder elsewhere first.",
    ),
    sqlite3.SQLITE_READONLY: (
        "The archive {path} is on a read-only disk or in a folder where you may not write.",
        "Set LOOM_HOME to a folder where you may write.",
    ),
}

_WRITING = {
    sqlite3.SQLITE_FULL: ("The disk is full: nothing was stored.", "Make room on {folder} and retry."),
    sqlite3.SQLITE_READONLY: (
        "The archive {path} cannot be written: it is read-only.",
        "Make the file and its folder writable and retry.",
    ),
    sqlite3.SQLITE_BUSY: (
        "Another process kept the archive locked for too long: nothing was stored.",
        "Retry; if it goes on, close the other loom.",
    ),
    sqlite3.SQLITE_LOCKED: (
        "Another process kept the archive locked for too long: nothing was stored.",
        "Retry; if it goes on, close the other loom.",
    ),
    sqlite3.SQLITE_IOERR: (
        "The disk gave an error while the archive was written ({detail}): nothing was stored.",
        "Check the disk that holds {folder} and retry.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "A file of the archive {path} cannot be opened: nothing was stored.",
        "Check that {folder} exists and is writable, and retry.",
    ),
    sqlite3.SQLITE_TOOBIG: (
        "The text is larger than the archive can hold in one turn (1 GB): nothing was stored.",
        "Store it in parts.",
    ),
}


def is_undecodable(error: sqlite3.Error) -> bool:
    """Whether a text in the archive is no UTF-8. The error has no code of its own, and quotes the text."""
    return isinstance(error, sqlite3.OperationalError) and str(error).startswith("Could not decode to UTF-8")


def is_damage(error: sqlite3.Error) -> bool:
    """Whether SQLite found something that does not hold together."""
    code: int = getattr(error, "sqlite_errorcode", None) or sqlite3.SQLITE_ERROR
    return code & 0xFF == sqlite3.SQLITE_CORRUPT


def unreadable(error: sqlite3.Error, path: Path) -> ArchiveError:
    """The error of an archive that could not be opened or read, in words."""
    if is_undecodable(error):
        return ArchiveDamaged(f"The archive {path} is damaged ({_UNDECODABLE}).", RECOVER)
    code = primary_code(error, path)
    if code == sqlite3.SQLITE_NOTADB:
        return NotAnArchive(
            f"{path} is not a loom archive: its first bytes are not those of a database.",
            "It was not touched. Move it away, or restore a backup in its place.",
        )
    if code == sqlite3.SQLITE_CORRUPT:
        return ArchiveDamaged(f"The archive {path} is damaged ({error}).", RECOVER)
    what, remedy = _READING.get(code, ("The archive {path} cannot be read ({detail}).", ""))
    return ArchiveUnavailable(*_fill(error, path, what, remedy))


def unwritable(error: sqlite3.Error, path: Path) -> ArchiveError:
    """The error of a write that stored nothing, in words."""
    if is_undecodable(error):
        return WriteFailed(f"The archive {path} is damaged ({_UNDECODABLE}): nothing was stored.", RECOVER)
    code = primary_code(error, path)
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return WriteFailed(f"The archive {path} is damaged ({error}): nothing was stored.", RECOVER)
    what, remedy = _WRITING.get(code, ("The archive cannot be written ({detail}): nothing was stored.", "Retry."))
    return WriteFailed(*_fill(error, path, what, remedy))


def unwritable_beside(error: OSError, path: Path) -> WriteFailed:
    """The error of a file that is kept beside the archive (a lock, its log), in words."""
    return WriteFailed(
        f"A file beside {path} cannot be written: {error.strerror}.",
        f"Check that you may write in {path.parent} and that there is room.",
    )


def primary_code(error: sqlite3.Error, path: Path) -> int:
    """The primary result code; errors that Python raises by itself have none and give SQLITE_ERROR.

    SQLite makes the log's index (-shm) even to read, and has codes of its own for finding no room there.
    """
    code: int = getattr(error, "sqlite_errorcode", None) or sqlite3.SQLITE_ERROR
    if code == sqlite3.SQLITE_IOERR_SHMSIZE:
        return sqlite3.SQLITE_FULL
    if code in (sqlite3.SQLITE_IOERR_SHMOPEN, sqlite3.SQLITE_IOERR_SHMMAP) and _is_full(path.parent):
        return sqlite3.SQLITE_FULL
    return code & 0xFF


def _is_full(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free < _NO_ROOM
    except OSError:
        return False


def _fill(error: sqlite3.Error, path: Path, what: str, remedy: str) -> tuple[str, str]:
    detail = getattr(error, "sqlite_errorname", None) or str(error)
    folder = path.parent
    return what.format(path=path, detail=detail), remedy.format(folder=folder)
