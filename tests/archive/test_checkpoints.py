"""The write-ahead log is moved into the database and stays small."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

import pytest

from loom.archive import ConversationStore, checkpoints
from loom.archive.checkpoints import checkpoint
from loom.archive.database import BUSY_TIMEOUT_MS, connect, pragma
from loom.archive.flocks import lock_file, locked


def _log_size(path: Path) -> int:
    log = path.with_name(f"{path.name}-wal")
    return log.stat().st_size if log.exists() else 0


async def test_a_checkpoint_empties_the_log(store: ConversationStore, session: str) -> None:
    await store.append_turn(session, "user", "x" * 100_000)
    assert _log_size(store.path) > 100_000
    assert await store.checkpoint()
    assert _log_size(store.path) == 0
    assert await store.get_turn_count(session) == 1


async def test_closing_leaves_no_log(archive_path: Path) -> None:
    store = await ConversationStore.open(archive_path)
    session = await store.create_session(archive_path.parent, "offline", "")
    await store.append_turn(session, "user", "x" * 100_000)
    await store.close()
    assert _log_size(archive_path) == 0


async def test_only_one_checkpoints_at_a_time(store: ConversationStore, session: str) -> None:
    await store.append_turn(session, "user", "x")
    with locked(lock_file(store.path)):
        assert not await store.checkpoint()
    assert await store.checkpoint()


async def test_a_reader_is_not_waited_for_long(store: ConversationStore, session: str) -> None:
    await store.append_turn(session, "user", "first")
    with closing(connect(store.path, readonly=True)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM conversation_turns").fetchone()
        await store.append_turn(session, "user", "second")
        assert not await store.checkpoint()
        assert await store.append_turn(session, "user", "third") == 3
    assert await store.checkpoint()


async def test_the_patience_of_other_statements_is_given_back(store: ConversationStore, session: str) -> None:
    with closing(connect(store.path)) as connection:
        checkpoint(connection, store.path)
        assert pragma(connection, "busy_timeout") == BUSY_TIMEOUT_MS


async def _until_below(path: Path, size: int) -> None:
    """Not until it is empty: the indexer writes, too, and may have begun a new log."""
    while _log_size(path) >= size:
        await asyncio.sleep(0.005)


async def test_a_pause_empties_the_log(store: ConversationStore, session: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "IDLE_SECONDS", 0.01)
    await store.append_turn(session, "user", "x" * (checkpoints.IDLE_BYTES + 1))
    await asyncio.wait_for(_until_below(store.path, checkpoints.IDLE_BYTES), 30)


async def test_a_long_log_is_emptied_without_a_pause(
    store: ConversationStore, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "IDLE_SECONDS", 1e6)
    monkeypatch.setattr(checkpoints, "FULL_BYTES", 300_000)
    # The indexer may read just then: the next try comes by itself.
    monkeypatch.setattr(checkpoints, "RETRY_SECONDS", 0.02)
    await store.append_turn(session, "user", "x" * 400_000)
    await asyncio.wait_for(_until_below(store.path, checkpoints.FULL_BYTES), 30)
