"""What was being written and not sent yet: one small file for each conversation, beside the archive.

It is no turn: nobody said it. It is kept so that a closed terminal, a crash or a quick look elsewhere costs nobody
their words, and it goes when it is sent, emptied or purged.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

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


@dataclass(frozen=True, slots=True)
class Unsent:
    """The files in one folder, mode 0700, which is made with the first of them. Every method blocks."""

    folder: Path

    def keep(self, place: str, text: str) -> None:
        """Keep this text in the place of the earlier one; a blank one is not kept. Raises OSError, and the earlier
        one stays."""
        path = self._path(place)
        if not text.strip():
            path.unlink(missing_ok=True)
            return
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = self.folder / f"{place}.{uuid.uuid4().hex[:8]}.new"
        try:
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(storable(text).encode())
                file.flush()
                os.fsync(descriptor)
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)

    def kept(self, place: str) -> str:
        """What was being written there; empty when nothing was. Raises OSError."""
        path = self._path(place)
        try:
            with path.open("rb") as file:
                return file.read(MOST_BYTES).decode("utf-8", "replace")
        except FileNotFoundError:
            return ""

    def forget(self, place: str) -> None:
        """Overwrite and remove what is there, also what an end in the middle of `keep` left. Raises OSError."""
        for path in (self._path(place), *self.folder.glob(f"{place}.*.new")):
            with suppress(FileNotFoundError):
                with path.open("r+b") as file:
                    file.write(b"\0" * os.fstat(file.fileno()).st_size)
                    file.flush()
                    os.fsync(file.fileno())
                path.unlink()

    def _path(self, place: str) -> Path:
        return self.folder / f"{place}{_ENDING}"
