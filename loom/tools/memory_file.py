"""MEMORY.md: what the model noted about a workspace, over all of its sessions, with everything that it ever said.

It lives in loom's home, not in the checkout: `memory/<workspace>/MEMORY.md`, mode 0600. Every change is made under a
lock, replaces the file whole, and first puts the text before and the text after into `history/`, which only grows.
A change made by another hand is noted there when loom next changes the file.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loom.archive.flocks import locked
from loom.archive.workspaces import Workspace
from loom.errors import LoomError

NAME = "MEMORY.md"
MAX_BYTES = 262_144
"""Bytes to which the file may grow by loom's hand. A person may write a larger one; of that, loom reads the head."""


class MemoryProblem(LoomError):
    """The memory cannot be read or changed; it is as it was."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """The file as it was read."""

    text: str
    """Its first MAX_BYTES; bytes that are no UTF-8 are shown as U+FFFD and stay in the file as they are."""
    size: int
    """Of the whole file, in bytes."""


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """Before and after, as text."""

    before: str
    after: str


def memory_folder(home: Path, workspace: Workspace) -> Path:
    """Where the memory of a workspace is: the same one for a checkout that moved. One that was begun before the first
    commit moves with it. Blocking."""
    by_path = _folder(home, workspace.path)
    if workspace.commit is None:
        return by_path
    by_commit = _folder(home, workspace.commit)
    if not by_commit.exists() and by_path.exists():
        try:
            by_path.rename(by_commit)
        except OSError:
            # Another loom was first, or the disk refuses: what is there is still found.
            return by_commit if by_commit.exists() else by_path
    return by_commit


def _folder(home: Path, identity: str) -> Path:
    return home / "memory" / hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class MemoryFile:
    """One workspace's memory. Every method blocks: call it in a thread. Safe between threads and processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / NAME
        self._history = folder / "history"

    def read(self) -> Remembered:
        """What is remembered; empty when there is no file. Raises MemoryProblem."""
        with self._problems():
            content, size = self._content(MAX_BYTES)
            return Remembered(content.decode("utf-8", "replace"), size)

    def stamp(self) -> tuple[int, ...]:
        """Differs when the file does: cheap to ask. Empty when there is no file that can be looked at."""
        try:
            status = self.path.lstat()
        except OSError:
            return ()
        return (status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode)

    def append(self, text: str) -> MemoryChange:
        """Write a paragraph behind what is there. Raises MemoryProblem."""
        added = text.strip("\n").encode() + b"\n"

        def grown(before: bytes) -> bytes:
            return before + (b"" if not before or before.endswith(b"\n") else b"\n") + added

        return self._change(grown)

    def replace(self, old: str, new: str) -> MemoryChange:
        """Put other words in the place of some that stand there exactly once. Raises MemoryProblem."""

        def replaced(before: bytes) -> bytes:
            count = before.count(old.encode()) if old else 0
            if count != 1:
                found = "does not stand" if not count else f"stands {count} times"
                raise MemoryProblem(f"The old text {found} in {NAME}.", "read_memory shows it; copy it exactly, once.")
            return before.replace(old.encode(), new.encode())

        return self._change(replaced)

    def rewrite(self, text: bytes, expected: bytes) -> MemoryChange:
        """Make the file hold this, whatever its size, if it still holds what is `expected`. Raises MemoryProblem."""

        def rewritten(before: bytes) -> bytes:
            if before != expected:
                raise MemoryProblem(f"{NAME} has changed meanwhile.")
            return text

        return self._change(rewritten, limit=None)

    def whole(self) -> bytes:
        """Every byte of it. Raises MemoryProblem."""
        with self._problems():
            return self._content(None)[0]

    def undo(self) -> MemoryChange:
        """Take the newest change back that has not been taken back yet, by whatever hand. That is a change too, and
        nothing of it is lost. Raises MemoryProblem when there is none, or the text before it is not in the history."""
        with self._problems(), self._locked():
            now = self._content(None)[0]
            log = self._log(now)
            taken_back = {entry["undoes"] for entry in log if "undoes" in entry}
            at = next((n for n in reversed(range(len(log))) if n not in taken_back and "undoes" not in log[n]), None)
            if at is None:
                raise MemoryProblem("There is no change of the memory to take back.")
            try:
                kept = (self._history / log[at]["before"]).read_bytes()
            except FileNotFoundError as error:
                raise MemoryProblem(
                    f"The text before the newest change of {NAME} is no longer kept.", "Edit it with /memory."
                ) from error
            return self._replace(now, kept, undoes=at)

    def _change(self, make: Callable[[bytes], bytes], limit: int | None = MAX_BYTES) -> MemoryChange:
        with self._problems(), self._locked():
            before, _ = self._content(None)
            after = make(before)
            if limit is not None and len(after) > max(limit, len(before) - 1):
                raise MemoryProblem(
                    f"{NAME} would have {len(after):,} bytes; it may have {limit:,}.",
                    "Shorten it with update_memory first, or edit it with /memory.",
                )
            return self._replace(before, after)

    def _replace(self, before: bytes, after: bytes, **noted: Any) -> MemoryChange:
        self._history.mkdir(mode=0o700, exist_ok=True)
        log = self._log(before)
        log.append({"before": self._keep(before), "after": self._keep(after), **noted})
        _write(self._history / "log.json", json.dumps(log).encode())
        _write(self.path, after)
        return MemoryChange(before.decode("utf-8", "replace"), after.decode("utf-8", "replace"))

    def _keep(self, content: bytes) -> str:
        """Under its digest in the history; gives the digest."""
        kept = self._history / _digest(content)
        if not kept.exists():
            _write(kept, content)
        return kept.name

    def _log(self, now: bytes) -> list[dict[str, Any]]:
        """The changes that led to what the file holds now, oldest first.

        The last one may be an edit from outside, not written down yet. One that was noted and cut off before the file
        was replaced has one behind it that changed the text back.
        """
        try:
            log = json.loads((self._history / "log.json").read_bytes())
        except FileNotFoundError:
            return []
        if not isinstance(log, list) or not all(_is_change(entry) for entry in log):
            raise ValueError("no list of changes")
        if log and log[-1]["after"] != _digest(now):
            log.append({"before": log[-1]["after"], "after": _digest(now)})
        return log

    def _content(self, limit: int | None) -> tuple[bytes, int]:
        """The first bytes of the file (all if None), and its size."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            descriptor = os.open(self.path, flags)
        except FileNotFoundError:
            return b"", 0
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise MemoryProblem(f"{self.path} is not a regular file.", "Move it away.")
            return file.read() if limit is None else file.read(limit), status.st_size

    @contextmanager
    def _locked(self) -> Iterator[None]:
        # Each by itself: to the parents that it makes, mkdir gives no mode.
        for folder in (self.folder.parent, self.folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with locked(self.folder / "lock"):
            yield

    @contextmanager
    def _problems(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise MemoryProblem(f"{self.path} is a symbolic link.", "Put the file itself there.") from error
            raise MemoryProblem(f"{self.path} cannot be used: {error.strerror or error}.") from error
        except ValueError as error:
            log = self._history / "log.json"
            raise MemoryProblem(f"{log} is damaged ({error}).", "Move it away; the texts beside it stay.") from error


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _is_change(entry: Any) -> bool:
    return isinstance(entry, dict) and all(isinstance(entry.get(side), str) for side in ("before", "after"))


def _write(path: Path, content: bytes) -> None:
    """The whole file or none of it, durably, mode 0600; a link in its place is replaced and not followed."""
    aside = path.with_name(f".{path.name}-{secrets.token_hex(6)}.tmp")
    try:
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            aside.unlink()
        raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
