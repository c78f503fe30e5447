"""Looks an archive over: does the file hold together, is every text what was stored, can it go on like this?

Nothing is changed. What is wrong is a finding, in words; what could not be looked at may be sound or not; what is only
worth knowing is a remark.
"""

from __future__ import annotations

import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from loom.archive.chains import Chain, Progress, follow_chains, lenient
from loom.archive.database import connect, has_table, pragma, require_file
from loom.archive.errors import ArchiveDamaged, ArchiveError, ArchiveUnavailable
from loom.archive.faults import RECOVER, primary_code
from loom.archive.findings import CheckReport, Finding
from loom.archive.leases import Holder, Leases
from loom.archive.migrations import MIGRATIONS
from loom.archive.mounts import find_mount
from loom.archive.openfiles import ASIDE
from loom.archive.privatefolders import remove_old_copies
from loom.archive.references import WHOLE, known_reference
from loom.archive.removal import half_purged, unfinished
from loom.archive.undigested import unreadable
from loom.archive.unwritable import readable
from loom.text import plural
from loom.times import local_time

LOW_SPACE = 200_000_000
"""Bytes. With less, a checkpoint of a long log may not fit any more."""

_SHOWN = 20
_STEPS = 200_000
"""Instructions of SQLite's machine between two calls of the progress function."""

_OUT_OF_REACH = frozenset(
    {
        sqlite3.SQLITE_AUTH,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_READONLY,
    }
)


def check(path: Path, *, quick: bool = False, progress: Progress = lambda what, done, total: None) -> CheckReport:
    """Look the archive at `path` over; `quick` leaves out the chains and the comparison of indexes with tables.

    Blocking; a second or so for 100,000 turns. Raises ArchiveUnavailable if there is no archive at all, or its folder
    cannot be entered; everything else that is wrong is a finding.
    """
    path = path.absolute()
    try:
        path.stat()
    except FileNotFoundError as error:
        raise ArchiveUnavailable(f"There is no archive at {path}.") from error
    except OSError as error:
        raise ArchiveUnavailable(f"The archive {path} cannot be reached: {error.strerror}.") from error
    return _Check(path, quick, progress).run()


class _Check:
    def __init__(self, path: Path, quick: bool, progress: Progress) -> None:
        self._path = path
        self._place = path
        """Where it is read: a copy of it, if need be."""
        self._quick = quick
        self._progress = progress
        self._checked: list[str] = []
        self._findings: list[Finding] = []
        self._unseen: list[str] = []
        self._remarks: list[str] = []
        self._standing: dict[str, str] = {}
        self._sessions: int | None = None
        self._turns: int | None = None

    def run(self) -> CheckReport:
        # Before the database is opened: opening takes the files from others where it can.
        self._permissions()
        remove_old_copies(self._path.parent)
        try:
            require_file(self._path)
            with readable(self._path) as self._place, closing(connect(self._place, readonly=True)) as connection:
                connection.text_factory = lenient
                self._look(connection)
        except ArchiveError as error:
            if _is_out_of_reach(error, self._path):
                self._unseen.append(str(error))
            else:
                self._found("structure", error.what, error.remedy)
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
                # Ctrl+C within `step`: SQLite takes it for its own.
                raise KeyboardInterrupt from error
            self._found("structure", f"The file cannot be read to its end ({error}).", RECOVER)
        self._surroundings()
        return CheckReport(
            path=self._path,
            sessions=self._sessions,
            turns=self._turns,
            size=sum(_sizes(self._path).values()),
            checked=tuple(self._checked),
            findings=tuple(self._findings),
            unseen=tuple(self._unseen),
            remarks=tuple(self._remarks),
            standing=self._standing,
        )

    def _found(self, part: str, what: str, remedy: str = "") -> None:
        self._findings.append(Finding(part, what, remedy))

    def _permissions(self) -> None:
        """Files of loom's home that others can use."""
        home = self._path.parent
        searched = [home / "backups", home / "spool", home / "unsent"]
        for place in [home, *_files(self._path), home / "exports", home / "leases", *searched]:
            try:
                self._findings += _open_to_others(place)
                if place in searched and place.is_dir():
                    for file in sorted(place.iterdir()):
                        self._findings += _open_to_others(file)
            except OSError as error:
                self._unseen.append(f"{place} cannot be looked into: {error.strerror}.")
        if not self._unseen:
            self._checked.append("permissions")

    def _look(self, connection: sqlite3.Connection) -> None:
        if int(pragma(connection, "user_version")) > len(MIGRATIONS):
            self._found("version", "A newer loom wrote this archive: its tables are not known here.", "Update loom.")
        self._structure(connection)
        # One moment for everything that is compared, whoever writes meanwhile.
        connection.execute("BEGIN")
        (self._sessions,) = connection.execute(
            f"SELECT count(*) FROM cowork_sessions WHERE {WHOLE}"  # noqa: S608
        ).fetchone()
        (self._turns,) = connection.execute("SELECT count(*) FROM conversation_turns").fetchone()
        if not self._quick:
            self._chains(connection)
        self._index(connection)
        self._leases(connection)
        connection.execute("ROLLBACK")

    def _structure(self, connection: sqlite3.Connection) -> None:
        what = "quick_check" if self._quick else "integrity_check"
        calls = 0

        def step() -> int:
            nonlocal calls
            calls += 1
            self._progress("reading every page", calls, 0)
            return 0

        connection.set_progress_handler(step, _STEPS)
        try:
            said = [row[0] for row in connection.execute(f"PRAGMA {what}({_SHOWN})")]
            orphans = connection.execute("PRAGMA foreign_key_check").fetchall()
        finally:
            connection.set_progress_handler(None, 0)
        self._findings += [Finding("structure", f"{line}", RECOVER) for line in said if line != "ok"]
        for table, row, parent, _ in orphans[:_SHOWN]:
            self._found("structure", f"Row {row} of {table} belongs to a row of {parent} that is not there.", RECOVER)
        self._checked.append("structure")

    def _chains(self, connection: sqlite3.Connection) -> None:
        chains = follow_chains(connection, self._progress)
        named = {
            row[0]: row[1:]
            for row in connection.execute(
                f"SELECT id, reference, turn_count, exchange_count FROM cowork_sessions WHERE {WHOLE}"  # noqa: S608
            )
        }
        # These are taken away from their ends, without more ado.
        halves = frozenset((*unfinished(connection), *half_purged(connection)))
        for session, chain in chains.items():
            if session in halves:
                continue
            reference, count, exchanges = named.get(session, (session, chain.turns, chain.exchange))
            self._findings += _judge(str(reference), chain, count, exchanges)
        begins, tokens = _begins(connection), _turn_tokens(connection)
        for session, (reference, count, _) in named.items():
            if begins is not None and session in chains and chains[session].tokens != tokens.get(session):
                self._found("numbering", f"Session {reference}: its turns have other tokens than it says.", RECOVER)
            if begins is not None and session in chains and chains[session].begins != begins.get(session):
                self._found("numbering", f"Session {reference}: its exchanges begin elsewhere than it says.", RECOVER)
            if count and session not in chains:
                self._found(
                    "numbering", f"Session {reference} should have {plural(count, 'turn')} and has none.", RECOVER
                )
        self._findings += unreadable(connection)
        self._checked += ["chain", "numbering", "notes"]

    def _index(self, connection: sqlite3.Connection) -> None:
        from loom.archive.search.index import watermark

        mark = watermark(connection)
        (newest,) = connection.execute("SELECT coalesce(max(id), 0) FROM conversation_turns").fetchone()
        if mark is None:
            self._standing["index"] = "not made yet"
            self._remarks.append("The full-text index is not made yet; it will be, at the next start.")
        elif mark > self._highest_ever(connection):
            self._found("index", "The full-text index says that it has turns that never were.", _REINDEX)
        elif mark < newest:
            self._standing["index"] = "behind"
            self._remarks.append("The full-text index is behind; what is missing there is found by scanning.")
        if mark is not None and not self._quick:
            self._compare_index(connection, mark)
        self._checked.append("index")

    def _compare_index(self, connection: sqlite3.Connection, mark: int) -> None:
        from loom.archive.search.index import is_sound

        try:
            sound = is_sound(connection)
        except ArchiveUnavailable as error:
            sound = True
            self._standing["index"] = "not seen"
            self._unseen.append(str(error))
        missing = connection.execute(
            "SELECT count(*) FROM conversation_turns AS t WHERE t.id <= ? AND t.kind = 'text' AND t.content <> ''"
            " AND t.role IN ('user', 'assistant') AND NOT EXISTS (SELECT 1 FROM search_sessions AS s"
            " JOIN search_marks ON place = s.key << 26 | t.turn_number WHERE s.session_id = t.session_id)",
            (mark,),
        ).fetchone()[0]
        if missing:
            self._found("index", f"The full-text index lacks {plural(missing, 'turn')}.", _REINDEX)
        elif not sound:
            self._found("index", "The full-text index is damaged; no turn is.", _REINDEX)

    def _highest_ever(self, connection: sqlite3.Connection) -> int:
        """The greatest row id ever given: a purge may have taken that turn."""
        if has_table(connection, "next_turn"):
            (following,) = connection.execute("SELECT id FROM next_turn").fetchone()
            if following is None:
                self._found("structure", "What a purge notes of the ids of turns is gone.", RECOVER)
                (following,) = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM conversation_turns").fetchone()
            return int(following) - 1
        # Not migrated yet.
        row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'conversation_turns'").fetchone()
        return 0 if row is None else int(row[0])

    def _leases(self, connection: sqlite3.Connection) -> None:
        leases = Leases(self._path.parent / "leases")
        forks, purged = frozenset(unfinished(connection)), frozenset(half_purged(connection))
        for session, reference in connection.execute("SELECT id, reference FROM cowork_sessions").fetchall():
            try:
                holder = leases.holder(session)
            except OSError as error:
                self._unseen.append(f"Who has sessions open cannot be looked up: {error.strerror}.")
                break
            if session in purged:
                self._half_purged(known_reference(reference), holder)
            elif session in forks:
                self._remarks.append(
                    _CUT_OFF
                    if holder is None
                    else f"Process {holder.pid} is making a fork, or takes away one that was cut off."
                )
            elif holder is not None:
                since = local_time(holder.since)
                self._remarks.append(
                    f"Session {reference} is open in process {holder.pid} on {holder.host}, since {since}."
                )
        else:
            self._checked.append("leases")
        if connection.execute("SELECT 1 FROM purging").fetchone() is not None:
            self._found("structure", "A purge was cut off half way.", "Run `loom purge` for that session again.")

    def _half_purged(self, reference: str, holder: Holder | None) -> None:
        if holder is not None:
            self._remarks.append(f"Process {holder.pid} is purging session {reference}.")
            return
        self._found(
            "purge",
            f"The purge of session {reference} was cut off: its text may still be in files. Nobody sees the session.",
            f"`loom purge {reference}` goes on. Turns that are left in the archive go at the next start of loom, too.",
        )

    def _surroundings(self) -> None:
        free = shutil.disk_usage(self._path.parent).free
        needed = LOW_SPACE + 2 * _sizes(self._path).get(self._path.with_name(f"{self._path.name}-wal"), 0)
        if free < needed:
            self._found("space", f"Only {free // 1_000_000} MB are free.", f"Make room on the disk of {self._path}.")
        self._checked.append("space")
        mount = find_mount(self._path.parent)
        if mount is not None and mount.is_network:
            self._found(
                "place",
                f"{self._path.parent} is on a network file system ({mount.kind}): locks do not hold there.",
                "Move loom's home to a local disk, with every file in it, while no loom runs.",
            )
        self._checked.append("place")
        for file in sorted(self._path.parent.glob(f"{self._path.name}-wal{ASIDE}*")):
            holds = "; it is not used" if file.stat().st_size else "; it holds nothing that is not in the archive"
            self._remarks.append(
                f"{file} was put in the place of the log while loom had it open{holds}. Remove it if it is not yours."
            )


_CUT_OFF = "A fork was cut off half way: the next loom that starts takes it away. The session that it is of is whole."
_REINDEX = "Run `loom check --reindex`: the index is made anew from the turns."


def _turn_tokens(connection: sqlite3.Connection) -> dict[str, int]:
    """What each session says that its turns have in tokens; empty before version 5."""
    if not has_table(connection, "exchanges"):
        return {}
    return dict(connection.execute("SELECT id, turn_tokens FROM cowork_sessions").fetchall())


def _begins(connection: sqlite3.Connection) -> dict[str, list[tuple[int, int, int]]] | None:
    """What the archive says of each session's exchanges, as in `Chain.begins`; None before version 5."""
    if not has_table(connection, "exchanges"):
        return None
    said: dict[str, list[tuple[int, int, int]]] = {}
    for session, *begin in connection.execute(
        "SELECT session_id, exchange, first_turn, tokens_before FROM exchanges ORDER BY session_id, exchange"
    ):
        said.setdefault(session, []).append(tuple(begin))
    return said


def _judge(reference: str, chain: Chain, count: int, exchanges: int) -> Iterator[Finding]:
    """What is wrong with one session."""
    if chain.altered:
        first, more = chain.altered[0], len(chain.altered) - 1
        others = f", and {more} more" if more else ""
        yield Finding(
            "chain",
            f"Session {reference}: the text of T{first} is not what was stored{others}.",
            "A backup from before the change has the true text.",
        )
    if chain.out_of_place:
        yield Finding(
            "numbering", f"Session {reference}: T{chain.out_of_place[0]} does not follow the turn before it.", RECOVER
        )
    if count != chain.last_turn:
        yield Finding(
            "numbering", f"Session {reference} should end at T{count} and ends at T{chain.last_turn}.", RECOVER
        )
    elif exchanges != chain.exchange:
        yield Finding(
            "numbering",
            f"Session {reference} should have {plural(exchanges, 'exchange')} and has {chain.exchange}.",
            RECOVER,
        )


def _files(path: Path) -> list[Path]:
    return [path.with_name(f"{path.name}{suffix}") for suffix in ("", "-wal", "-shm")]


def _sizes(path: Path) -> dict[Path, int]:
    """Bytes of each file of the archive that can be looked at: the last loom to end takes the log along."""
    sizes = {}
    for file in _files(path):
        with suppress(OSError):
            sizes[file] = file.stat().st_size
    return sizes


def _open_to_others(place: Path) -> Iterator[Finding]:
    """Raises OSError if it is there and cannot be looked at."""
    try:
        status = place.stat()
    except FileNotFoundError:
        return
    mode = stat.S_IMODE(status.st_mode)
    if mode & 0o077:
        wanted = "700" if stat.S_ISDIR(status.st_mode) else "600"
        yield Finding("permissions", f"{place} can be used by others (mode {mode:03o}).", f"chmod {wanted} {place}")


def _is_out_of_reach(error: ArchiveError, path: Path) -> bool:
    """Whether it says nothing about what is in the file: that may not be read here and now."""
    if isinstance(error, ArchiveDamaged) or not isinstance(error, ArchiveUnavailable):
        return False
    cause = error.__cause__
    return not isinstance(cause, sqlite3.Error) or primary_code(cause, path) in _OUT_OF_REACH
