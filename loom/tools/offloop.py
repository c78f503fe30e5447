"""Work that must not hold up the event loop, and that is over when its caller goes on."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def settled(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which is waited for even when the caller is cancelled meanwhile; the cancellation comes
    after. For work that is short and must not be left half done."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            if task.cancelled():
                raise
            cancelled = error
        except BaseException:
            if cancelled is None:
                raise
    if cancelled is not None:
        raise cancelled
    return task.result()


async def in_thread(work: Callable[[], T], stop: threading.Event | None = None) -> T:
    """What `work` returns, run in a thread. When the caller is cancelled, `stop` is set and the thread waited for, so
    that nothing goes on behind a call that is over."""
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        if stop is not None:
            stop.set()
        await settled(_ended(running))
        raise


async def _ended(running: "asyncio.Future[Any]") -> None:
    await asyncio.wait([running])
    if not running.cancelled():
        running.exception()  # seen: the cancellation is what counts
