"""Which projects' instructions the person trusts: remembered by what the workspace is and where its files come from."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from loom.archive.flocks import locked
from loom.archive.workspaces import Workspace
from loom.cowork.project import Project
from loom.errors import LoomError

Answer = Literal["trusted", "never"]


class TrustUnusable(LoomError):
    """What was answered before cannot be read or kept."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """What the person answered for a project, and the instructions that were last read of it."""

    answer: Answer
    digests: Mapping[str, str]


class TrustStore:
    """One file in loom's home, mode 0600, as one session asks it. Every method blocks; safe between processes.

    Without a commit nothing tells one project from another that is put in its folder. Then an answer is for the files
    as they were last read; what changes while a session watches is taken for the same project.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._watched: set[str] = set()

    def get(self, workspace: Workspace, project: Project) -> Remembered | None:
        """What is remembered of this project; None when nobody has answered. It is judged as it was read, whatever the
        files say by now: what is trusted is what will be used. Raises TrustUnusable."""
        key = _key(workspace, project.root)
        entry = self._read().get(key)
        if not isinstance(entry, dict) or entry.get("answer") not in ("trusted", "never"):
            return None
        digests = entry.get("digests")
        remembered = Remembered(entry["answer"], digests if isinstance(digests, dict) else {})
        if workspace.commit is None and key not in self._watched:
            if remembered.digests != project.digests:
                return None
            self._watched.add(key)
        return remembered

    def put(self, workspace: Workspace, root: Path, remembered: Remembered) -> None:
        """Remember this from now on. Raises TrustUnusable."""
        key = _key(workspace, root)
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with locked(self._path.with_name(f"{self._path.name}-lock")):
                entries = self._read()
                entries[key] = {
                    "answer": remembered.answer,
                    "digests": dict(remembered.digests),
                    "root": os.fspath(root).encode("utf-8", "replace").decode(),
                }
                self._write(json.dumps(entries, indent=1).encode())
                self._watched.add(key)
        except OSError as error:
            raise TrustUnusable(f"{self._path} cannot be written: {error.strerror or error}.") from error

    def _read(self) -> dict[str, Any]:
        try:
            entries = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            raise TrustUnusable(
                f"{self._path} cannot be read: {error}.", "Move it away; loom then asks again."
            ) from error
        return entries if isinstance(entries, dict) else {}

    def _write(self, content: bytes) -> None:
        aside = self._path.with_name(f".{self._path.name}-{secrets.token_hex(6)}.tmp")
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(self._path)


def _key(workspace: Workspace, root: Path) -> str:
    # Another checkout of the same history, and another history in the same folder, are asked about anew.
    named = json.dumps([workspace.commit, os.fspath(root)])
    return hashlib.sha256(named.encode()).hexdigest()[:24]
