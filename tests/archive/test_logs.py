"""How full the log is, whatever its length."""

from __future__ import annotations

import os
import threading
from contextlib import closing
from pathlib import Path

import pytest

from loom.archive import ConversationStore, GuardedFile, NewTurn, logs
from loom.archive.appends import Appender
from loom.archive.checkpoints import checkpoint
from loom.archive.database import connect
from loom.archive.logs import Log


@pytest.fixture
async def archive(archive_path: Path) -> tuple[Path, str]:
    """An archive that nobody indexes, and a session in it."""
    store = await ConversationStore.open(archive_path)
    session = await store.create_session(archive_path.parent, "offline", "")
    await store.close()
    return archive_path, session


def test_it_holds_what_was_written_and_not_moved(archive: tuple[Path, str]) -> None:
    path, session = archive
    log, appender = Log(path), Appender()
    with closing(connect(path)) as connection:
        appender.append(connection, session, [NewTurn(role="user", content="x" * 200_000)], None)
        assert log.holds(0)
        assert log.holds(150_000)
        assert not log.holds(2_000_000)
        log.moved(checkpoint(connection).frames)
        assert not log.holds(0)
        # The next round begins at the front of the same file.
        appender.append(connection, session, [NewTurn(role="user", content="y" * 50_000)], None)
        assert log.holds(40_000)
        assert not log.holds(150_000)
        log.moved(checkpoint(connection, empty=True).frames)
    assert not log.holds(0)
    log.close()


def test_another_process_that_moved_it_is_found_out_with_the_next_write(archive: tuple[Path, str]) -> None:
    path, session = archive
    log, appender = Log(path), Appender()
    with closing(connect(path)) as connection:
        appender.append(connection, session, [NewTurn(role="user", content="x" * 200_000)], None)
        checkpoint(connection)
        appender.append(connection, session, [NewTurn(role="user", content="y")], None)
        assert log.holds(0)
        assert not log.holds(150_000)
    log.close()


@pytest.mark.parametrize("content", [None, b"", b"short", b"\xff" * 32, bytes(32)])
def test_a_log_that_says_nothing_holds_nothing(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "some.db-wal").write_bytes(content)
    log = Log(tmp_path / "some.db")
    assert not log.holds(0)
    log.moved(3)
    assert not log.holds(0)
    log.close()
    log.close()


async def test_nothing_else_may_open_it_meanwhile(store: ConversationStore, session: str) -> None:
    await store.append_turn(session, "user", "x" * 20_000)
    log = Log(store.path)
    assert log.holds(0)
    with pytest.raises(GuardedFile):
        store.path.with_name("archive.db-wal").read_bytes()
    log.close()


async def test_what_the_indexer_has_written_is_not_left_to_the_next_append(
    store: ConversationStore, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[int, str]] = []
    sync = logs._sync

    def note(descriptor: int) -> None:
        with closing(connect(store.path)) as other:
            # Nobody is kept outside meanwhile.
            other.execute("BEGIN IMMEDIATE")
            other.execute("ROLLBACK")
        synced.append((os.fstat(descriptor).st_ino, threading.current_thread().name))
        sync(descriptor)

    monkeypatch.setattr(logs, "_sync", note)
    await store.append_turn(session, "user", "an owl")
    assert await (await store._finder._engine()).settle()
    assert (store.path.with_name(f"{store.path.name}-wal").stat().st_ino, "loom-index") in synced
