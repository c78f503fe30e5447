"""Takes a session out of every file: the one thing in loom that destroys, and it proves that it did."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path

from loom.archive.backups import known_backups
from loom.archive.chains import Progress
from loom.archive.checkpoints import checkpoint
from loom.archive.database import WRITING_PATIENCE, connect
from loom.archive.erasing import any_bytes, erase, erase_in_backup, is_damage
from loom.archive.errors import ArchiveError, LeaseHeld, WriteFailed
from loom.archive.faults import unwritable
from loom.archive.forks import take_away_left
from loom.archive.leases import Leases
from loom.archive.openfiles import ASIDE
from loom.archive.privatefolders import remove_old_copies, temporary_folder
from loom.archive.spool import Spool
from loom.archive.traces import SAMPLE, Trace, look, samples_of, thinned
from loom.archive.transactions import in_turn
from loom.archive.unsent import Unsent
from loom.text import plural

_TRIES = 40
_BETWEEN = 0.05
"""So often, and so many seconds apart, the log is asked to empty itself while others use it."""

_TEXTS = """
SELECT content FROM conversation_turns WHERE session_id = :id
UNION ALL SELECT tool_calls FROM conversation_turns WHERE session_id = :id
UNION ALL SELECT part_json FROM conversation_turns WHERE session_id = :id
UNION ALL SELECT message_meta FROM conversation_turns WHERE session_id = :id
UNION ALL SELECT session_state FROM session_texts WHERE session_id = :id
UNION ALL SELECT turns FROM drafts WHERE session_id = :id
UNION ALL SELECT CASE WHEN json_valid(texts) THEN json_remove(texts, '$.instructions', '$.tools') ELSE texts END
    FROM manifests WHERE session_id = :id
"""
"""Everything that somebody said in the session. Its instructions and tools are not among it: they are everybody's."""


_CALLS = """
SELECT tool_calls FROM conversation_turns WHERE session_id = :id AND tool_calls IS NOT NULL
UNION ALL SELECT turns FROM drafts WHERE session_id = :id
"""
_NOTING = frozenset({"write_memory", "update_memory"})
"""Tools whose arguments go into a workspace's memory, a file that outlasts the session."""


@dataclass(frozen=True, slots=True)
class Left:
    """Something of the session that still stands somewhere."""

    path: Path
    why: str


@dataclass(frozen=True, slots=True)
class Purged:
    """What a purge took away, and what it could not reach."""

    turns: int
    damaged: tuple[int, ...]
    """Numbers of those that were not what was stored: what they had said before that was not looked for in files."""
    indexed_anew: bool
    """The full-text index was thrown away with the session, and is empty until it is filled again."""
    backups: tuple[Path, ...]
    """Those that the session was taken out of as well."""
    files: int
    """How many files were searched afterwards."""
    samples: int
    """How many pieces of the text they were searched for."""
    left: tuple[Left, ...]


def purge(archive: Path, session_id: str, home: Path, progress: Progress = lambda what, done, total: None) -> Purged:
    """Take the session out of the archive, its log, index and backups, and its spooled turns and unsent words out of
    `home`; then search every file there for what is left of its text. Notes that it wrote into a memory belong to the
    workspace: they stay, and are named.

    Damage inside of turns, and an index that does not agree with them, keep nothing from going. Blocking. Raises
    UnknownSession, LeaseHeld (another loom has it open) or WriteFailed: nothing was taken then.
    """
    leases = Leases(archive.parent / "leases")
    with ExitStack() as stack:
        connection = stack.enter_context(closing(connect(archive)))
        stack.callback(leases.release_all)
        try:
            leases.acquire(connection, session_id, take_over=False)
            take_away_left(connection, leases, session_id)
            samples = samples_of(_texts(connection, session_id))
            notes = list(_notes(connection, session_id))
            progress("erasing", 0, 0)
            erased = erase(connection, session_id)
        except LeaseHeld as error:
            raise LeaseHeld(
                error.what, "Leave it there, then purge.", pid=error.pid, host=error.host, since=error.since
            ) from error
        except (sqlite3.Error, OSError) as error:
            raise _unpurged(error, archive) from error
        hindrance, shared = _clean(connection, archive, samples, progress, anew=erased.indexed_anew)
    left = [hindrance] if hindrance is not None else []
    for folder, forget in (
        (home / "spool", Spool(home / "spool").forget),
        (home / "unsent", Unsent(home / "unsent").forget),
    ):
        try:
            forget(session_id)
        except OSError as error:
            # The backups are still to be reached.
            left.append(Left(folder, f"not every file of the session could be removed here ({error})"))
    reached: list[Path] = []
    known = known_backups(archive)
    for place, backup in enumerate(known, 1):
        progress("erasing in backups", place, len(known))
        try:
            if erase_in_backup(backup, session_id):
                reached.append(backup)
        except (ArchiveError, sqlite3.Error, OSError) as error:
            left.append(Left(backup, f"this backup could not be reached ({error})"))
    progress("searching every file", 0, 0)
    copies = remove_old_copies(archive.parent)
    files = sorted({file for file in [*_files(home), *known, *copies, *_edited()] if file.is_file()})
    own = [sample for sample in samples if sample not in shared]
    files = _without_asides(archive, files, own, session_id)
    wanted = thinned(own, _size(files))
    traces, unread = look(files, wanted)
    memory = home / "memory"
    left += _left_in_memory(memory, notes)
    named = {entry.path for entry in left}
    in_use = hindrance is not None and hindrance.path != archive
    left += [Left(trace.path, _COPY) for trace in traces if trace.path in copies]
    named.update(copies)
    left += [Left(trace.path, _why(trace, archive, memory, in_use)) for trace in traces if trace.path not in named]
    left += [Left(file, "this file could not be read") for file in unread if os.path.lexists(file)]
    if shared:
        left.append(Left(archive, f"{len(shared)} pieces of the text stand in other sessions (a fork, a quotation)"))
    return Purged(
        turns=erased.turns,
        damaged=erased.damaged,
        indexed_anew=erased.indexed_anew,
        backups=tuple(reached),
        files=len(files),
        samples=len(wanted),
        left=tuple(left),
    )


def _unpurged(error: sqlite3.Error | OSError, archive: Path) -> ArchiveError:
    """Why nothing was taken, in words."""
    reason = error if isinstance(error, sqlite3.Error) else sqlite3.OperationalError(str(error))
    if not is_damage(reason):
        return unwritable(reason, archive)
    return WriteFailed(
        f"The archive {archive} is damaged where the session is kept ({reason}): nothing of it was purged.",
        f"`loom recover {archive}` writes what can be saved into a new archive: put that in this one's place, purge the"
        f" session there, and delete the damaged file with its -wal: they hold the text until then.",
    )


def _texts(connection: sqlite3.Connection, session_id: str) -> Iterator[bytes]:
    connection.text_factory = bytes
    try:
        for (text,) in connection.execute(_TEXTS, {"id": session_id}):
            if text:
                yield text
    finally:
        connection.text_factory = str


def _notes(connection: sqlite3.Connection, session_id: str) -> Iterator[str]:
    """What the session had written into a memory, and what it had replaced there."""
    with any_bytes(connection):
        for (text,) in connection.execute(_CALLS, {"id": session_id}):
            if any(name in text for name in _NOTING):
                yield from _noted(text)


def _noted(text: str) -> Iterator[str]:
    """The arguments of those calls, or of the calls of those turns, that note something."""
    try:
        entries = json.loads(text)
        for entry in entries:
            for call in [entry] if "name" in entry else entry.get("tool_calls") or ():
                if call.get("name") in _NOTING:
                    arguments = call.get("arguments")
                    values = arguments.values() if isinstance(arguments, dict) else [arguments]
                    yield from (value for value in values if isinstance(value, str))
    except (ValueError, RecursionError, TypeError, AttributeError):
        # Damage must not keep anybody from purging it: then it may all have been noted.
        yield text


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


_COPY = "a copy that another loom reads: it goes when that loom ends"
_NOTED = "notes that the session wrote stand here: take them out with /memory"
_NOTED_BEFORE = "the memory's history has notes that the session wrote: delete the file if they should go too"


def _clean(
    connection: sqlite3.Connection, archive: Path, samples: list[bytes], progress: Progress, *, anew: bool
) -> tuple[Left | None, set[bytes]]:
    """Get the deleted text out of the log and the file: what stood in the way of that, and the samples that other
    sessions have too. With `anew` the file is written anew whether the samples find something or not."""
    try:
        emptied = _empty_log(connection)
        found = _stands_in(archive, samples)
        shared = set(_shared(connection, found))
        if anew or any(sample not in shared for sample in found):
            # What pages kept between their cells from earlier days goes when the file is written anew: into a log in
            # use, if need be, which is moved by whoever is the last to end.
            progress("writing the archive anew", 0, 0)
            with in_turn(connection, WRITING_PATIENCE):
                connection.execute("VACUUM")
            emptied = _empty_log(connection)
    except (ArchiveError, sqlite3.Error, OSError) as error:
        # The session is gone already; what is still in the files is found, and said, by the caller.
        return Left(archive, f"the file could not be written anew, and may keep pieces of the text ({error})"), set()
    in_use = Left(archive.with_name(f"{archive.name}-wal"), f"another loom uses the log: {_WITH_THE_LOG}")
    return None if emptied else in_use, shared


_WITH_THE_LOG = "what it keeps goes when every loom has ended"


def _empty_log(connection: sqlite3.Connection) -> bool:
    for _ in range(_TRIES):
        if checkpoint(connection, empty=True).whole:
            return True
        time.sleep(_BETWEEN)
    return False


def _stands_in(archive: Path, samples: list[bytes]) -> list[bytes]:
    """The samples that are in the archive's file."""
    wanted = thinned(samples, archive.stat().st_size)
    traces, _ = look([archive], wanted)
    return [wanted[place] for trace in traces for place in trace.samples]


def _shared(connection: sqlite3.Connection, samples: list[bytes]) -> Iterator[bytes]:
    """Those samples that stand in turns of other sessions: these are not to be taken from them."""
    for sample in samples:
        found = connection.execute(
            "SELECT 1 FROM conversation_turns WHERE instr(CAST(content AS BLOB), :s)"
            " OR instr(CAST(tool_calls AS BLOB), :s) OR instr(CAST(part_json AS BLOB), :s)"
            " OR instr(CAST(message_meta AS BLOB), :s)"
            " UNION ALL SELECT 1 FROM session_texts WHERE instr(CAST(session_state AS BLOB), :s)"
            " OR instr(CAST(system_prompt AS BLOB), :s)"
            " UNION ALL SELECT 1 FROM manifests WHERE instr(CAST(texts AS BLOB), :s) LIMIT 1",
            {"s": sample},
        ).fetchone()
        if found is not None:
            yield sample


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
        return f"{pieces} still in the file{f': {_WITH_THE_LOG}' if in_use else ''}"
    return f"{pieces} in the file: delete it if it should go too"
