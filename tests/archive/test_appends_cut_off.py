"""Appends that are cancelled, or that the disk, another process or the end does not let through."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

import pytest

from loom.archive import ConversationStore, NewTurn, WriteFailed
from loom.archive.database import connect


async def test_a_cancelled_append_is_stored_exactly_once(store: ConversationStore, session: str) -> None:
    for number in range(60):
        task = asyncio.create_task(store.append_turn(session, "user", f"cancelled {number}"))
        for _ in range(number % 5):
            await asyncio.sleep(0)
        started = number % 5 > 0
        # On a fast disk it may be done by now.
        if task.cancel():
            with pytest.raises(asyncio.CancelledError):
                await task
        found = [turn.content for turn in await store.get_turns(session, limit=1000)]
        assert found.count(f"cancelled {number}") == (1 if started else 0)
    await store.append_turn(session, "user", "still works")


async def test_a_timeout_around_an_append_breaks_nothing(store: ConversationStore, session: str) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await store.append_turn(session, "user", "late")
    numbers = [await store.append_turn(session, "user", "next") for _ in range(3)]
    assert numbers == [2, 3, 4]


async def test_a_full_disk_stores_nothing_and_says_so(store: ConversationStore, session: str) -> None:
    await store.append_turn(session, "user", "before")
    pages = "PRAGMA max_page_count"
    (limit,) = await store._access.write(lambda c: c.execute(pages).fetchone())
    await store._access.write(lambda c: c.execute(f"{pages} = 1").fetchone())
    with pytest.raises(WriteFailed, match="disk is full"):
        await store.append_turns(session, [NewTurn(role="user", content="x" * 500_000, append_key="big")] * 1)
    await store._access.write(lambda c: c.execute(f"{pages} = {limit}").fetchone())
    assert await store.append_turn(session, "user", "x" * 500_000, append_key="big") == 2
    assert await store.append_turn(session, "user", "after") == 3


async def test_a_locked_archive_stores_nothing_and_says_so(store: ConversationStore, session: str) -> None:
    await store.append_turn(session, "user", "before")
    await store._access.write(lambda c: c.execute("PRAGMA busy_timeout = 20").fetchone())
    with closing(connect(store.path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(WriteFailed, match="locked"):
            await store.append_turn(session, "user", "waits")
        other.execute("ROLLBACK")
    assert await store.append_turn(session, "user", "after") == 2


async def test_a_failed_write_is_not_hidden_by_a_cancellation(store: ConversationStore, session: str) -> None:
    await store._access.write(lambda c: c.execute("PRAGMA busy_timeout = 20").fetchone())
    with closing(connect(store.path)) as other:
        other.execute("BEGIN IMMEDIATE")
        task = asyncio.create_task(store.append_turn(session, "user", "waits"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(WriteFailed):
            await task
        other.execute("ROLLBACK")


async def test_nothing_can_be_appended_after_close(archive_path: Path) -> None:
    store = await ConversationStore.open(archive_path)
    session = await store.create_session(archive_path.parent, "offline", "")
    waiting = [asyncio.create_task(store.append_turn(session, "user", str(n))) for n in range(20)]
    await asyncio.sleep(0)
    await store.close()
    await asyncio.gather(*waiting)
    with pytest.raises(Exception, match="not open"):
        await store.append_turn(session, "user", "late")
    again = await ConversationStore.open(archive_path)
    assert await again.get_turn_count(session) == 20
    await again.close()
