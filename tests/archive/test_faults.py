"""Every failure of the disk or the file is told in words, with what to do."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from loom.archive import ArchiveDamaged, ArchiveUnavailable, ConversationStore, NotAnArchive, WriteFailed
from loom.archive.database import connect
from loom.archive.faults import unreadable, unwritable
from loom.archive.hops import Hops

SCRIBBLE = """
import pathlib, sys
path = pathlib.Path(sys.argv[1])
content = bytearray(path.read_bytes())
for page in range(1, len(content) // 4096):
    content[page * 4096 : page * 4096 + 100] = b"\\xa5" * 100
path.write_bytes(content)
"""

PATH = Path("/home/somebody/archive.db")


def _error(code: int, name: str) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("in SQLite's words")
    error.sqlite_errorcode = code
    error.sqlite_errorname = name
    return error


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (sqlite3.SQLITE_FULL, "disk is full"),
        (sqlite3.SQLITE_IOERR_SHMSIZE, "disk is full"),
        (sqlite3.SQLITE_READONLY, "read-only"),
        (sqlite3.SQLITE_READONLY_DIRECTORY, "read-only"),
        (sqlite3.SQLITE_BUSY, "locked"),
        (sqlite3.SQLITE_IOERR_FSYNC, "disk gave an error"),
        (sqlite3.SQLITE_CANTOPEN, "cannot be opened"),
        (sqlite3.SQLITE_TOOBIG, "larger"),
        (sqlite3.SQLITE_CORRUPT, "damaged"),
        (sqlite3.SQLITE_ERROR, "cannot be written"),
    ],
)
def test_a_write_that_failed_says_that_nothing_was_stored(code: int, words: str) -> None:
    error = unwritable(_error(code, "SQLITE_SOMETHING"), PATH)
    assert isinstance(error, WriteFailed)
    assert words in error.what
    assert "nothing was stored" in error.what or "read-only" in error.what
    assert error.remedy


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_NOTADB, NotAnArchive),
        (sqlite3.SQLITE_CORRUPT_INDEX, ArchiveDamaged),
        (sqlite3.SQLITE_CANTOPEN, ArchiveUnavailable),
        (sqlite3.SQLITE_IOERR_READ, ArchiveUnavailable),
        (sqlite3.SQLITE_ERROR, ArchiveUnavailable),
    ],
)
def test_an_archive_that_cannot_be_read_says_why(code: int, kind: type[Exception]) -> None:
    assert isinstance(unreadable(_error(code, "SQLITE_SOMETHING"), PATH), kind)


@pytest.mark.parametrize("code", [sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE])
def test_a_full_disk_is_told_of_when_reading(code: int) -> None:
    error = unreadable(_error(code, "SQLITE_SOMETHING"), PATH)
    assert isinstance(error, ArchiveUnavailable)
    assert "disk is full" in error.what
    assert "Make room" in error.remedy
    assert "/home/somebody" in error.remedy


@pytest.mark.parametrize("code", [sqlite3.SQLITE_IOERR_SHMOPEN, sqlite3.SQLITE_IOERR_SHMMAP])
def test_an_error_of_the_logs_index_is_a_full_disk_only_if_it_is_full(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for free, words in ((0, "disk is full"), (10**9, "disk gave an error")):
        usage = SimpleNamespace(total=10**10, used=10**10 - free, free=free)
        monkeypatch.setattr(shutil, "disk_usage", lambda _path, usage=usage: usage)
        for told in (unreadable, unwritable):
            assert words in told(_error(code, "SQLITE_SOMETHING"), tmp_path / "archive.db").what


def test_an_error_of_python_itself_has_words_too() -> None:
    assert "closed database" in str(unwritable(sqlite3.ProgrammingError("closed database"), PATH))


async def test_a_damaged_page_is_told(archive_path: Path) -> None:
    store = await ConversationStore.open(archive_path)
    session = await store.create_session(archive_path.parent, "offline", "")
    for _ in range(50):
        await store.append_turn(session, "user", "x" * 2000)
    await store.close()
    # In another process: in this one the guard stands before the file.
    subprocess.run([sys.executable, "-c", SCRIBBLE, str(archive_path)], check=True)
    with pytest.raises((ArchiveDamaged, ArchiveUnavailable)):
        damaged = await ConversationStore.open(archive_path)
        try:
            await damaged.get_turns(session)
        finally:
            await damaged.close()


async def test_a_truncated_file_is_told(archive_path: Path) -> None:
    store = await ConversationStore.open(archive_path)
    session = await store.create_session(archive_path.parent, "offline", "")
    await store.append_turn(session, "user", "x" * 100_000)
    await store.close()
    os.truncate(archive_path, 5000)
    with pytest.raises((ArchiveDamaged, ArchiveUnavailable)):
        await ConversationStore.open(archive_path)
    assert archive_path.stat().st_size == 5000


async def test_a_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    with pytest.raises(ArchiveUnavailable, match="cannot be made"):
        await ConversationStore.open(tmp_path / "home" / "archive.db")


async def test_closing_twice_at_once_does_nothing_more(archive_path: Path) -> None:
    store = await ConversationStore.open(archive_path)
    await store.create_session(archive_path.parent, "offline", "")
    await asyncio.gather(store.close(), store.close())
    await store.close()
    log = archive_path.with_name(f"{archive_path.name}-wal")
    # Where SQLite is told to move nothing at the end, the emptied file stays.
    assert not log.exists() or log.stat().st_size == 0
    with pytest.raises(ArchiveUnavailable):
        await store.list_sessions()


async def test_closing_after_an_opening_that_failed_does_nothing(
    archive_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = Hops.opened

    async def only_to_write(path: Path, *, readonly: bool = False) -> Hops:
        if readonly:
            raise ArchiveUnavailable("not now")
        return await opened(path)

    monkeypatch.setattr(Hops, "opened", only_to_write)
    store = ConversationStore()
    with pytest.raises(ArchiveUnavailable, match="not now"):
        await store.initialize(archive_path)
    await store.close()


async def test_reading_after_close_is_told(archive_path: Path) -> None:
    store = await ConversationStore.open(archive_path)
    await store.close()
    await store.close()
    with pytest.raises(ArchiveUnavailable, match="not open"):
        await store.list_sessions()
    connect(archive_path).close()
