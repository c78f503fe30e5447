"""A fair queue between all processes and threads that write one archive."""

from __future__ import annotations

import fcntl
import os
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock, Thread

from loom.archive.flocks import lock_at_once, lock_file
from loom.archive.foldertimes import FolderTime, notes_changes


@dataclass(frozen=True, slots=True)
class _Gates:
    """Descriptors of two lock files: `outer` is held by whoever is next, `inner` by whoever is inside."""

    outer: int
    inner: int
    inodes: tuple[int, int]

    @classmethod
    def opened(cls, folder: int, names: tuple[str, str]) -> _Gates:
        """Of the files with these names in the folder, which are made if need be. Raises OSError."""
        outer = _open_lock(names[0], folder)
        try:
            inner = _open_lock(names[1], folder)
        except BaseException:
            os.close(outer)
            raise
        return cls(outer, inner, (os.fstat(outer).st_ino, os.fstat(inner).st_ino))

    def pass_at_once(self) -> bool:
        """Whether nobody stood in the way. If not, the outer gate may be held: go on with `pass_in_turn`."""
        if not (lock_at_once(self.outer) and lock_at_once(self.inner)):
            return False
        fcntl.flock(self.outer, fcntl.LOCK_UN)
        return True

    def pass_in_turn(self) -> None:
        """Inside on return, however long that takes."""
        fcntl.flock(self.outer, fcntl.LOCK_EX)
        fcntl.flock(self.inner, fcntl.LOCK_EX)
        fcntl.flock(self.outer, fcntl.LOCK_UN)

    def close(self) -> None:
        os.close(self.outer)
        os.close(self.inner)


class Turnstile:
    """Lets one writer in at a time. The kernel holds the locks, so a process that dies inside frees its place.

    One lock would not be fair: who lets go of it takes it again before those that this wakes. Of two locks a writer
    needs the outer one to wait for the inner one, so that who comes out finds somebody next and cannot overtake.
    Four processes that write without a pause wait 47 ms at most and get equal shares; with one lock 170 ms and shares
    of two to one; with SQLite's own lock 3.4 s and five to one.

    For one thread at a time. The files are made when they are first needed, and looked up in the folder as it was then:
    one that is moved with everything in it is no fault.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._names = (f"{path.name}-queue", lock_file(path).name)
        self._folder = -1
        self._time: FolderTime | None = None
        """Of the folder, as far as the gates' names go; None until it is open."""
        self._gates: _Gates | None = None

    def enter(self, patience: float) -> bool:
        """Wait at most `patience` seconds to be inside; whether that came about.

        Raises OSError if the lock files cannot be made, locked or looked at; then it is not inside.
        """
        until = time.monotonic() + patience
        while self._enter(max(until - time.monotonic(), 0.0)):
            named = False
            try:
                named = self._have_names()
            finally:
                if not named:
                    # Whoever comes next makes others, or has found others, and would not meet us.
                    self._let_gates_go()
            if named:
                return True
        return False

    def forget_names(self) -> None:
        """Look the files' names up the next time, whatever the folder says."""
        if self._time is not None:
            self._time.forget()

    def _have_names(self) -> bool:
        """Whether the files that are open are those that everybody else finds."""
        return self._gates is None or self._time is None or self._time.holds(partial(self._look, self._gates))

    def _look(self, gates: _Gates) -> bool:
        outer, inner = self._names
        try:
            return gates.inodes == (
                os.stat(outer, dir_fd=self._folder).st_ino,
                os.stat(inner, dir_fd=self._folder).st_ino,
            )
        except FileNotFoundError:
            return False

    def _enter(self, patience: float) -> bool:
        gates = self._gates
        if gates is None:
            gates = self._gates = self._open()
        try:
            # A file lock knows no time limit: another thread waits for it, and can be left behind there.
            inside = gates.pass_at_once() or _Waiter(gates).wait(patience)
        except (OSError, RuntimeError):  # RuntimeError: no thread could be started
            self.close()
            raise
        if not inside:
            self._gates = None
        return inside

    def leave(self) -> None:
        """Let the next one in."""
        if self._gates is not None:
            fcntl.flock(self._gates.inner, fcntl.LOCK_UN)

    def close(self) -> None:
        """Let the files go, and the place with them."""
        self._let_gates_go()
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1
            self._time = None

    def _let_gates_go(self) -> None:
        gates, self._gates = self._gates, None
        self.forget_names()
        if gates is not None:
            gates.close()

    def _open(self) -> _Gates:
        if self._folder >= 0:
            try:
                return _Gates.opened(self._folder, self._names)
            except FileNotFoundError:
                # The folder itself was removed: another one may be in its place.
                self.close()
        self._folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._time = FolderTime(self._folder, is_noted=notes_changes(self._path.parent))
        return _Gates.opened(self._folder, self._names)


def _open_lock(name: str, folder: int) -> int:
    return os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600, dir_fd=folder)


class _Waiter:
    """Waits at the gates in a thread of its own; one that was given up closes them as soon as it gets through."""

    def __init__(self, gates: _Gates) -> None:
        self._gates = gates
        self._done = Lock()
        self._done.acquire()
        self._deciding = Lock()
        self._ended = self._given_up = False
        self._error: OSError | None = None

    def wait(self, patience: float) -> bool:
        """Whether the gates were passed in that many seconds. Raises OSError."""
        Thread(target=self._run, name="loom-queue", daemon=True).start()
        self._done.acquire(timeout=patience)
        with self._deciding:
            self._given_up = not self._ended
        if self._error is not None:
            raise self._error
        return not self._given_up

    def _run(self) -> None:
        try:
            self._gates.pass_in_turn()
        except OSError as error:
            self._error = error
        with self._deciding:
            self._ended = True
            if self._given_up:
                self._gates.close()
        self._done.release()
