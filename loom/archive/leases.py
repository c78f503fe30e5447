"""One writer a session: a file lock says who, an epoch in the database keeps everybody else out.

The lock is the kernel's and ends with its process, however that ends. It only advises; what protects the session is
the epoch, which every append of a lease holder checks in the statement that stores.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import sqlite3
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from loom.archive import clock
from loom.archive.errors import LeaseHeld, UnknownSession
from loom.archive.flocks import locked
from loom.archive.records import Lease


@dataclass(frozen=True, slots=True)
class Holder:
    """Who has a session open."""

    pid: int
    host: str
    since: str


@dataclass(frozen=True, slots=True)
class _Held:
    lease: Lease
    descriptor: int


class Leases:
    """The leases that one store holds. The lock files are in `folder`, one for each session that is open.

    Not to be used by two threads at a time.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, _Held] = {}

    def epoch(self, session_id: str) -> int | None:
        """The epoch that this store writes the session with; None if it holds no lease, and is not fenced."""
        held = self._held.get(session_id)
        return None if held is None else held.lease.epoch

    def is_lost(self, connection: sqlite3.Connection, session_id: str) -> bool:
        """Whether this store had the session and another one has taken it over since. From any thread."""
        held = self._held.get(session_id)
        if held is None:
            return False
        row = connection.execute("SELECT lease_epoch FROM cowork_sessions WHERE id = ?", (session_id,)).fetchone()
        return row is not None and row[0] != held.lease.epoch

    def acquire(self, connection: sqlite3.Connection, session_id: str, *, take_over: bool) -> Lease:
        """Become the session's one writer.

        Raises LeaseHeld when another store is, unless asked to take over: then that one stores nothing more.
        Raises UnknownSession, and OSError if the lock file cannot be made.
        """
        row = connection.execute("SELECT lease_epoch FROM cowork_sessions WHERE id = ?", (session_id,)).fetchone()
        if row is None:
            raise UnknownSession(f"There is no session {session_id} in the archive.")
        held = self._held.get(session_id)
        if held is not None:
            if held.lease.epoch == row[0]:
                return held.lease
            # Taken over since: start again like anybody else.
            self.release(session_id)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with locked(self._mutex):
            descriptor = self._lock(session_id, take_over=take_over)
            try:
                (epoch,) = connection.execute(
                    "UPDATE cowork_sessions SET lease_epoch = lease_epoch + 1 WHERE id = ? RETURNING lease_epoch",
                    (session_id,),
                ).fetchall()[0]
                lease = Lease(
                    session_id=session_id,
                    epoch=epoch,
                    pid=os.getpid(),
                    host=socket.gethostname(),
                    since=clock.now(),
                )
                _write(descriptor, lease)
            except BaseException:
                os.close(descriptor)
                raise
        self._held[session_id] = _Held(lease, descriptor)
        return lease

    def release(self, session_id: str) -> None:
        """Let others write the session. Nothing happens if this store holds no lease on it."""
        held = self._held.pop(session_id, None)
        if held is None:
            return
        try:
            with locked(self._mutex):
                if self._is_named(session_id, held):
                    self._path(session_id).unlink()
        except OSError:
            # The folder is gone: so is the file. The lock ends with the descriptor.
            return
        finally:
            os.close(held.descriptor)

    def release_all(self) -> None:
        for session_id in list(self._held):
            self.release(session_id)

    def remove_left(self) -> None:
        """Remove the lock files of processes that were killed: nobody has them locked. From any thread. Raises OSError.

        Safe because no lock file is opened, made or removed but while `_mutex` is locked: whoever waits to open one
        makes it anew. `_mutex` itself stays, as every lock does that is not under another one.
        """
        if not self._folder.is_dir():
            return
        with locked(self._mutex):
            for path in [*self._folder.glob("*.lease"), *self._folder.glob("*.taking")]:
                descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
                try:
                    if _try(descriptor):
                        path.unlink()
                finally:
                    os.close(descriptor)

    def holder(self, session_id: str) -> Holder | None:
        """Who else has the session open; None if nobody does, or this store itself."""
        held = self._held.get(session_id)
        if not self._path(session_id).exists() or (held is not None and self._is_named(session_id, held)):
            return None
        try:
            with self._at_rest():
                return self._locked_by(session_id)
        except FileNotFoundError:
            return None

    def holders(self) -> dict[str, Holder]:
        """Who else has which session open, by the session's id. Costs what the lock files cost that are there (one for
        each session that is open, and for each that was when its process was killed), 25 to 70 µs each. Raises
        OSError."""
        names = [path.stem for path in self._folder.glob("*.lease")]
        others = [name for name in names if (held := self._held.get(name)) is None or not self._is_named(name, held)]
        if not others:
            return {}
        found: dict[str, Holder] = {}
        with self._at_rest():
            for session_id in others:
                if (holder := self._locked_by(session_id)) is not None:
                    found[session_id] = holder
        return found

    def _at_rest(self) -> AbstractContextManager[None]:
        """While this lasts, nobody takes a lease or gives one up."""
        # Where nothing can be written nobody does so anyway.
        return locked(self._mutex) if os.access(self._folder, os.W_OK) else nullcontext()

    def _locked_by(self, session_id: str) -> Holder | None:
        """Who has the lock file locked; None if nobody does, or it is gone."""
        try:
            descriptor = os.open(self._path(session_id), os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            return None if _try(descriptor) else _read(descriptor)
        finally:
            os.close(descriptor)

    @property
    def _mutex(self) -> Path:
        return self._folder / "lock"

    def _path(self, session_id: str) -> Path:
        return self._folder / f"{session_id}.lease"

    def _is_named(self, session_id: str, held: _Held) -> bool:
        """Whether the lock is on the file that has the session's name: that of a session that was taken over is not."""
        try:
            return self._path(session_id).stat().st_ino == os.fstat(held.descriptor).st_ino
        except FileNotFoundError:
            return False

    def _lock(self, session_id: str, *, take_over: bool) -> int:
        """A descriptor that has the session's lock."""
        path = self._path(session_id)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if _try(descriptor):
                return descriptor
            holder = _read(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        if not take_over:
            raise LeaseHeld(
                f"This session is open in another loom (process {holder.pid} on {holder.host}, since {holder.since}).",
                "Open it read-only, fork it, or take it over.",
                pid=holder.pid,
                host=holder.host,
                since=holder.since,
            )
        # The other one keeps its lock, on a file that has no name any more.
        fresh = path.with_suffix(".taking")
        descriptor = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            fresh.rename(path)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor


def _try(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _write(descriptor: int, lease: Lease) -> None:
    words = json.dumps({"pid": lease.pid, "host": lease.host, "since": lease.since}).encode()
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, words, 0)


def _read(descriptor: int) -> Holder:
    """Who wrote the lock file; process 0 when it does not say (its writer is just about to)."""
    try:
        said = json.loads(os.pread(descriptor, 4096, 0))
        return Holder(pid=int(said["pid"]), host=str(said["host"]), since=str(said["since"]))
    except (ValueError, KeyError, TypeError):
        return Holder(pid=0, host=socket.gethostname(), since="an unknown time")
