"""What is handed to a connection's thread is carried through, whoever stops waiting for it."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from loom.archive.hops import Hops, unbroken
from loom.archive.migrations import prepare


@pytest.fixture
async def hops(archive_path: Path) -> AsyncIterator[Hops]:
    await asyncio.to_thread(prepare, archive_path)
    hops = await Hops.opened(archive_path)
    yield hops
    await hops.close()


@pytest.mark.parametrize("cancellations", [1, 3])
async def test_who_is_cancelled_hears_of_it_when_the_work_is_done(hops: Hops, cancellations: int) -> None:
    begun, go_on, done = asyncio.Event(), threading.Event(), []
    loop = asyncio.get_running_loop()

    def work(_: sqlite3.Connection) -> str:
        loop.call_soon_threadsafe(begun.set)
        go_on.wait()
        done.append(True)
        return "stored"

    waiting = asyncio.create_task(unbroken(hops.carry(work)))
    await begun.wait()
    for _ in range(cancellations):
        waiting.cancel()
        await asyncio.sleep(0)
    assert not waiting.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert done == [True]


async def test_who_is_cancelled_hears_of_a_failure_instead(hops: Hops) -> None:
    begun, go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def work(_: sqlite3.Connection) -> None:
        loop.call_soon_threadsafe(begun.set)
        go_on.wait()
        raise sqlite3.OperationalError("disk I/O error")

    waiting = asyncio.create_task(unbroken(hops.carry(work)))
    await begun.wait()
    waiting.cancel()
    go_on.set()
    with pytest.raises(sqlite3.OperationalError, match="disk"):
        await waiting


async def test_a_timeout_ends_with_the_work(hops: Hops) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await unbroken(hops.carry(lambda c: c.execute("SELECT 1").fetchone()))
    assert await unbroken(hops.carry(lambda c: c.execute("SELECT 2").fetchone())) == (2,)


async def test_a_task_is_waited_for_as_well(hops: Hops) -> None:
    go_on = asyncio.Event()

    async def work() -> str:
        await go_on.wait()
        return "closed"

    task = asyncio.create_task(work())
    waiting = asyncio.create_task(unbroken(task))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.sleep(0)
    assert not waiting.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert task.result() == "closed"


async def test_a_read_can_be_left(hops: Hops) -> None:
    go_on = threading.Event()
    waiting = asyncio.create_task(_await(hops.begin(lambda _: go_on.wait())))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    go_on.set()


async def _await(future: asyncio.Future[bool]) -> bool:
    return await future
