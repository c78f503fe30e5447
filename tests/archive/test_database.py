"""Connections are durable and private, and nothing but an archive is ever opened as one."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from loom.archive import ArchiveUnavailable, ConversationStore, NotAnArchive
from loom.archive.database import BUSY_TIMEOUT_MS, LOG_BYTES, connect, pragma
from loom.archive.migrations import prepare


@pytest.fixture
def archive(archive_path: Path) -> Path:
    prepare(archive_path)
    return archive_path


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o277])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_every_setting_holds(archive: Path) -> None:
    with closing(connect(archive)) as connection:
        assert pragma(connection, "journal_mode") == "wal"
        assert pragma(connection, "synchronous") == 2
        assert pragma(connection, "foreign_keys") == 1
        assert pragma(connection, "busy_timeout") == BUSY_TIMEOUT_MS
        assert pragma(connection, "secure_delete") == 1
        assert pragma(connection, "wal_autocheckpoint") == 0
        assert pragma(connection, "journal_size_limit") == LOG_BYTES
        assert connection.isolation_level is None


def test_a_reader_cannot_write(archive: Path) -> None:
    with (
        closing(connect(archive, readonly=True)) as connection,
        pytest.raises(sqlite3.OperationalError, match="readonly"),
    ):
        connection.execute("DELETE FROM cowork_sessions")


async def test_files_are_private_under_any_umask(umask: int, archive_path: Path) -> None:
    store = await ConversationStore.open(archive_path)
    session = await store.create_session(archive_path.parent, "offline", "")
    await store.append_turn(session, "user", "hello")
    await store.acquire_lease(session)
    try:
        assert stat.S_IMODE(archive_path.parent.stat().st_mode) & 0o077 == 0
        for file in archive_path.parent.rglob("*"):
            assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0, file
        for suffix in ("", "-wal", "-shm"):
            mode = stat.S_IMODE(archive_path.with_name(f"archive.db{suffix}").stat().st_mode)
            assert mode == 0o600, suffix
    finally:
        await store.close()


def test_an_archive_that_others_could_read_is_made_private(archive: Path) -> None:
    archive.chmod(0o644)
    connect(archive).close()
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600


def test_a_missing_archive_is_not_made_by_connecting(archive_path: Path) -> None:
    archive_path.parent.mkdir()
    with pytest.raises(ArchiveUnavailable, match="no archive"):
        connect(archive_path)
    assert list(archive_path.parent.iterdir()) == []


@pytest.mark.parametrize("readonly", [False, True])
@pytest.mark.parametrize(
    "content",
    [b"", b"not a database at all\n" * 1000, b"SQLite format 3\0" + b"\xff" * 5000],
    ids=["empty", "text", "garbage"],
)
async def test_a_file_that_is_no_archive_is_refused_and_not_touched(
    archive_path: Path, content: bytes, readonly: bool
) -> None:
    archive_path.parent.mkdir()
    archive_path.write_bytes(content)
    with pytest.raises((NotAnArchive, ArchiveUnavailable)):
        await ConversationStore.open(archive_path, readonly=readonly)
    assert archive_path.read_bytes() == content
    assert [file.name for file in archive_path.parent.iterdir()] == ["archive.db"]


async def test_a_foreign_database_is_refused_and_not_touched(archive_path: Path) -> None:
    archive_path.parent.mkdir()
    with closing(sqlite3.connect(archive_path)) as foreign:
        foreign.execute("CREATE TABLE recipes (name TEXT)")
    before = archive_path.read_bytes()
    with pytest.raises(NotAnArchive, match="not a loom archive"):
        await ConversationStore.open(archive_path)
    assert archive_path.read_bytes() == before


def test_a_folder_in_its_place_is_refused(archive_path: Path) -> None:
    archive_path.mkdir(parents=True)
    with pytest.raises(NotAnArchive, match="not a file"):
        connect(archive_path)
    archive_path.rmdir()


def test_a_path_may_hold_any_character(tmp_path: Path) -> None:
    path = tmp_path / "100% odd?mode=memory#é 日本" / "archive.db"
    prepare(path)
    with closing(connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM cowork_sessions").fetchone() == (0,)
    assert path.stat().st_size > 0
