"""Opens the archive's database so that what is acknowledged is on the disk, and checks that it is so."""

from __future__ import annotations

import sqlite3
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from loom.archive import guard
from loom.archive.errors import ArchiveError, ArchiveUnavailable, NotAnArchive
from loom.archive.faults import unreadable
from loom.archive.logindex import LogIndex
from loom.archive.openfiles import OpenFiles, is_astray
from loom.archive.strangelog import put_strange_log_aside
from loom.archive.turnstile import Turnstile
from loom.archive.unwritable import is_at_rest, is_unwritable

APPLICATION_ID = 0x6C6F6F6D
"""`loom` in ASCII, bytes 68 to 71 of the file."""

BUSY_TIMEOUT_MS = 10_000

WRITING_PATIENCE = BUSY_TIMEOUT_MS / 1000
"""Seconds that a write waits for its turn before it is given up."""

CLOSING_PATIENCE = 2.0
"""Seconds that an end waits for its turn: nothing depends on it."""

ASTRAY_PATIENCE = 3.0
"""Seconds in which another loom notices that the log it writes has lost its name."""

_LOOK_AGAIN = 0.1

LOG_BYTES = 16_000_000
"""The write-ahead log keeps its length when it starts over, because writing over what is allocated costs the disk half
of what growing does; what is longer than this is cut off then."""

SAFE_CHECKPOINTS = sqlite3.sqlite_version_info >= (3, 51, 3)
"""False where a checkpoint beside another process's write can corrupt the database (the WAL-reset bug of 3.7.0 to
3.51.2): see `loom.archive.checkpoints`."""

_SETTINGS: tuple[tuple[str, str, int], ...] = (
    # What is asked for, and what must be read back.
    ("busy_timeout", str(BUSY_TIMEOUT_MS), BUSY_TIMEOUT_MS),
    ("synchronous", "FULL", 2),  # NORMAL loses acknowledged turns when the power fails
    ("foreign_keys", "ON", 1),
    ("recursive_triggers", "ON", 1),  # else REPLACE deletes a row past its delete trigger
    ("secure_delete", "ON", 1),  # what is purged is overwritten
    ("cell_size_check", "ON", 1),
    ("mmap_size", "0", 0),  # a disk error in a mapped page kills the process
    ("temp_store", "MEMORY", 2),  # no text in files outside of the archive's folder
    ("wal_autocheckpoint", "0", 0),  # never in the middle of an append, and never beside another process's
    ("journal_size_limit", str(LOG_BYTES), LOG_BYTES),
)


class ArchiveConnection(sqlite3.Connection):
    """A connection that takes its turn among all that write the archive."""

    turnstile: Turnstile | None = None
    """None where nobody else writes, or nothing is written."""
    files: OpenFiles | None = None
    """What is watched in each turn; None where there is no turnstile."""
    index: LogIndex | None = None
    is_inside = False
    """Whether it is this connection's turn just now."""

    def writing(self, patience: float) -> _Turn:
        """Nobody else writes or moves the log while it lasts, and the files are seen to have their names; inside of
        itself it does nothing.

        Raises sqlite3.OperationalError (SQLITE_BUSY) after `patience` seconds, OSError if the lock files cannot be
        made, Displaced or another WriteFailed if files of the archive were removed or replaced.
        """
        return _Turn(self, patience)

    def forget_names(self) -> None:
        """Look every file's name up in the next turn, whatever the folder says of it."""
        if self.files is not None:
            self.files.forget_names()
        if self.turnstile is not None:
            self.turnstile.forget_names()

    def require_index(self) -> LogIndex:
        """The index of the log that this connection uses. RuntimeError on a connection of some other making."""
        if self.index is None:
            raise RuntimeError("this connection was not opened by `open_database`")
        return self.index

    def close(self) -> None:
        """Close. The last connection to close moves the log into the database, so it takes its turn as well."""
        turnstile, self.turnstile = self.turnstile, None
        if turnstile is None:
            self._close()
            return
        # Who is kept waiting, or cannot wait (the folder is gone), is not the last one: then closing moves nothing.
        with suppress(OSError):
            turnstile.enter(CLOSING_PATIENCE)
        try:
            self._close()
        finally:
            turnstile.close()

    def _close(self) -> None:
        try:
            super().close()
        finally:
            files, self.files = self.files, None
            index, self.index = self.index, None
            if files is not None:
                files.close()
            if index is not None:
                index.leave()


class _Turn:
    """See `ArchiveConnection.writing`. No generator: each append waits for this."""

    __slots__ = ("_connection", "_patience", "_turnstile")

    def __init__(self, connection: ArchiveConnection, patience: float) -> None:
        self._connection = connection
        self._patience = patience
        self._turnstile: Turnstile | None = None
        """The one that was entered; None inside of another turn, and where there is none."""

    def __enter__(self) -> None:
        connection, turnstile = self._connection, self._connection.turnstile
        if turnstile is None or connection.is_inside:
            return
        if not turnstile.enter(self._patience):
            raise _Busy(f"database is locked: another process has not let go of it for {self._patience:g} s")
        self._turnstile = turnstile
        connection.is_inside = True
        try:
            if connection.files is not None:
                connection.files.before(connection)
        except BaseException:
            self._leave(turnstile)
            raise

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        turnstile, connection = self._turnstile, self._connection
        if turnstile is None:
            return
        try:
            if kind is None and connection.files is not None:
                connection.files.behind(connection)
        finally:
            self._leave(turnstile)

    def _leave(self, turnstile: Turnstile) -> None:
        self._connection.is_inside = False
        turnstile.leave()


class _Busy(sqlite3.OperationalError):
    """As SQLite says it when it has waited for its own lock in vain."""

    sqlite_errorcode = sqlite3.SQLITE_BUSY
    sqlite_errorname = "SQLITE_BUSY"


def connect(path: Path, *, readonly: bool = False) -> ArchiveConnection:
    """A connection to the existing archive at `path`, in autocommit mode, every setting read back.

    Usable from any thread, one at a time. Raises NotAnArchive, ArchiveUnavailable or ArchiveDamaged.
    """
    path = Path(path).absolute()
    require_file(path)
    try:
        put_strange_log_aside(path)
    except OSError as error:
        raise ArchiveUnavailable(
            f"{path} is a backup, and the log of another archive is beside it ({error.strerror}).",
            f"Move {path.name}-wal and {path.name}-shm to another folder, then retry.",
        ) from error
    until = time.monotonic() + ASTRAY_PATIENCE
    while (connection := _connected(path, readonly)) is None:
        if time.monotonic() > until:
            raise ArchiveUnavailable(
                f"{path.name}-wal was removed or replaced while another loom has it open, and holds turns.",
                "Let that loom go on, or end it in order; then retry. Ended by force, it loses them.",
            )
        time.sleep(_LOOK_AGAIN)
    return connection


def _connected(path: Path, readonly: bool) -> ArchiveConnection | None:
    """As `connect`; None while another process has the log open that belongs to the database, and it has no name, or
    gave it back its name meanwhile."""
    log = _log_named(path)
    connection = open_database(path, readonly=readonly)
    try:
        try:
            _make_ready(connection, path, readonly)
        except (sqlite3.Error, ArchiveError):
            if not _is_astray(connection, path) and _log_named(path) == log:
                raise
            connection.close()
            return None
        if _is_astray(connection, path):
            connection.close()
            return None
        if not readonly:
            connection.files = OpenFiles(path, connection.require_index())
            connection.turnstile = Turnstile(path)
    except sqlite3.Error as error:
        connection.close()
        raise unreadable(error, path) from error
    except OSError as error:
        connection.close()
        raise ArchiveUnavailable(f"The archive {path} cannot be reached: {error.strerror}.") from error
    except BaseException:
        connection.close()
        raise
    return connection


def _make_ready(connection: ArchiveConnection, path: Path, readonly: bool) -> None:
    if (found := pragma(connection, "application_id")) != APPLICATION_ID:
        raise NotAnArchive(
            f"{path} is a database, but not a loom archive (application id {found}).",
            "It was not touched. Move it away, or set LOOM_HOME to another folder.",
        )
    make_private(path)
    configure(connection, path, readonly=readonly)
    guard.protect(path)


def _log_named(path: Path) -> int | None:
    """The inode of what has the log's name; None if nothing has."""
    try:
        return path.with_name(f"{path.name}-wal").lstat().st_ino
    except FileNotFoundError:
        return None


def _is_astray(connection: ArchiveConnection, path: Path) -> bool:
    index = connection.require_index()
    index.find(path.with_name(f"{path.name}-shm"))
    return is_astray(path, index)


def require_file(path: Path) -> None:
    """Raises unless there is a file with something in it at `path`: SQLite would make an empty file its own."""
    try:
        if not path.is_file():
            if path.exists():
                raise NotAnArchive(f"{path} is not a file.", "Move it away, or set LOOM_HOME to another folder.")
            raise ArchiveUnavailable(f"There is no archive at {path}.")
        if path.stat().st_size == 0:
            raise NotAnArchive(
                f"{path} is empty: it was an archive whose content is gone, or never was one.",
                "It was not touched. Restore a backup in its place, or move it away to start a new archive.",
            )
    except OSError as error:
        raise ArchiveUnavailable(f"The archive {path} cannot be reached: {error.strerror}.") from error


def open_database(path: Path, *, readonly: bool = False) -> ArchiveConnection:
    """A bare connection to the existing file at `path`, nothing set, nothing checked."""
    uri = f"{path.absolute().as_uri()}?mode={'ro' if readonly else 'rw'}"
    if readonly and is_at_rest(path) and is_unwritable(path):
        uri += "&immutable=1"
    try:
        # Before SQLite opens it, so that no other thread closes the last one meanwhile.
        index = LogIndex.joined(path)
    except OSError as error:
        raise ArchiveUnavailable(f"The archive {path} cannot be reached: {error.strerror}.") from error
    try:
        connection = sqlite3.connect(
            uri,
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=BUSY_TIMEOUT_MS / 1000,
            factory=ArchiveConnection,
        )
    except sqlite3.Error as error:
        index.leave()
        raise unreadable(error, path) from error
    connection.index = index
    return connection


def configure(connection: sqlite3.Connection, path: Path, *, readonly: bool = False) -> None:
    """Set what durability and safety need, and read each of it back. Raises ArchiveUnavailable naming what does
    not hold."""
    for name, wanted, expected in _SETTINGS:
        connection.execute(f"PRAGMA {name} = {wanted}").fetchall()
        found = pragma(connection, name)
        # A SQLite built without memory mapping does not know the setting, and needs none.
        if found != expected and not (name == "mmap_size" and found is None):
            raise ArchiveUnavailable(f"The database of {path} keeps `{name}` at {found!r} instead of {expected!r}.")
    asked = "PRAGMA journal_mode" if readonly else "PRAGMA journal_mode = WAL"
    (mode,) = connection.execute(asked).fetchone()
    # A backup has no log until it is written to.
    if mode != "wal" and not (readonly and mode == "delete"):
        raise ArchiveUnavailable(
            f"The archive {path} cannot use a write-ahead log (journal mode {mode}).",
            "A network file system cannot keep an archive: set LOOM_HOME to a local folder.",
        )
    # The log and its index exist from the first read on, and with them the inodes to guard.
    connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    # Not DBCONFIG_DEFENSIVE: it forbids taking an index away, or putting it in order, in small steps.
    if sys.version_info >= (3, 12) and not SAFE_CHECKPOINTS:
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, True)


def pragma(connection: sqlite3.Connection, name: str) -> Any:
    """The present value of a setting; None when this SQLite does not know it."""
    with closing(connection.execute(f"PRAGMA {name}")) as cursor:
        row = cursor.fetchone()
    return row[0] if row else None


def has_table(connection: sqlite3.Connection, name: str) -> bool:
    """Whether this version of the archive has a table or view of that name."""
    return connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (name,)).fetchone() is not None


def make_private(path: Path) -> None:
    """Take the archive's files from everybody else: mode 0600. SQLite gives -wal and -shm the mode of the database,
    whatever the umask."""
    for file in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        try:
            if file.stat().st_mode & 0o077:
                file.chmod(0o600)
        except FileNotFoundError:
            continue
        except PermissionError as error:
            raise ArchiveUnavailable(
                f"{file} can be read by others and belongs to somebody else.", "Check who owns the file."
            ) from error
        except OSError:
            # A read-only file system: what can be read by others there, loom cannot change.
            continue
