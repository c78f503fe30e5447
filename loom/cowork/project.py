"""Project instructions: the files in which a project tells coding agents how to work in it.

They are read, never run, and only of a workspace that the person trusts: see `loom.cowork.trust`.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from loom.archive.errors import GuardedFile

NAMES = ("AGENTS.md", "CLAUDE.md")
"""Of a folder the first that is there: projects that have both say the same in them."""
OWN = Path(".loom") / "instructions.md"
"""Beside that, what is meant for loom alone."""

MAX_FILE_BYTES = 32_768
MAX_BYTES = 65_536
"""Of all of them together: what is read; the files may be longer."""


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """One file of instructions."""

    path: str
    """Relative to the project's root, `/` separated."""
    text: str
    """As far as it was read; what is no UTF-8 stands as U+FFFD."""
    size: int
    """Of the whole file, in bytes."""
    digest: str
    """Of what was read."""

    @property
    def unread(self) -> int:
        """Bytes behind what was read."""
        return max(0, self.size - len(self.text.encode("utf-8", "replace")))


@dataclass(frozen=True, slots=True)
class Project:
    """Where the instructions come from, and what they are; the outermost folder's first."""

    root: Path
    """The git checkout's root; the workspace itself where there is none."""
    files: tuple[ProjectFile, ...] = ()

    @property
    def digests(self) -> dict[str, str]:
        return {file.path: file.digest for file in self.files}


def find_project(workspace: Path) -> Project:
    """The instructions from the checkout's root down to the workspace. Blocking; what cannot be read is left out."""
    workspace = Path(os.path.realpath(workspace))
    root = next((folder for folder in (workspace, *workspace.parents) if _is_there(folder / ".git")), workspace)
    folders = [root, *reversed([folder for folder in (workspace, *workspace.parents) if root in folder.parents])]
    left = MAX_BYTES
    files = []
    for path in (path for folder in folders for path in _candidates(folder)):
        if (found := _read(path, root, min(left, MAX_FILE_BYTES))) is not None:
            files.append(found)
            left -= len(found.text.encode("utf-8", "replace"))
    return Project(root, tuple(files))


def _candidates(folder: Path) -> Iterator[Path]:
    yield from [folder / name for name in NAMES if _is_there(folder / name)][:1]
    yield folder / OWN


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False  # a folder above that may not be looked into


def _read(path: Path, root: Path, limit: int) -> ProjectFile | None:
    try:
        real = Path(os.path.realpath(path))
        # A link may lead to another such file of the project, and nowhere else.
        if root not in real.parents or real.suffix != ".md":
            return None
        with os.fdopen(os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or not status.st_size:
                return None
            content = file.read(limit)
    except (OSError, GuardedFile):
        # Not there, or not to be read: then it is not followed either.
        return None
    text = content.decode("utf-8", "ignore" if status.st_size > limit else "replace")
    shown = path.relative_to(root).as_posix()
    return ProjectFile(shown, text, status.st_size, hashlib.sha256(content).hexdigest()[:16])
