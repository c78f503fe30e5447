"""Whether the archive's files still have their names while a connection has them open.

SQLite goes on with the files that it opened, whatever becomes of their names: what is written to a log that somebody
removed is gone with the process, and a log or an index that another process makes in its place knows nothing of this
one's. So it is looked at in every turn of a writer (some 10 µs): before the write whether database and index have their
names and the index is about the log in use, behind it whether database and log have theirs. While the folder is as it
was when the names were looked up, they stand (`loom.archive.foldertimes`).

A log without a name is moved into the database, through the connection that still has it, which saves every turn in
it; then all connections are opened anew. Names are looked up in the folder as it was opened: one that is moved with
everything in it is no fault.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import uuid
from enum import Enum
from functools import partial
from pathlib import Path

from loom.archive import guard
from loom.archive.errors import Displaced, WriteFailed
from loom.archive.foldertimes import FolderTime, notes_changes
from loom.archive.logindex import IndexHead, LogEnd, LogIndex
from loom.archive.stranded import Stranded, StrandedSession, stranded_in

ASIDE = "-replaced-"
"""In the name of a log that was put in the place of the one in use."""

_HEADER = 32
_SALTS_AT = 16
_SALTS = 8
_LOOKS = 20

_NOTHING = "nothing was stored"
_PERHAPS = "what was being written may be stored or not"


class _Named(Enum):
    """What has a file's name."""

    SAME = "the file that is open"
    OTHER = "another file"
    GONE = "no file"


class OpenFiles:
    """The files of one connection that writes, in WAL mode. For one thread at a time."""

    def __init__(self, path: Path, index: LogIndex) -> None:
        """To be made when the connection has its files open. Raises OSError."""
        self._path = path
        self._names = (path.name, f"{path.name}-wal", f"{path.name}-shm")
        self._index = index
        self._doubtful = False
        """Something was wrong at the last look: the next write looks at everything before it writes."""
        self._salts = b""
        """Of the log that was moved because it had lost its name."""
        self._stranded: tuple[StrandedSession, ...] = ()
        self._folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._log = -1
        try:
            is_noted = notes_changes(path.parent)
            self._time_before, self._time_behind = (FolderTime(self._folder, is_noted=is_noted) for _ in range(2))
            self._database_inode = self._status(path.name).st_ino
            with guard.ours():
                self._log = os.open(self._names[1], os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._folder)
            self._log_inode = os.fstat(self._log).st_ino
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of them."""
        for descriptor in (self._folder, self._log):
            if descriptor >= 0:
                os.close(descriptor)
        self._folder = self._log = -1

    def before(self, connection: sqlite3.Connection) -> None:
        """To be called in the connection's turn, before it writes.

        Raises Displaced, when all connections have to be opened anew first, or WriteFailed. Nothing is written then.
        """
        if self._doubtful or not self._is_sound():
            self._put_right(connection, _NOTHING)

    def behind(self, connection: sqlite3.Connection) -> None:
        """To be called in the connection's turn, after it has written: on return that is on the disk under a name of
        the archive's. Raises WriteFailed, which says that it may be stored or not."""
        if not self._time_behind.holds(self._are_named_behind):
            try:
                self._put_right(connection, _PERHAPS)
            except Displaced:
                # It is in the database now; the next turn opens everything anew.
                return

    def forget_names(self) -> None:
        """Look the files' names up the next time, whatever the folder says."""
        self._time_before.forget()
        self._time_behind.forget()

    def _are_named_behind(self) -> bool:
        """Whether database and log have their names."""
        database, log, _ = self._names
        try:
            return self._status(database).st_ino == self._database_inode and self._status(log).st_ino == self._log_inode
        except FileNotFoundError:
            return False

    def _is_sound(self) -> bool:
        """Whether database and index have their names, and the index is about the log that is open here."""
        end, seen = self._index.end(), self._index.seen
        if seen is None or _round(end) != _round(seen[2]):
            # The database may have changed, and is looked at with its name.
            self._time_before.forget()
        return self._is_mine(end) and self._time_before.holds(partial(self._are_named_before, end))

    def _are_named_before(self, end: LogEnd | None) -> bool:
        try:
            database, index = self._status(self._names[0]), self._status(self._names[2])
        except FileNotFoundError:
            return False
        if database.st_ino != self._database_inode or index.st_ino != self._index.inode:
            return False
        self._index.seen = (database.st_mtime_ns, database.st_size, end)
        return True

    def _is_written_by_others(self, head: IndexHead) -> bool:
        """Whether the database has been written to, since its files last had their names, by somebody with another
        index: what is in the log here does not go with it any more."""
        if self._index.seen is None:
            return False
        changed, size, end = self._index.seen
        status = self._status(self._names[0])
        same_round = _round(head.end) == _round(end)
        return same_round and (status.st_mtime_ns, status.st_size) != (changed, size)

    @property
    def _own_salts(self) -> bytes:
        return os.pread(self._log, _SALTS, _SALTS_AT)

    def _is_mine(self, end: LogEnd | None) -> bool:
        """Whether the index is about the log that is open here, or about none. A copy begins like it: the end tells
        which of them has been written to."""
        return end is None or end.is_of(self._log)

    def _put_right(self, connection: sqlite3.Connection, outcome: str) -> None:
        """Raises Displaced once nothing depends on the files without a name; WriteFailed, with what became of the
        write, when that cannot be."""
        self._doubtful = True
        if self._stranded:
            # Also when the files have their names again: the database has been written to without them.
            raise self._stranded_behind(0, outcome)
        database, log, index = self._look()
        if index is _Named.OTHER and self._put_no_file_aside(self._names[2]):
            index = _Named.GONE
        if database is not _Named.SAME:
            raise self._without_database(database, outcome)
        head = self._index.head()
        mine = self._is_mine(head.end)
        if log is _Named.SAME and index is _Named.SAME:
            self._doubtful = not mine
            if not mine:
                raise WriteFailed(
                    f"The log {self._names[1]} was emptied or overwritten by another program while loom had it open: "
                    f"{outcome}.",
                    "What only that log held is lost: copy what you need from the screen, end every loom, and start "
                    "again.",
                )
            return
        if log is not _Named.SAME:
            # Moving it empties it.
            self._salts = self._own_salts or self._salts
            others = index is _Named.OTHER or self._is_written_by_others(head)
            if others and mine and head.frames > head.moved:
                # Somebody has begun a log of their own without these: the two do not go together any more.
                raise self._stranded_behind(head.moved, outcome)
            if index is not _Named.OTHER:
                if head.frames and mine:
                    _move_log(connection, outcome)
                self._put_aside()
        raise Displaced(*self._words(log, index))

    def _stranded_behind(self, moved: int, outcome: str) -> Stranded:
        if not self._stranded:
            with os.fdopen(os.dup(self._log), "rb") as log:
                self._stranded = stranded_in(log, moved)
        return Stranded(
            f"{self._names[1]} and {self._names[2]} were removed while loom had them open, and another loom has begun "
            f"new ones: {outcome}.",
            self._stranded,
        )

    def _look(self) -> tuple[_Named, _Named, _Named]:
        inodes = (self._database_inode, self._log_inode, self._index.inode)
        database, log, index = map(self._named, self._names, inodes)
        return database, log, index

    def _named(self, name: str, inode: int | None) -> _Named:
        try:
            found = self._status(name).st_ino
        except FileNotFoundError:
            return _Named.GONE
        return _Named.SAME if found == inode else _Named.OTHER

    def _status(self, name: str) -> os.stat_result:
        # A link to a file is not that file: the next start looks for the log beside what the link names.
        return os.stat(name, dir_fd=self._folder, follow_symlinks=False)

    def _rename_aside(self, name: str) -> None:
        os.rename(name, f"{name}{ASIDE}{uuid.uuid4().hex[:8]}", src_dir_fd=self._folder, dst_dir_fd=self._folder)

    def _put_no_file_aside(self, name: str) -> bool:
        """Take its name from a folder, a link or the like; whether there was one."""
        try:
            if stat.S_ISREG(self._status(name).st_mode):
                return False
        except FileNotFoundError:
            return False
        self._rename_aside(name)
        return True

    def _put_aside(self) -> None:
        """Take its name from a log that is none of this database's, or an earlier copy: it would be read into it at
        the next start. It is kept under another name. One that another process has begun, or gone on with, is left."""
        if self._put_no_file_aside(self._names[1]):
            return
        try:
            with guard.ours():
                other = os.open(self._names[1], os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._folder)
        except FileNotFoundError:
            return
        try:
            header, head = os.pread(other, _HEADER, 0), self._index.head()
            gone_on_with = head.end is not None and head.end.is_of(other)
        finally:
            os.close(other)
        salts = header[_SALTS_AT : _SALTS_AT + _SALTS]
        if header and not gone_on_with and (salts == self._salts or not _belongs(salts, head)):
            self._rename_aside(self._names[1])

    def _without_database(self, database: _Named, outcome: str) -> WriteFailed:
        how = "removed or renamed" if database is _Named.GONE else "replaced by another file"
        return WriteFailed(
            f"The archive {self._path} was {how} while loom had it open: {outcome}.",
            "Put the file back and retry. If it is gone, copy what you need from the screen, end every loom, and "
            f"put a backup from {self._path.parent / 'backups'} in its place.",
        )

    def _words(self, log: _Named, index: _Named) -> tuple[str, str]:
        named = [name for name, found in zip(self._names[1:], (log, index), strict=True) if found is not _Named.SAME]
        return (
            f"{' and '.join(named)} {'were' if len(named) > 1 else 'was'} removed or replaced while loom had the "
            "archive open.",
            f"No turn is lost. Find out what removes files from {self._path.parent}.",
        )


def is_astray(path: Path, index: LogIndex) -> bool:
    """Whether the log at its name is another one than the index in use is about: another process has the right one
    open, which has lost its name. Raises OSError."""
    for _ in range(_LOOKS):
        head = index.head()
        if head.end is None:
            return False
        try:
            with guard.ours():
                log = os.open(f"{path}-wal", os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return True
        try:
            fits = head.end.is_of(log)
        finally:
            os.close(log)
        # Between the two looks the log may have been started over.
        if fits or index.head() == head:
            return not fits
    return False


def _move_log(connection: sqlite3.Connection, outcome: str) -> None:
    """Move all of the log into the database. Raises WriteFailed or sqlite3.Error; nothing is lost then."""
    (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise WriteFailed(
            "The archive's log was removed while loom had it open, and cannot be saved while another process reads: "
            f"{outcome}.",
            "Retry; if it goes on, close the other loom.",
        )


def _round(end: LogEnd | None) -> tuple[bytes, int] | None:
    return None if end is None else end.round


def _belongs(salts: bytes, head: IndexHead) -> bool:
    """Whether a log with these salts is the present round, or the one before it that is waiting to be written over:
    each round counts the first salt on."""
    before = (int.from_bytes(head.salts[:4], "big") - 1) % 2**32
    return salts == head.salts or (not head.frames and int.from_bytes(salts[:4], "big") == before)
