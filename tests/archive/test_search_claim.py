"""Of several looms on one archive, one keeps the index; when it ends or dies, another one goes on."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from loom.archive import ConversationStore
from loom.archive.database import connect
from loom.archive.search import claim as claims
from loom.archive.search.claim import Claim
from loom.archive.search.index import index_batch, is_sound, newest_turn, watermark
from loom.archive.search.indexer import Indexer

HOLD = """
import sys
from pathlib import Path
from loom.archive.search.claim import Claim

claim = Claim(Path(sys.argv[1]))
print(claim.take_at_once(), flush=True)
sys.stdin.readline()
"""

WRITE = """
import asyncio, sys
from loom.archive import ConversationStore

async def write(path: str) -> None:
    store = await ConversationStore.open(path)
    session = await store.create_session(".", "offline", "")
    for n in range(60):
        await store.append_turn(session, "user", f"owl {n} " + " ".join(f"word{n}_{m}" for m in range(20)))
    engine = await store._finder._engine()
    assert await engine.settle()
    hits = await store.search_turns(session, "owl", limit=100)
    assert len(hits) == 60, len(hits)
    await store.close()

asyncio.run(write(sys.argv[1]))
"""


@contextmanager
def _holder(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the claim."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        try:
            yield holder
        finally:
            holder.kill()


async def _waits(indexer: Indexer) -> None:
    assert await asyncio.to_thread(indexer.claim.waiting.wait, 60)


def _mark(path: Path) -> int | None:
    with closing(connect(path, readonly=True)) as connection:
        return watermark(connection)


@pytest.fixture
async def indexer(store: ConversationStore, session: str) -> ConversationStore:
    """The store, once its index is made."""
    await store.append_turn(session, "user", "first")
    assert await (await store._finder._engine()).settle()
    return store


@pytest.mark.parametrize("end", [signal.SIGKILL, None], ids=["dies", "ends"])
async def test_when_the_one_that_indexes_is_gone_another_goes_on(
    indexer: ConversationStore, session: str, end: int | None
) -> None:
    engine = await indexer._finder._engine()
    with _holder(indexer.path) as holder:
        await indexer.append_turn(session, "user", "an owl")
        await _waits(engine._indexer)
        assert _mark(indexer.path) == 1
        # Found all the same.
        assert [hit.turn_number for hit in await indexer.search_turns(session, "owl")] == [2]
        if end is None:
            assert holder.stdin is not None
            holder.stdin.close()
        else:
            holder.send_signal(end)
        assert await engine.settle()
    assert _mark(indexer.path) == 2


async def test_what_another_one_has_indexed_is_not_waited_for(indexer: ConversationStore, session: str) -> None:
    engine = await indexer._finder._engine()
    with _holder(indexer.path), closing(connect(indexer.path)) as connection:
        await indexer.append_turn(session, "user", "an owl")
        await _waits(engine._indexer)
        # As the other one does it.
        assert index_batch(connection)
        assert await engine.settle()


async def test_one_that_stands_still_is_passed_by(
    indexer: ConversationStore, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "STALLED_SECONDS", 0.0)
    with _holder(indexer.path) as holder:
        holder.send_signal(signal.SIGSTOP)
        await indexer.append_turn(session, "user", "an owl")
        assert await (await indexer._finder._engine()).settle()
        assert _mark(indexer.path) == 2


async def test_an_index_that_is_damaged_waits_for_its_turn_too(indexer: ConversationStore, session: str) -> None:
    engine = await indexer._finder._engine()
    with _holder(indexer.path) as holder:
        engine._indexer.distrust()
        await _waits(engine._indexer)
        assert _mark(indexer.path) == 1
        holder.kill()
        assert await engine.settle()
    assert not engine._indexer._damaged
    assert _mark(indexer.path) == 1


async def test_closing_does_not_wait_for_the_one_that_indexes(archive_path: Path, tmp_path: Path) -> None:
    store = await ConversationStore.open(archive_path)
    session = await store.create_session(tmp_path, "offline", "")
    with _holder(archive_path):
        await store.append_turn(session, "user", "an owl")
        indexer = (await store._finder._engine())._indexer
        await _waits(indexer)
        await store.close()
        assert not indexer.is_alive()


def test_a_claim_is_of_one_at_a_time(archive_path: Path) -> None:
    archive_path.parent.mkdir()
    one, other = Claim(archive_path), Claim(archive_path, threading.Event())
    assert one.take_at_once()
    assert not other.take_at_once()
    one.free()
    assert other.take_at_once()
    other.free()


def test_several_processes_index_what_all_have_written(archive_path: Path) -> None:
    asyncio.run(_made(archive_path))
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITE, str(archive_path)], stderr=subprocess.PIPE) for _ in range(4)
    ]
    errors = [writer.communicate()[1] for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * 4, errors
    with closing(connect(archive_path)) as connection:
        assert watermark(connection) == newest_turn(connection) == 240
        assert is_sound(connection)


async def _made(path: Path) -> None:
    await (await ConversationStore.open(path)).close()
