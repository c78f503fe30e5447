"""The write-ahead log is moved into the database and stays small."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from loom.archive import ConversationStore, checkpoints
from loom.archive.checkpoints import Checkpoints, checkpoint
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


async def test_a_log_that_was_being_read_is_emptied_without_another_write(
    store: ConversationStore, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "IDLE_SECONDS", 1e6)
    monkeypatch.setattr(checkpoints, "FULL_BYTES", 300_000)
    monkeypatch.setattr(checkpoints, "RETRY_SECONDS", 0.02)
    monkeypatch.setattr(checkpoints, "_PATIENCE_MS", 10)
    with closing(connect(store.path, readonly=True)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM conversation_turns").fetchone()
        await store.append_turn(session, "user", "x" * 400_000)
        await asyncio.sleep(0.2)
        assert _log_size(store.path) >= checkpoints.FULL_BYTES
    await asyncio.wait_for(_until_below(store.path, checkpoints.FULL_BYTES), 30)


class _Mover:
    """Is always busy, and counts."""

    def __init__(self) -> None:
        self.calls = 0

    async def __call__(self) -> bool:
        self.calls += 1
        return False


@pytest.fixture
def long_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of a database whose log is due at once."""
    monkeypatch.setattr(checkpoints, "FULL_BYTES", 10)
    monkeypatch.setattr(checkpoints, "IDLE_SECONDS", 1e6)
    (tmp_path / "some.db-wal").write_bytes(b"x" * 100)
    return tmp_path / "some.db"


async def test_tries_become_rarer_but_never_too_rare(long_log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    loop = asyncio.get_running_loop()
    later = loop.call_later

    def at_once(delay: float, call: Callable[[], object]) -> asyncio.TimerHandle:
        if delay < 1e6:
            waits.append(delay)
        return later(0 if delay < 1e6 else delay, call)

    monkeypatch.setattr(loop, "call_later", at_once)
    due = Checkpoints(long_log, _Mover())
    due.wrote()
    for _ in range(1000):
        await asyncio.sleep(0)
    await due.stop()
    assert waits[:4] == [0.5, 1.0, 2.0, 4.0]
    assert max(waits) == waits[-1] == checkpoints.RETRY_SECONDS_AT_MOST


async def test_nothing_is_tried_after_the_stop(long_log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "RETRY_SECONDS", 0.05)
    mover = _Mover()
    due = Checkpoints(long_log, mover)
    for _ in range(3):
        due.wrote()
        await asyncio.sleep(0.001)
    await due.stop()
    calls = mover.calls
    await asyncio.sleep(0.3)
    assert mover.calls == calls


async def test_a_log_that_another_process_emptied_is_not_tried_again(
    long_log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "RETRY_SECONDS", 0.01)
    mover = _Mover()
    due = Checkpoints(long_log, mover)
    due.wrote()
    long_log.with_name("some.db-wal").write_bytes(b"")
    await asyncio.sleep(0.1)
    assert mover.calls == 1
    await due.stop()
