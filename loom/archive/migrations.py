"""Makes a new archive, and brings an older one up to date: small numbered steps, in one transaction, after a
backup."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from loom.archive.backups import back_up
from loom.archive.database import APPLICATION_ID, configure, connect, open_database, pragma
from loom.archive.errors import ArchiveUnavailable, NewerArchive, NotAnArchive
from loom.archive.faults import unreadable, unwritable
from loom.archive.flocks import lock_file, locked
from loom.archive.mounts import require_local
from loom.archive.transactions import transaction

Migration = Callable[[sqlite3.Connection], None]

_ROOM = Path(__file__).parent


def _first_schema(connection: sqlite3.Connection) -> None:
    """Version 1: sessions, turns, drafts, manifests; and the full-text index beside them."""
    _run(connection, _ROOM / "schema.sql")
    _run(connection, _ROOM / "search" / "schema.sql")


def _manifest_recipes(connection: sqlite3.Connection) -> None:
    """Version 2: a request can be put together again and compared with what was sent."""
    connection.execute("ALTER TABLE manifests ADD COLUMN cache_read_tokens INTEGER")
    connection.execute("ALTER TABLE manifests ADD COLUMN recipe TEXT NOT NULL DEFAULT '{}'")


def _narrower_appends(connection: sqlite3.Connection) -> None:
    """Version 3: other indexes, so that an append changes fewer pages."""
    _run(connection, _ROOM / "narrower.sql")


def _reports_by_model(connection: sqlite3.Connection) -> None:
    """Version 4: how a model counted last is found whatever the session."""
    connection.execute("CREATE INDEX manifests_by_model ON manifests (model_name) WHERE reported_tokens IS NOT NULL")


def _leaner_appends(connection: sqlite3.Connection) -> None:
    """Version 5: where exchanges begin in place of an index of all turns, and ids without a count that is written with
    each turn."""
    _run(connection, _ROOM / "leaner.sql")
    with _schema_open(connection) as is_open:
        # The text alone: AUTOINCREMENT changes nothing of how a table is kept (https://www.sqlite.org/autoinc.html).
        # Where SQLite was built to refuse this, the count goes on being written, and nothing else is different.
        if is_open:
            connection.execute(
                "UPDATE sqlite_schema SET sql = replace(sql, 'PRIMARY KEY AUTOINCREMENT', 'PRIMARY KEY')"
                " WHERE type = 'table' AND name = 'conversation_turns'"
            )
            connection.execute(f"PRAGMA schema_version = {int(pragma(connection, 'schema_version')) + 1}")


def _swifter_appends(connection: sqlite3.Connection) -> None:
    """Version 6: triggers that look a session up less often with each turn."""
    _run(connection, _ROOM / "swifter.sql")


@contextmanager
def _schema_open(connection: sqlite3.Connection) -> Iterator[bool]:
    """While it lasts the text of the schema can be changed; false where it cannot. Afterwards it is read anew."""
    if sys.version_info >= (3, 12):
        defensive = connection.getconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE)
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, False)
    connection.execute("PRAGMA writable_schema = ON")
    try:
        yield bool(pragma(connection, "writable_schema"))
    finally:
        connection.execute("PRAGMA writable_schema = RESET")
        if sys.version_info >= (3, 12):
            connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, defensive)


def _run(connection: sqlite3.Connection, script: Path) -> None:
    for statement in statements(script.read_text(encoding="utf-8")):
        connection.execute(statement)


MIGRATIONS: tuple[Migration, ...] = (
    _first_schema,
    _manifest_recipes,
    _narrower_appends,
    _reports_by_model,
    _leaner_appends,
    _swifter_appends,
)
"""Migration n makes version n of version n - 1. A released one is never edited; a new one goes to the end."""


def prepare(path: Path, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """See to it that `path` is an archive of this version: make it if there is nothing, migrate it if it is older.

    Blocking; safe in several processes at once. Raises NotAnArchive, NewerArchive, ArchiveUnavailable or WriteFailed.
    """
    path = Path(path).absolute()
    require_local(path)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ArchiveUnavailable(
            f"The folder {path.parent} cannot be made: {error.strerror}.", "Set LOOM_HOME to a folder of yours."
        ) from error
    if path.exists() and is_current(path, migrations):
        return
    try:
        with locked(lock_file(path)):
            if not path.exists():
                _create(path, migrations)
            else:
                _migrate(path, migrations)
    except sqlite3.Error as error:
        raise unwritable(error, path) from error
    except OSError as error:
        raise ArchiveUnavailable(
            f"The archive {path} cannot be made or migrated: {error.strerror}.",
            f"Check that you may write in {path.parent} and that there is room.",
        ) from error


def is_current(path: Path, migrations: Sequence[Migration] = MIGRATIONS) -> bool:
    """Whether nothing is to be migrated. Raises NewerArchive before anything of a newer archive could be touched."""
    connection = connect(path, readonly=True)
    try:
        version = int(pragma(connection, "user_version"))
    except sqlite3.Error as error:
        raise unreadable(error, path) from error
    finally:
        connection.close()
    if version > len(migrations):
        raise NewerArchive(
            f"A newer loom wrote the archive {path} (version {version}; this one knows {len(migrations)}).",
            "Update loom; until then it is open to read only.",
        )
    return version == len(migrations)


def _create(path: Path, migrations: Sequence[Migration]) -> None:
    """Make the archive beside its place and move it there whole: a crash leaves either nothing or an archive."""
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise NotAnArchive(
            f"{path} is gone, but its write-ahead log {log.name} is still there and may hold turns.",
            "Put the database back beside it, or move the log away to start a new archive.",
        )
    draft = path.with_name(f"{path.name}-new")
    for left_over in (draft, draft.with_name(f"{draft.name}-wal"), draft.with_name(f"{draft.name}-shm")):
        left_over.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)
    connection = open_database(draft)
    try:
        configure(connection, draft)
        with transaction(connection):
            _apply(connection, 0, migrations)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        connection.close()
    for left_over in (draft.with_name(f"{draft.name}-wal"), draft.with_name(f"{draft.name}-shm")):
        left_over.unlink(missing_ok=True)
    draft.rename(path)
    _sync_folder(path.parent)


def _migrate(path: Path, migrations: Sequence[Migration]) -> None:
    if is_current(path, migrations):
        # Another process did it while this one waited for the lock.
        return
    connection = connect(path)
    # This process has the lock already; the connection's own close must not wait for it.
    connection.turnstile = None
    try:
        back_up(connection, path.parent / "backups" / f"{path.stem}-before-v{len(migrations)}.db")
        with transaction(connection):
            _apply(connection, int(pragma(connection, "user_version")), migrations)
    finally:
        connection.close()


def _apply(connection: sqlite3.Connection, version: int, migrations: Sequence[Migration]) -> None:
    for migration in migrations[version:]:
        migration(connection)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {len(migrations)}")


def statements(script: str) -> Iterator[str]:
    """The statements of an SQL script, one by one: `executescript` would commit the transaction around it."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    if pending.strip():
        yield pending


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
