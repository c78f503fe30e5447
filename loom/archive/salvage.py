"""Saves what can be saved of a damaged archive, into a new one. The damaged file is only ever read.

First SQLite itself reads a copy of the file as far as it gets, from either end; then every page is gone through
without it, so that neither a damaged header, schema or tree nor a missing half stands before the turns behind it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from loom.archive.backups import require_place
from loom.archive.cells import rows_of
from loom.archive.chains import Progress, lenient
from loom.archive.database import open_database
from loom.archive.errors import ArchiveUnavailable, NotAnArchive, WriteFailed
from loom.archive.faults import unwritable
from loom.archive.migrations import prepare
from loom.archive.pages import Pages, open_log
from loom.archive.privatefolders import RECOVERING, PrivateFolder, remove_left
from loom.archive.restoring import Loss, restore
from loom.archive.shapes import Salvage
from loom.archive.wholefiles import give_name

_TABLES = ("conversation_turns", "cowork_sessions", "session_texts", "drafts", "manifests")
_REPORT_EVERY = 500


@dataclass(frozen=True, slots=True)
class Recovered:
    """What was saved."""

    path: Path
    sessions: int
    turns: int
    """Turns with their text; those that stand for a lost one are not counted."""
    read_by_database: int
    """How many of them SQLite could still read; the others come from the pages alone."""
    losses: tuple[Loss, ...]
    """The sessions that are not whole, by reference."""

    @property
    def whole(self) -> bool:
        return not self.losses


def recover(damaged: Path, target: Path, progress: Progress = lambda what, done, total: None) -> Recovered:
    """Save the turns of the file at `damaged`, and of the log beside it, into a new archive at `target`.

    Blocking. Raises ArchiveUnavailable (there is no such file), NotAnArchive (nothing of an archive is in it), or
    WriteFailed (`target` exists, its folder does not, or it cannot be written; what was written of it is gone again).
    """
    if not damaged.is_file():
        raise ArchiveUnavailable(f"{damaged} is not a file." if damaged.exists() else f"There is no file {damaged}.")
    if os.path.lexists(target):
        raise WriteFailed(f"{target} exists already, and is not overwritten.", "Name another file.")
    require_place(target, damaged)
    found = Salvage()
    try:
        _read_by_database(damaged, target.parent, found)
        found.leave_out_halves()
        by_database = found.turn_count
        _read_pages(damaged, found, progress)
        found.leave_out_halves()
    except OSError as error:
        raise ArchiveUnavailable(f"{damaged} cannot be read: {error.strerror or error}.") from error
    if not found.turns and not found.sessions:
        raise NotAnArchive(f"Nothing of a loom archive was found in {damaged}.", "It was not touched.")
    losses = _write(target, found, damaged.name, progress)
    return Recovered(
        path=target,
        sessions=len(found.sessions.keys() | found.turns.keys()),
        turns=found.turn_count,
        read_by_database=by_database,
        losses=losses,
    )


def _write(target: Path, found: Salvage, source: str, progress: Progress) -> tuple[Loss, ...]:
    """Make the new archive, which gets its name when it is whole. Raises as `recover` does."""
    try:
        folder = PrivateFolder.made(target.parent, RECOVERING)
        try:
            made = folder.path / target.name
            prepare(made)
            losses = restore(made, found, source, progress)
            with closing(open_database(made)) as connection:
                # One file, as a backup is: no log that is left where it is put can be its own.
                connection.execute("PRAGMA journal_mode = DELETE").fetchone()
            give_name(made, target)
        finally:
            folder.remove()
    except sqlite3.Error as error:
        raise unwritable(error, target) from error
    except FileExistsError as error:
        raise WriteFailed(f"{target} was made by somebody else meanwhile.", "Name another file.") from error
    except OSError as error:
        raise WriteFailed(f"{target} cannot be written: {error.strerror or error}.", "Choose another place.") from error
    return losses


def _read_by_database(damaged: Path, beside: Path, found: Salvage) -> None:
    """From a copy: SQLite would write to the file, or to the log beside it, to bring them in order."""
    with contextlib.suppress(sqlite3.Error, OSError), ExitStack() as stack:
        # Nothing is lost if there is no room for a copy: the pages are read in any case.
        remove_left(beside, RECOVERING)
        folder = PrivateFolder.made(beside, RECOVERING)
        stack.callback(folder.remove)
        copy = folder.path / "copy.db"
        shutil.copyfile(damaged, copy)
        if (log := open_log(damaged)) is not None:
            shutil.copyfile(log, copy.with_name("copy.db-wal"))
        connection = stack.enter_context(closing(sqlite3.connect(copy, isolation_level=None)))
        connection.text_factory = lenient
        connection.execute("PRAGMA cell_size_check = ON")
        for table in _TABLES:
            for order in ("ASC", "DESC"):
                if _read_table(connection, table, order, found):
                    break


def _read_table(connection: sqlite3.Connection, table: str, order: str, found: Salvage) -> bool:
    """True when the whole table was read."""
    try:
        for row_id, *columns in connection.execute(f"SELECT rowid, * FROM {table} ORDER BY rowid {order}"):  # noqa: S608
            found.take((row_id, tuple(columns)))
    except sqlite3.Error:
        # This far from this end; what lies behind is looked for from the other one, and in the pages.
        return False
    return True


def _read_pages(damaged: Path, found: Salvage, progress: Progress) -> None:
    with ExitStack() as stack:
        file = stack.enter_context(damaged.open("rb"))
        log = open_log(damaged)
        pages = Pages(file, None if log is None else stack.enter_context(log.open("rb")))
        total = pages.count
        for number in range(1, total + 1):
            for page in pages.images(number):
                for row in rows_of(pages, page, number):
                    found.take(row)
            if number % _REPORT_EVERY == 0 or number == total:
                progress("reading pages", number, total)
