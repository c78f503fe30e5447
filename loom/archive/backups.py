"""A verified copy of the archive, made in one step."""

from __future__ import annotations

import errno
import os
import re
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from loom.archive import clock
from loom.archive.database import connect
from loom.archive.errors import WriteFailed
from loom.archive.faults import unwritable
from loom.archive.privatefolders import BACKING_UP, PrivateFolder, remove_left
from loom.archive.references import WHOLE
from loom.archive.unwritable import is_unwritable, readable
from loom.archive.wholefiles import give_name

KEPT_AUTOMATIC = 3
"""So many automatic backups are kept; one more, and the oldest goes."""

AUTOMATIC_EVERY_DAYS = 1

ELSEWHERE = "elsewhere"
"""The list, beside the automatic backups, of those that a person had put somewhere else: a purge must find them."""

_AUTOMATIC = re.compile(r"^(?P<stem>.+)-auto-(?P<moment>\d{8}T\d{6}Z)(?:-\d+)?\.db$")


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy that was opened again and compared with what it was made of."""

    path: Path
    sessions: int
    turns: int
    size: int
    """Bytes."""


def create_backup(archive: Path, target: Path | None = None) -> Backup:
    """Copy the archive to `target`, or into its `backups` folder under a name with the moment in it.

    A copy outside of that folder is noted in it, unless nothing can be written there. Blocking. Raises ArchiveError,
    or WriteFailed when there is such a file already, it cannot be written, or does not check out.
    """
    own = archive.parent / "backups"
    if target is None:
        moment = clock.now()[:19].replace("-", "").replace(":", "")
        return _create(archive, own / f"{archive.stem}-{moment}Z.db")
    wanted = target.absolute()
    if os.path.lexists(wanted):
        raise WriteFailed(f"{target} exists already, and no backup overwrites a file.", "Name another file.")
    if wanted.parent != own:
        require_place(wanted, archive)
    if wanted.parent.resolve() == own.resolve() and (wanted.name == ELSEWHERE or _AUTOMATIC.match(wanted.name)):
        # It would go with the next automatic one, or be taken for the list.
        raise WriteFailed(f"{target} is a name that loom's own files have.", "Name another file.")
    return _create(archive, wanted)


def _create(archive: Path, wanted: Path) -> Backup:
    own = archive.parent / "backups"
    with readable(archive) as place, closing(connect(place, readonly=True)) as connection:
        try:
            path = back_up(connection, wanted)
        except sqlite3.Error as error:
            raise unwritable(error, wanted) from error
        except OSError as error:
            raise WriteFailed(
                f"The backup {wanted} cannot be written: {error.strerror or error}.", "Choose another place for it."
            ) from error
    if not (path.parent == own and _is_backup(path)) and not is_unwritable(archive):
        try:
            _note(own / ELSEWHERE, path)
        except OSError as error:
            raise WriteFailed(
                f"The backup {path} is made, and could not be noted in {own / ELSEWHERE} ({error.strerror or error}).",
                "A purge will not find it: move away what is in the list's place, and make another one.",
            ) from error
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as copy:
        sessions, turns = _counts(copy)
    return Backup(path, sessions, turns, path.stat().st_size)


def require_place(target: Path, archive: Path) -> None:
    """Raises WriteFailed unless a database that is kept can be put at `target`, as far as that can be told."""
    if not target.parent.is_dir():
        # A typo, or a disk that is not mounted: a folder made there would look like a copy that is safe.
        raise WriteFailed(f"There is no folder {target.parent}.", "Make it first, or name another place.")
    if target.parent.samefile(archive.parent) and target.name in _own_names(archive):
        # It would be taken for the archive's log, and written over.
        raise WriteFailed(f"{target} is a name of the archive's own files.", "Name another file.")


def _own_names(archive: Path) -> frozenset[str]:
    """The names of the files that SQLite and loom keep beside an archive."""
    return frozenset(f"{archive.name}-{end}" for end in ("wal", "shm", "journal", "lock", "queue", "index", "new"))


def back_up_regularly(archive: Path, *, today: datetime | None = None) -> Backup | None:
    """A backup, if the newest automatic one is older than AUTOMATIC_EVERY_DAYS; keeps KEPT_AUTOMATIC of them. None
    when it is not time yet. Backups that a person or a migration made are never removed. Raises as `create_backup`.

    One from the future is of a clock that was set back since: it says nothing of today, and is the first to go.
    """
    now = datetime.now(UTC) if today is None else today
    folder = archive.parent / "backups"
    made = [moment for moment, _ in automatic_backups(archive) if moment <= now]
    if made and (now - made[-1]).total_seconds() < AUTOMATIC_EVERY_DAYS * 86_400:
        return None
    backup = _create(archive, folder / f"{archive.stem}-auto-{now.strftime('%Y%m%dT%H%M%SZ')}.db")
    # Only now: at no moment are there fewer than there were.
    oldest_first = sorted(automatic_backups(archive), key=lambda found: (found[0] <= now, found[0]))
    for _, old in oldest_first[:-KEPT_AUTOMATIC]:
        old.unlink(missing_ok=True)
    return backup


def automatic_backups(archive: Path) -> list[tuple[datetime, Path]]:
    """The automatic backups of this archive, oldest first, by the moment in their names."""
    found: list[tuple[datetime, Path]] = []
    folder = archive.parent / "backups"
    for path in folder.iterdir() if folder.is_dir() else ():
        match = _AUTOMATIC.match(path.name)
        if match is not None and match["stem"] == archive.stem:
            found.append((datetime.strptime(match["moment"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC), path))
    return sorted(found)


def known_backups(archive: Path) -> list[Path]:
    """Every backup that loom knows of: those in the archive's own folder and those noted as made elsewhere. The
    latter may be gone or on a disk that is not there. Raises OSError when the list of them cannot be read."""
    noted = archive.parent / "backups" / ELSEWHERE
    if not os.path.lexists(noted):
        return own_backups(archive)
    names = _list(noted).read_text("utf-8", "surrogateescape").split("\0")
    return own_backups(archive) + [Path(name) for name in dict.fromkeys(names) if name]


def own_backups(archive: Path) -> list[Path]:
    """Those in the archive's own folder."""
    folder = archive.parent / "backups"
    return sorted(path for path in folder.iterdir() if _is_backup(path)) if folder.is_dir() else []


def _is_backup(path: Path) -> bool:
    return path.suffix == ".db" and path.is_file()


def _list(file: Path) -> Path:
    """The list, if it can be one. Raises OSError: a pipe would keep everybody waiting."""
    if os.path.lexists(file) and not file.is_file():
        raise OSError(errno.EINVAL, "it is not a file")
    return file


def back_up(connection: sqlite3.Connection, target: Path) -> Path:
    """Copy the whole database, as of now, to `target` (mode 0600, its folder 0700 if it is made) and check the copy.

    A number is put behind the name when there is such a file already: no backup is ever overwritten. Gives the path
    of the copy. Raises WriteFailed when the copy does not check out, OSError or sqlite3.Error when it cannot be made.
    """
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    remove_left(target.parent, BACKING_UP)
    folder = PrivateFolder.made(target.parent, BACKING_UP)
    try:
        made = folder.path / "copy.db"
        _copy(connection, made)
        return _named(made, target)
    finally:
        folder.remove()


def _copy(connection: sqlite3.Connection, made: Path) -> None:
    # Under any umask: SQLite gives what it makes beside it the same mode.
    os.close(os.open(made, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    made.chmod(0o600)
    with closing(sqlite3.connect(made, isolation_level=None)) as copy:
        # Nothing is written between the copy and the comparison: both see the same moment.
        connection.execute("BEGIN")
        try:
            expected = _ends(connection)
            # In one step: the stepwise backup starts over at every write and never ends beside a busy writer.
            connection.backup(copy, pages=-1)
        finally:
            connection.execute("ROLLBACK")
        # A copy in one file: nobody has to think of a log beside it.
        copy.execute("PRAGMA journal_mode = DELETE").fetchone()
    # From the file itself, not from what the copying connection remembers.
    with closing(sqlite3.connect(f"{made.as_uri()}?mode=ro", uri=True)) as opened:
        (verdict,) = opened.execute("PRAGMA quick_check(1)").fetchone()
        if verdict == "ok" and _ends(opened) != expected:
            verdict = "its sessions end elsewhere"
    if verdict != "ok":
        raise WriteFailed(
            f"The backup does not check out ({verdict}) and was removed.",
            "`loom check` says what is wrong with the archive.",
        )


def _named(made: Path, target: Path) -> Path:
    """Give the copy its name, with a number behind it when there is such a file; the path."""
    number, path = 1, target
    while True:
        try:
            give_name(made, path)
        except FileExistsError:
            number += 1
            path = target.with_name(f"{target.stem}-{number}{target.suffix}")
        else:
            return path


def _ends(connection: sqlite3.Connection) -> list[tuple[str, int, str | None]]:
    """Each session's id, count of turns, and the digest that its chain ends with."""
    return connection.execute(
        "SELECT s.id, s.turn_count, t.digest FROM cowork_sessions AS s LEFT JOIN conversation_turns AS t"
        " ON t.session_id = s.id AND t.turn_number = s.turn_count ORDER BY s.id"
    ).fetchall()


def _counts(connection: sqlite3.Connection) -> tuple[int, int]:
    (sessions,) = connection.execute(f"SELECT count(*) FROM cowork_sessions WHERE {WHOLE}").fetchone()  # noqa: S608
    (turns,) = connection.execute("SELECT count(*) FROM conversation_turns").fetchone()
    return sessions, turns


def _note(file: Path, backup: Path) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(_list(file), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        # Ended by NUL, the one byte that no file name has.
        os.write(descriptor, os.fsencode(backup) + b"\0")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
