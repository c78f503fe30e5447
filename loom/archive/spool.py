"""Turns that the archive could not take: kept in files beside it, and given back at the next start.

One file for each session and process, one JSON object a line, on the disk when `put` returns. A file is locked for as
long as the process that writes it lives, so that nobody takes over what is still being retried.
"""

from __future__ import annotations

import fcntl
import json
import os
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any

from loom.archive import clock
from loom.archive.errors import WriteFailed
from loom.archive.records import NewSession, NewTurn, TurnKind, TurnStatus
from loom.archive.references import is_reference
from loom.archive.rows import MAX_COUNT, storable_turn
from loom.text import plural, storable

_ENDING = ".jsonl"
_DAMAGED = ".damaged"
"""Behind the name of a file some of whose lines could not be read, once the others are stored."""
_SESSION = "session"


@dataclass(frozen=True, slots=True)
class Spooled:
    """What an earlier process could not store of one session."""

    session_id: str
    turns: tuple[NewTurn, ...]
    """Oldest first, each with an append key: storing one twice stores it once."""
    path: Path
    session: NewSession | None
    """What it begins with, if the archive may not have it."""
    unreadable: int
    """Lines that are not whole: the process or the disk ended in the middle of one."""


class Spool:
    """The spool files in one folder, mode 0700, which is made with the first of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._own: dict[str, tuple[Path, int]] = {}
        self._putting = Lock()

    def put(self, session_id: str, turns: Sequence[NewTurn], session: NewSession | None = None) -> list[NewTurn]:
        """Add the turns to the session's file; gives them as they are there, keyed and timed: what is retried must be
        these, so that it is never stored twice. `session` is for one that the archive may not have. Raises WriteFailed;
        the turns are then in memory only."""
        keyed = [
            replace(
                turn,
                append_key=turn.append_key or f"spool/{uuid.uuid4()}",
                created_at=turn.created_at or clock.now(),
            )
            for turn in turns
        ]
        records = [asdict(turn) for turn in keyed]
        if session is not None:
            records.insert(0, {_SESSION: asdict(session)})
        lines = "".join(_line(session_id, record) for record in records).encode()
        try:
            with self._putting:
                self._add(session_id, lines)
        except OSError as error:
            raise WriteFailed(
                f"The turns could not be kept in {self._folder} either ({error.strerror or error}): "
                "they are in memory only.",
                "Make room and retry before you leave.",
            ) from error
        return keyed

    def _add(self, session_id: str, lines: bytes) -> None:
        descriptor = self._file(session_id)
        end = os.fstat(descriptor).st_size
        try:
            _write(descriptor, lines)
            os.fsync(descriptor)
        except OSError:
            # Half a line would spoil the one that comes after it.
            with suppress(OSError):
                os.ftruncate(descriptor, end)
            raise

    def drop(self, session_id: str) -> None:
        """The session's turns are in the archive: its file of this process goes. Never raises; one that stays is
        offered again, and stores nothing twice."""
        path, descriptor = self._own.pop(session_id, (None, -1))
        if path is not None:
            with suppress(OSError):
                path.unlink(missing_ok=True)
            os.close(descriptor)

    def waiting(self) -> list[Spooled]:
        """What processes that have ended left, oldest first. Those that live keep theirs. Raises OSError."""
        return [found for path in self._paths() if (found := _read_if_left(path)) is not None]

    def remove(self, spooled: Spooled) -> Path | None:
        """Its turns are stored: the file goes, or is kept under another name, which is given, if some of its lines
        could not be read. Raises OSError."""
        if not spooled.unreadable:
            spooled.path.unlink(missing_ok=True)
            return None
        return spooled.path.rename(spooled.path.with_name(f"{spooled.path.name}{_DAMAGED}"))

    def forget(self, session_id: str) -> None:
        """Overwrite and remove every file of the session, whoever wrote it. Raises OSError."""
        self.drop(session_id)
        for path in [*self._paths(), *self._folder.glob(f"*{_DAMAGED}")]:
            if path.name.startswith(f"{session_id}-"):
                descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
                try:
                    _write(descriptor, b"\0" * os.fstat(descriptor).st_size)
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
                path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of the files: they are offered at the next start."""
        for _, descriptor in self._own.values():
            os.close(descriptor)
        self._own.clear()

    def _paths(self) -> list[Path]:
        if not self._folder.is_dir():
            return []
        # A pipe would keep whoever opens it waiting, and a folder is not to hide the files beside it.
        found = [path for path in self._folder.iterdir() if path.suffix == _ENDING and path.is_file()]
        return sorted(found, key=lambda path: (path.stat().st_mtime_ns, path.name))

    def _file(self, session_id: str) -> int:
        known = self._own.get(session_id)
        if known is not None:
            return known[1]
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._folder / f"{session_id}-{uuid.uuid4().hex[:12]}{_ENDING}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            folder = os.open(self._folder, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except BaseException:
            os.close(descriptor)
            raise
        self._own[session_id] = (path, descriptor)
        return descriptor


def unreadable_in_words(spooled: Spooled, kept: Path) -> str:
    """What to tell of the lines that could not be read, of a file that is kept under this name."""
    return (
        f"{plural(spooled.unreadable, 'line')} of what could not be saved last time cannot be read (cut off or "
        f"damaged). {kept} has them as they are."
    )


def by_message(turns: Sequence[NewTurn]) -> list[list[NewTurn]]:
    """The turns, cut before each message of the person: an append that begins with one begins an exchange."""
    groups: list[list[NewTurn]] = []
    for turn in turns:
        begins = turn.role == "user" and (not groups or groups[-1][-1].role != "user")
        if begins or not groups:
            groups.append([])
        groups[-1].append(turn)
    return groups


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _line(session_id: str, record: dict[str, Any]) -> str:
    whole = {"session_id": session_id, **record}
    return storable(json.dumps(whole, ensure_ascii=False, separators=(",", ":"))) + "\n"


def _read_if_left(path: Path) -> Spooled | None:
    """None for one that a living process has."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return None
        lines = file.read().split(b"\n")
    turns: list[NewTurn] = []
    session: NewSession | None = None
    unreadable = 0
    # As the file is named: damage in a line must not give its turns to another session, or to none.
    session_id = path.stem.rpartition("-")[0]
    for record in _records(lines):
        if isinstance(record, NewTurn):
            turns.append(record)
        elif record is not None and record.id == session_id:
            session = session or record
        else:
            unreadable += 1
    return Spooled(session_id, tuple(turns), path, session, unreadable) if turns or unreadable else None


def _records(lines: Sequence[bytes]) -> Iterator[NewTurn | NewSession | None]:
    for line in lines:
        if line.strip():
            try:
                yield _record(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                yield None


def _record(said: dict[str, Any]) -> NewTurn | NewSession:
    """Raises what comes of a line that is none of ours, or is damaged."""
    said.pop("session_id")
    if _SESSION in said:
        return _session(NewSession(**said[_SESSION]))
    kind, status = TurnKind(said.pop("kind")), TurnStatus(said.pop("status"))
    turn = NewTurn(**said, kind=kind, status=status)
    storable_turn(turn)
    return turn


def _session(session: NewSession) -> NewSession:
    """As it is, if a row can be made of it. Raises ValueError."""
    texts = (
        session.id,
        session.reference,
        session.title,
        session.workspace_path,
        session.workspace_commit or "",
        session.model_name,
        session.system_prompt,
        session.started_at,
        session.parent_id or "",
    )
    numbers = (session.fork_turn or 0, session.copied)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a text of the session is none")
    if not all(type(number) is int and 0 <= number < MAX_COUNT for number in numbers):
        raise ValueError("a number of the session is none")
    if not is_reference(session.reference) or clock.normalised(session.started_at) != session.started_at:
        raise ValueError("the session's reference or moment is none")
    return session
