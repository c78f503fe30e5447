"""Takes a session out of every file: the one thing in loom that destroys, and it proves that it did."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path

from loom.archive.backups import ELSEWHERE, known_backups, own_backups
from loom.archive.chains import Progress
from loom.archive.checkpoints import checkpoint, move_if_long
from loom.archive.database import WRITING_PATIENCE, connect, pragma
from loom.archive.erasing import any_bytes, erase, erase_in_backup, is_half, leave_no_word
from loom.archive.errors import ArchiveError, LeaseHeld, LeaseLost, WriteFailed
from loom.archive.faults import is_damage, unwritable
from loom.archive.leases import Leases
from loom.archive.logs import Log
from loom.archive.references import HALF_PURGED, known_reference
from loom.archive.remains import WITH_THE_LOG, Left, search_files
from loom.archive.removal import take_away_left, take_row
from loom.archive.spool import Spool
from loom.archive.traces import look, samples_of, thinned
from loom.archive.transactions import in_turn
from loom.archive.unsent import Unsent

_TRIES = 40
_BETWEEN = 0.05
"""So often, and so many seconds apart, the log is asked to empty itself while others use it."""

_SOON_WRITTEN = 100_000_000
"""Bytes. An archive that holds no more is written anew in a second, for which others wait (122 MB took 0.97 s)."""

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
    went_before: int | None
    """The last turn that a purge which was cut off had left, 0 for none: what those behind it had said was not looked
    for in files. None if there was no such purge."""


def purge(archive: Path, session_id: str, home: Path, progress: Progress = lambda what, done, total: None) -> Purged:
    """Take the session out of the archive, its log, index and backups, and its spooled turns and unsent words out of
    `home`; then search every file there for what is left of its text. Notes that it wrote into a memory belong to the
    workspace: they stay, and are named.

    Others write meanwhile. The session is hidden before the first turn goes, and its row is the last that does: a purge
    that is cut off goes on when it is called again, with the session's id, as does one that left something in the
    archive's file. The turns that are left in the archive go at the next start of loom as well, the rest does not.

    Damage inside of turns, and an index that does not agree with them, keep nothing from going. Blocking. Raises
    UnknownSession or LeaseHeld (another loom has it open): nothing was taken then. Raises WriteFailed, which says
    whether something was.
    """
    leases = Leases(archive.parent / "leases")
    with ExitStack() as stack:
        connection = stack.enter_context(closing(connect(archive)))
        log = stack.enter_context(closing(Log(archive)))
        stack.callback(leases.release_all)
        try:
            with in_turn(connection, WRITING_PATIENCE):
                epoch = leases.acquire(connection, session_id, take_over=False).epoch
            went_before = _last_turn(connection, session_id) if is_half(connection, session_id) else None
            samples = samples_of(_texts(connection, session_id))
            notes = list(_notes(connection, session_id))
            going = _Going(connection, session_id, log, progress)
            erased = erase(connection, session_id, epoch=epoch, gone=going.gone)
            # None is made any more: those that were cut off until now are all.
            take_away_left(connection, leases, session_id)
            anew = leave_no_word(connection, going.merged) or erased.indexed_anew
        except (LeaseHeld, LeaseLost, sqlite3.Error, OSError) as error:
            raise _cut_off(error, archive, _half_reference(connection, session_id)) from error
        # Where turns had gone before, nothing tells what to look for in the file.
        blindly = anew or went_before is not None
        hindrance, shared = _clean(connection, archive, samples, progress, blindly=blindly)
        left = [hindrance] if hindrance is not None else []
        left += _forget_beside(session_id, home)
        backups, missed = _erase_in_backups(archive, session_id, progress)
        left += missed
        progress("searching every file", 0, 0)
        own = [sample for sample in samples if sample not in shared]
        unclean = hindrance is not None and hindrance.path == archive
        in_use = hindrance is not None and not unclean
        seen = search_files(archive, home, session_id, own, notes, left, in_use=in_use)
        left += seen.left
        if shared:
            left.append(
                Left(archive, f"{len(shared)} pieces of the text stand in other sessions (a fork, a quotation)")
            )
        if not unclean:
            left += _end(connection, archive, session_id, empty=not in_use)
    return Purged(
        turns=erased.turns,
        damaged=erased.damaged,
        indexed_anew=anew,
        backups=tuple(backups),
        files=seen.files,
        samples=seen.samples,
        left=tuple(left),
        went_before=went_before,
    )


class _Going:
    """Says between the parts how far it is, and moves the log that they make long."""

    def __init__(self, connection: sqlite3.Connection, session_id: str, log: Log, progress: Progress) -> None:
        self._connection = connection
        self._log = log
        self._progress = progress
        self._gone = 0
        (self._total,) = connection.execute(
            "SELECT count(*) FROM conversation_turns WHERE session_id = ?", (session_id,)
        ).fetchone()
        progress("erasing", 0, self._total)

    def gone(self, turns: int) -> None:
        self._gone += turns
        self._progress("erasing", self._gone, self._total)
        move_if_long(self._connection, self._log)

    def merged(self) -> None:
        self._progress("putting the index in order", 0, 0)
        move_if_long(self._connection, self._log)


def _last_turn(connection: sqlite3.Connection, session_id: str) -> int:
    (last,) = connection.execute(
        "SELECT coalesce(max(turn_number), 0) FROM conversation_turns WHERE session_id = ?", (session_id,)
    ).fetchone()
    return int(last)


def _half_reference(connection: sqlite3.Connection, session_id: str) -> str | None:
    """What a session of which something is gone already was known by; None for a whole one."""
    with suppress(sqlite3.Error):
        row = connection.execute(
            f"SELECT reference FROM cowork_sessions WHERE id = ? AND {HALF_PURGED}",  # noqa: S608
            (session_id,),
        ).fetchone()
        return None if row is None else known_reference(row[0])
    return None


def _cut_off(error: Exception, archive: Path, half: str | None) -> ArchiveError:
    """Why it went no further, in words. `half` is what the session was known by, where something of it is gone."""
    again = f"`loom purge {half}` goes on."
    if isinstance(error, LeaseHeld):
        remedy = "Leave it there, then purge." if half is None else f"When that one is done with it, {again}"
        return LeaseHeld(error.what, remedy, pid=error.pid, host=error.host, since=error.since)
    if isinstance(error, LeaseLost):
        return WriteFailed(
            "Another loom took the session over: nothing of it was purged.", "Leave it there, then purge."
        )
    reason = error if isinstance(error, sqlite3.Error) else sqlite3.OperationalError(str(error))
    went = "nothing of it was purged" if half is None else "its purge was cut off, and nobody sees what is left of it"
    if is_damage(reason):
        there = "purge the session there, and" if half is None else "which has nothing of the session, and"
        return WriteFailed(
            f"The archive {archive} is damaged where the session is kept ({reason}): {went}.",
            f"`loom recover {archive}` writes what can be saved into a new archive: put that in this one's place,"
            f" {there} delete the damaged file with its -wal: they hold the text until then.",
        )
    why = unwritable(reason, archive)
    return why if half is None else WriteFailed(f"Session {half}: {went} ({reason}).", f"{why.remedy} {again}")


def _forget_beside(session_id: str, home: Path) -> Iterator[Left]:
    """Take away what loom keeps of the session beside the archive; gives what could not be."""
    for folder, forget in (
        (home / "spool", Spool(home / "spool").forget),
        (home / "unsent", Unsent(home / "unsent").forget),
    ):
        try:
            forget(session_id)
        except OSError as error:
            # The backups are still to be reached.
            yield Left(folder, f"not every file of the session could be removed here ({error})")


def _erase_in_backups(archive: Path, session_id: str, progress: Progress) -> tuple[list[Path], list[Left]]:
    """The backups that had the session, and those that could not be reached."""
    reached: list[Path] = []
    left: list[Left] = []
    try:
        known = known_backups(archive)
    except OSError as error:
        known = own_backups(archive)
        why = f"backups that were made elsewhere may have it: the list of them cannot be read ({error})"
        left.append(Left(archive.parent / "backups" / ELSEWHERE, why))
    for place, backup in enumerate(known, 1):
        progress("erasing in backups", place, len(known))
        try:
            if erase_in_backup(backup, session_id):
                reached.append(backup)
        except (ArchiveError, sqlite3.Error, OSError) as error:
            left.append(Left(backup, f"this backup could not be reached ({error})"))
    return reached, left


def _end(connection: sqlite3.Connection, archive: Path, session_id: str, *, empty: bool) -> Iterator[Left]:
    """Delete the session's row, by which the purge would go on; gives what could not be done."""
    try:
        take_row(connection, session_id)
        if empty:
            _empty_log(connection)
    except (ArchiveError, sqlite3.Error, OSError) as error:
        yield Left(archive, f"the session's row, without any text, may still be there ({error}): purge it again")


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


def _clean(
    connection: sqlite3.Connection, archive: Path, samples: list[bytes], progress: Progress, *, blindly: bool
) -> tuple[Left | None, set[bytes]]:
    """Get the deleted text out of the log and the file: what stood in the way of that, and the samples that other
    sessions have too.

    Where SQLite moves cells from page to page, it leaves some bytes of them between the cells of the old one. Where the
    samples find any, the file is written anew; with `blindly`, or if that is soon done, also where they do not: a piece
    of a word is too short for a sample.
    """
    try:
        emptied = _empty_log(connection)
        found = _stands_in(archive, samples)
        shared = set(_shared(connection, found))
        if blindly or _held(connection) <= _SOON_WRITTEN or any(sample not in shared for sample in found):
            # Into a log in use, if need be, which is moved by whoever is the last to end.
            progress("writing the archive anew", 0, 0)
            with in_turn(connection, WRITING_PATIENCE):
                connection.execute("VACUUM")
            emptied = _empty_log(connection)
    except (ArchiveError, sqlite3.Error, OSError) as error:
        # The session is gone already; what is still in the files is found, and said, by the caller.
        why = f"the file could not be written anew, and may keep pieces of the text ({error}): purge again"
        return Left(archive, why), set()
    in_use = Left(archive.with_name(f"{archive.name}-wal"), f"another loom uses the log: {WITH_THE_LOG}")
    return None if emptied else in_use, shared


def _held(connection: sqlite3.Connection) -> int:
    """Bytes that the archive's pages hold, without those that are free."""
    pages, free, size = (pragma(connection, name) for name in ("page_count", "freelist_count", "page_size"))
    return int((pages - free) * size)


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
