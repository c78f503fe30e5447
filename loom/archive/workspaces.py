"""What makes a workspace the same one again: its path, or the history that it is a checkout of."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from loom.text import storable

GIT_SECONDS = 3.0
"""A history that takes longer to walk (a million commits) is not asked for its root; the path still finds it."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where a session works."""

    path: str
    """Absolute, symlinks resolved."""
    commit: str | None
    """The root commit of its git history, with `:folder/` behind it when the workspace is a folder inside of
    the checkout; None without git or commits."""

    def has(self, path: str, commit: str | None) -> bool:
        """Whether a session belongs here that worked at a path, in a checkout of a history."""
        return path == self.path or (commit is not None and commit == self.commit)


def identify(path: str | Path) -> Workspace:
    """What is known of the folder at `path`. Blocking: asks git where there is a repository."""
    resolved = os.path.realpath(path)
    return Workspace(path=storable(resolved), commit=_root_commit(resolved) if _is_versioned(resolved) else None)


def _is_versioned(folder: str) -> bool:
    """Whether git may find a repository from here on upwards. To ask git takes 4 ms, and a folder that has no history
    is asked about with every search."""
    while True:
        if os.path.lexists(f"{folder}/.git") or os.path.lexists(f"{folder}/HEAD"):
            return True
        folder, inside = os.path.split(folder)
        if not inside:
            return False


def _root_commit(folder: str) -> str | None:
    # Along first parents: a history that was merged in does not change who this is.
    root = _git(folder, "rev-list", "--first-parent", "--max-parents=0", "HEAD").strip()
    if not root:
        return None
    inside = _git(folder, "rev-parse", "--show-prefix").removesuffix("\n")
    return storable(f"{root}:{inside}" if inside else root)


def _git(folder: str, *arguments: str) -> str:
    # A hook or an editor may have pointed git elsewhere; the question is about this folder.
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    # Where a part of the history is missing, git would fetch it in the way that the repository's configuration says,
    # which may be any program: the folder is asked before anybody has said that it is to be trusted.
    environ |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return os.fsdecode(done.stdout) if done.returncode == 0 else ""
