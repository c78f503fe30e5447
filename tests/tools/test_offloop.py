"""Work in threads is over when its caller goes on."""

from __future__ import annotations

import asyncio
import threading

import pytest

from loom.tools.offloop import in_thread, settled


async def test_a_cancelled_caller_waits_for_the_thread_that_it_stops() -> None:
    started, stop, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        stop.wait()
        ended.set()

    task = asyncio.create_task(in_thread(work, stop))
    await asyncio.to_thread(started.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()


async def test_an_error_of_the_thread_is_raised_to_its_caller() -> None:
    with pytest.raises(ZeroDivisionError):
        await in_thread(lambda: 1 // 0)


async def test_settled_work_is_finished_however_often_the_caller_is_cancelled() -> None:
    gate, entered = asyncio.Event(), asyncio.Event()
    done = []

    async def work() -> str:
        entered.set()
        await gate.wait()
        done.append("done")
        return "result"

    task = asyncio.create_task(settled(work()))
    await entered.wait()
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
    gate.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert done == ["done"]
    assert await settled(work()) == "result"


async def test_an_error_of_settled_work_is_raised() -> None:
    async def work() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await settled(work())
