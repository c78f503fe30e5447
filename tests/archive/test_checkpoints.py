"""The write-ahead log is moved into the database, keeps its length, and is not left behind."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from contextvars import Context
from pathlib import Path

import pytest

from loom.archive import ConversationStore, NewTurn, checkpoints
from loom.archive.appends import Appender
from loom.archive.checkpoints import Checkpoints, Moved, checkpoint, move_if_long
from loom.archive.database import BUSY_TIMEOUT_MS, LOG_BYTES, connect, pragma
from loom.archive.errors import ArchiveDamaged
from loom.archive.logs import Log
from loom.archive.transactions import in_turn
from loom.archive.turnstile import Turnstile
from tests.support.damage import copy_file


def _log_size(path: Path) -> int:
    log = path.with_name(f"{path.name}-wal")
    return log.stat().st_size if log.exists() else 0


def _append(path: Path, session: str, text: str) -> None:
    """A turn that wakes no indexer, which would write to the same log at a moment of its own."""
    with closing(connect(path)) as connection:
        Appender().append(connection, session, [NewTurn(role="user", content=text)], None)


def _moved_turns(path: Path, target: Path) -> int:
    """How many turns the database has without its log."""
    copy_file(path, target)
    with closing(connect(target, readonly=True)) as connection:
        (count,) = connection.execute("SELECT count(*) FROM conversation_turns").fetchone()
    return int(count)


async def _until_moved(path: Path, target: Path, turns: int) -> None:
    while not _has_moved(path, target, turns):
        await asyncio.sleep(0.02)


def _has_moved(path: Path, target: Path, turns: int) -> bool:
    try:
        return _moved_turns(path, target) >= turns
    except (ArchiveDamaged, sqlite3.DatabaseError):
        # Copied in the middle of the move: some pages are the new ones, others not yet.
        return False


async def test_an_emptied_log_has_nothing_left(store: ConversationStore, session: str) -> None:
    _append(store.path, session, "x" * 100_000)
    assert _log_size(store.path) > 100_000
    assert await store.checkpoint()
    assert _log_size(store.path) == 0
    assert await store.get_turn_count(session) == 1


async def test_a_moved_log_keeps_its_length_and_is_written_over(
    store: ConversationStore, session: str, tmp_path: Path
) -> None:
    _append(store.path, session, "x" * 400_000)
    with closing(connect(store.path)) as connection:
        assert checkpoint(connection).whole
        length = _log_size(store.path)
        assert length > 400_000
        assert _moved_turns(store.path, tmp_path / "copy.db") == 1
        _append(store.path, session, "second")
        assert checkpoint(connection).frames < 100
    assert _log_size(store.path) == length
    assert [len(turn.content or "") for turn in await store.get_turns(session)] == [400_000, 6]


async def test_a_log_that_grew_too_long_is_cut_when_it_starts_over(store: ConversationStore, session: str) -> None:
    _append(store.path, session, "x" * (LOG_BYTES + 1_000_000))
    with closing(connect(store.path)) as connection:
        assert checkpoint(connection).whole
        assert _log_size(store.path) > LOG_BYTES
        _append(store.path, session, "second")
        assert _log_size(store.path) <= LOG_BYTES


async def test_closing_leaves_no_log(archive_path: Path) -> None:
    store = await ConversationStore.open(archive_path)
    session = await store.create_session(archive_path.parent, "offline", "")
    await store.append_turn(session, "user", "x" * 100_000)
    await store.close()
    assert _log_size(archive_path) == 0


async def test_a_checkpoint_takes_its_turn_among_the_writers(store: ConversationStore, session: str) -> None:
    await store.append_turn(session, "user", "x")
    writer = Turnstile(store.path)
    assert writer.enter(10)
    waiting = asyncio.create_task(store.checkpoint())
    with (
        closing(connect(store.path)) as connection,
        pytest.raises(sqlite3.OperationalError) as refused,
        in_turn(connection, 0.01),
    ):
        checkpoint(connection)
    assert refused.value.sqlite_errorcode == sqlite3.SQLITE_BUSY
    assert not waiting.done()
    writer.leave()
    assert await waiting
    writer.close()


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
        checkpoint(connection)
        assert pragma(connection, "busy_timeout") == BUSY_TIMEOUT_MS


async def test_a_pause_moves_the_log(
    store: ConversationStore, session: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "IDLE_SECONDS", 0.01)
    await store.append_turn(session, "user", "x" * (checkpoints.IDLE_BYTES + 1))
    await asyncio.wait_for(_until_moved(store.path, tmp_path / "copy.db", 1), 60)


async def test_a_long_log_is_moved_without_a_pause(
    store: ConversationStore, session: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "IDLE_SECONDS", 1e6)
    monkeypatch.setattr(checkpoints, "FULL_BYTES", 300_000)
    # The indexer may read just then: the next try comes by itself.
    monkeypatch.setattr(checkpoints, "RETRY_SECONDS", 0.02)
    await store.append_turn(session, "user", "x" * 400_000)
    await asyncio.wait_for(_until_moved(store.path, tmp_path / "copy.db", 1), 60)


async def test_a_log_that_was_being_read_is_moved_without_another_write(
    store: ConversationStore, session: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "IDLE_SECONDS", 1e6)
    monkeypatch.setattr(checkpoints, "FULL_BYTES", 300_000)
    monkeypatch.setattr(checkpoints, "RETRY_SECONDS", 0.02)
    monkeypatch.setattr(checkpoints, "_PATIENCE_MS", 10)
    with closing(connect(store.path, readonly=True)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM conversation_turns").fetchone()
        await store.append_turn(session, "user", "x" * 400_000)
        assert not await store.checkpoint(empty=False)
        assert _moved_turns(store.path, tmp_path / "copy.db") == 0
    await asyncio.wait_for(_until_moved(store.path, tmp_path / "copy.db", 1), 60)


class _Mover:
    """Is always busy, and counts."""

    def __init__(self) -> None:
        self.calls = 0

    async def __call__(self) -> Moved:
        self.calls += 1
        return Moved(False, 0)


def _log_of(frames: int, *, round_: bytes = b"round--1") -> bytes:
    """A log of frames with pages of 512 bytes, as far as `Log` reads it."""
    header = bytes(8) + (512).to_bytes(4, "big") + bytes(4) + round_ + bytes(8)
    return header + (bytes(8) + round_ + bytes(8 + 512)) * frames


@pytest.fixture
def long_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of a database whose log is due at once."""
    monkeypatch.setattr(checkpoints, "FULL_BYTES", 10)
    monkeypatch.setattr(checkpoints, "IDLE_SECONDS", 1e6)
    (tmp_path / "some.db-wal").write_bytes(_log_of(1))
    return tmp_path / "some.db"


@pytest.fixture
async def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds of every wait but an idle one; each is over at once."""
    waits: list[float] = []
    loop = asyncio.get_running_loop()
    later = loop.call_later

    def at_once(delay: float, call: Callable[[], object], context: Context | None = None) -> asyncio.TimerHandle:
        if delay < 1e6:
            waits.append(delay)
        return later(0 if delay < 1e6 else delay, call, context=context)

    monkeypatch.setattr(loop, "call_later", at_once)
    return waits


async def _let_everything_run() -> None:
    for _ in range(1000):
        await asyncio.sleep(0)


async def test_tries_become_rarer_but_never_too_rare(long_log: Path, waits: list[float]) -> None:
    due = Checkpoints(Log(long_log), _Mover())
    due.wrote()
    await _let_everything_run()
    await due.stop()
    assert waits[:5] == [checkpoints.LOOK_SECONDS, 0.5, 1.0, 2.0, 4.0]
    assert max(waits) == waits[-1] == checkpoints.RETRY_SECONDS_AT_MOST


async def test_nothing_is_tried_after_the_stop(long_log: Path, waits: list[float]) -> None:
    mover = _Mover()
    due = Checkpoints(Log(long_log), mover)
    due.wrote()
    while mover.calls < 3:
        await asyncio.sleep(0)
    await due.stop()
    calls, waited = mover.calls, len(waits)
    await _let_everything_run()
    assert (mover.calls, len(waits)) == (calls, waited)


async def test_a_log_that_another_process_emptied_is_not_tried_again(long_log: Path, waits: list[float]) -> None:
    mover = _Mover()
    due = Checkpoints(Log(long_log), mover)
    due.wrote()
    while mover.calls < 1:
        await asyncio.sleep(0)
    long_log.with_name("some.db-wal").write_bytes(b"")
    await _let_everything_run()
    assert len(waits) == 2 and mover.calls == 1
    await due.stop()


async def test_after_a_success_tries_begin_soon_again(long_log: Path, waits: list[float]) -> None:
    moves = iter([Moved(False, 0), Moved(False, 0), Moved(True, 1), Moved(False, 0), Moved(True, 1)])

    async def move() -> Moved:
        return next(moves)

    due = Checkpoints(Log(long_log), move)
    for _ in range(2):
        due.wrote()
        await _let_everything_run()
    await due.stop()
    assert waits == [checkpoints.LOOK_SECONDS, 0.5, 1.0, checkpoints.LOOK_SECONDS, 0.5]


async def test_a_long_log_is_moved_once_by_who_writes_no_turns(
    archive_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "FULL_BYTES", 100_000)
    store = await ConversationStore.open(archive_path)
    session = await store.create_session(tmp_path, "offline", "")
    await store.close()
    with closing(connect(archive_path)) as connection, closing(Log(archive_path)) as log:
        Appender().append(connection, session, [NewTurn(role="user", content="x" * 400_000)], None)
        assert log.holds(100_000)
        move_if_long(connection, log)
        assert _moved_turns(archive_path, tmp_path / "copy.db") == 1
        assert not log.holds(0)
