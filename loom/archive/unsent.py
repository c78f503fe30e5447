"""What was being written and not sent yet: a small file for each conversation and writer, beside the archive.

It is no turn: nobody said it. It is kept so that a closed terminal, a crash or a quick look elsewhere costs nobody
their words, and it goes when it is sent, emptied or purged. Two looms may write in one place at the same time (a new
conversation in the same folder, a session that one of them only reads): each has a file of its own and holds a lock
on it, which the kernel frees when its process ends, however it ends.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from loom.text import storable

_ENDING = ".txt"
MOST_BYTES = 16_000_000
"""A longer file is none that loom wrote."""


def place_of(session_id: str | None, workspace: str) -> str:
    """The name under which a conversation's unsent words are kept: the session, or, before its first message, the
    folder that it will work in."""
    if session_id is not None:
        return session_id
    return f"new-{hashlib.sha256(storable(workspace).encode()).hexdigest()[:24]}"


class Words:
    """The words of one writer in one place. Every method blocks; not to be used by two threads at a time."""

    def __init__(self, folder: Path, place: str) -> None:
        self.place = place
        self._folder = folder
        self._path = folder / f"{place}.{uuid.uuid4().hex[:8]}{_ENDING}"
        self._held: dict[Path, BinaryIO] = {}
        """The files that are this writer's, open and locked."""

    def take_up(self) -> list[str]:
        """What was being written here by those who are gone, oldest first; it is this writer's now. Call it before
        `keep`. Raises OSError."""
        texts = []
        try:
            for path in sorted(self._folder.glob(f"{self.place}.*{_ENDING}"), key=_written):
                file = _locked(path)
                if file is not None:
                    self._held[path] = file
                    texts.append(file.read(MOST_BYTES).decode("utf-8", "replace"))
        except OSError:
            # Nobody has read them: `keep` must not take them away.
            self.release()
            raise
        # One that is taken up is replaced in one step: no end in between can leave it beside what it became.
        self._path = next(iter(self._held), self._path)
        return texts

    def keep(self, text: str) -> None:
        """Keep this text in the place of all that was kept and taken up; a blank one is not kept. Raises OSError, and
        the earlier ones stay."""
        if text.strip():
            earlier, file = self._held.get(self._path), self._write(text)
            self._held[self._path] = file
            if earlier is not None:
                earlier.close()
        for path in [path for path in self._held if path != self._path or not text.strip()]:
            path.unlink(missing_ok=True)
            self._held.pop(path).close()

    def release(self) -> None:
        """Leave what is kept to whoever comes next."""
        while self._held:
            self._held.popitem()[1].close()

    def _write(self, text: str) -> BinaryIO:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = self._folder / f"{self.place}.{uuid.uuid4().hex[:8]}.new"
        descriptor = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        file = os.fdopen(descriptor, "r+b")
        try:
            # Locked before it gets its name: nobody ever finds it there without its lock.
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            file.write(storable(text).encode())
            file.flush()
            os.fsync(descriptor)
            new.replace(self._path)
        except BaseException:
            new.unlink(missing_ok=True)
            file.close()
            raise
        return file


@dataclass(frozen=True, slots=True)
class Unsent:
    """The files in one folder, mode 0700, which is made with the first of them."""

    folder: Path

    def at(self, place: str) -> Words:
        """A new writer's words there."""
        return Words(self.folder, place)

    def forget(self, place: str) -> None:
        """Overwrite and remove what anybody has there, also what an end in the middle of `keep` left. Blocks. Raises
        OSError."""
        for path in self.folder.glob(f"{place}.*"):
            with suppress(FileNotFoundError):
                with path.open("r+b") as file:
                    file.write(b"\0" * os.fstat(file.fileno()).st_size)
                    file.flush()
                    os.fsync(file.fileno())
                path.unlink()


def _written(path: Path) -> int:
    """When, in ns; 0 when it is gone meanwhile."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _locked(path: Path) -> BinaryIO | None:
    """The file, if it is nobody's: open, locked, and still the one of that name."""
    try:
        # To be written as well: over NFS nothing else can be locked.
        file = path.open("r+b")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return file
        except BaseException:
            file.close()
            raise
        file.close()
    except (BlockingIOError, FileNotFoundError):
        pass
    return None
