"""Searches every file for what is left of a session that was purged, and names what only a person may delete."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from loom.archive.backups import known_backups, own_backups
from loom.archive.openfiles import ASIDE
from loom.archive.privatefolders import BACKING_UP, remove_old_copies, temporary_folder
from loom.archive.traces import SAMPLE, Trace, look, samples_of, thinned
from loom.text import plural

_COPY = "a copy that another loom reads: it goes when that loom ends"
_BEING_MADE = "a backup that another loom is making: delete it when it is there"
_NOTED = "notes that the session wrote stand here: take them out with /memory"
_NOTED_BEFORE = "the memory's history has notes that the session wrote: delete the file if they should go too"
WITH_THE_LOG = "what it keeps goes when every loom has ended"


@dataclass(frozen=True, slots=True)
class Left:
    """Something of the session that still stands somewhere."""

    path: Path
    why: str


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search of all files found."""

    files: int
    samples: int
    """For how many pieces of the text they were searched."""
    left: list[Left]


def search_files(
    archive: Path,
    home: Path,
    session_id: str,
    samples: list[bytes],
    notes: list[str],
    known: Sequence[Left],
    *,
    in_use: bool,
) -> Searched:
    """Look for the samples in every file of `home`, in backups elsewhere and in what an editor left; for the session's
    notes in the memory. Logs that were set aside and hold something of the session are removed. What is `known` to be
    left is not named again; `in_use`, that another loom uses the archive's log, is said."""
    copies = remove_old_copies(archive.parent)
    everywhere = [*_files(home), *_backups(archive), *copies, *_edited()]
    files = sorted({file for file in everywhere if file.is_file()})
    files = _without_asides(archive, files, samples, session_id)
    wanted = thinned(samples, _size(files))
    traces, unread = look(files, wanted)
    memory = home / "memory"
    left = list(_left_in_memory(memory, notes))
    named = {entry.path for entry in (*known, *left)}
    left += [Left(trace.path, _why_a_copy(trace.path)) for trace in traces if trace.path in copies]
    named.update(copies)
    left += [Left(trace.path, _why(trace, archive, memory, in_use)) for trace in traces if trace.path not in named]
    left += [Left(file, "this file could not be read") for file in unread if os.path.lexists(file)]
    return Searched(len(files), len(wanted), left)


def _backups(archive: Path) -> list[Path]:
    try:
        return known_backups(archive)
    except OSError:
        # The purge has said so.
        return own_backups(archive)


def _why_a_copy(copy: Path) -> str:
    return _BEING_MADE if copy.parent.name.startswith(BACKING_UP) else _COPY


def _left_in_memory(memory: Path, notes: list[str]) -> Iterator[Left]:
    """The files of the memory in which the session's notes still stand; the folder, where that cannot be known: they
    may be too short to be looked for, or too many."""
    files = sorted(_files(memory))
    if not notes or not files:
        return
    # By line as well: what stands around a line may have been changed since.
    samples = samples_of(text.encode("utf-8", "replace") for note in notes for text in (note, *note.splitlines()))
    wanted = thinned(samples, _size(files))
    traces, _ = look(files, wanted)
    for trace in traces:
        yield Left(trace.path, _NOTED_BEFORE if trace.path.parent.name == "history" else _NOTED)
    if not traces or len(wanted) < len(samples):
        yield Left(memory, "notes that the session wrote may stand here, where no search finds them: see /memory")


def _without_asides(archive: Path, files: list[Path], samples: list[bytes], session_id: str) -> list[Path]:
    """The files, without the logs that were set aside and held something of the session: those are removed. Texts that
    are too short to be looked for are known there by the session that stands in each row."""
    asides = [file for file in files if file.parent == archive.parent and file.match(f"{archive.name}-wal{ASIDE}*")]
    wanted = thinned(samples, _size(asides))
    traces, _ = look(asides, [*wanted, session_id.encode()[:SAMPLE]])
    for trace in traces:
        # What cannot be removed is found, and said, by the caller.
        with suppress(OSError):
            trace.path.unlink()
    return [file for file in files if file not in asides or file.is_file()]


def _files(folder: Path) -> Iterator[Path]:
    """Those that there are: a loom that ends meanwhile takes some of its own along, and folders of copies."""
    for place, _, names in os.walk(folder):
        found = (Path(place, name) for name in names)
        yield from (path for path in found if path.is_file() and not path.is_symlink())


def _size(files: Iterable[Path]) -> int:
    """Bytes of those that there are."""
    size = 0
    for file in files:
        with suppress(OSError):
            size += file.stat().st_size
    return size


def _edited() -> Iterator[Path]:
    """The texts that were kept when an editor, or loom beside it, came to a bad end."""
    folder = temporary_folder()
    for file in () if folder is None else folder.glob("loom-*/*"):
        with suppress(OSError):
            status = file.lstat()
            if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
                yield file


def _why(trace: Trace, archive: Path, memory: Path, in_use: bool) -> str:
    if trace.path.is_relative_to(memory):
        return "text of the session stands here, in the notes or their history: see /memory"
    if trace.path.parent == archive.parent / "exports":
        return "an exported session has the text: delete the file if it should go too"
    pieces = f"{plural(len(trace.samples), 'piece')} of the text {'is' if len(trace.samples) == 1 else 'are'}"
    if trace.path in (archive, archive.with_name(f"{archive.name}-wal")):
        return f"{pieces} still in the file{f': {WITH_THE_LOG}' if in_use else ''}"
    return f"{pieces} in the file: delete it if it should go too"
