"""One hop: a function runs with a connection in the connection's own thread, and its result comes back."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine
from contextvars import Context
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar, cast

import aiosqlite

from loom.archive.database import connect
from loom.archive.errors import ArchiveUnavailable

T = TypeVar("T")
_Future = TypeVar("_Future", bound=asyncio.Future[Any])


class Hops(aiosqlite.Connection):
    """A connection to the archive with a thread of its own. Functions run there one after another, in the order in
    which they were handed in; each is a whole, so that a task cancelled in the middle leaves no transaction open."""

    _home: asyncio.AbstractEventLoop
    """The loop that it was opened on, and that hears of everything. Kept: to ask for the running one takes a system
    call."""

    @classmethod
    async def opened(cls, path: Path, *, readonly: bool = False) -> Hops:
        """A connection to the archive at `path`. Raises as `loom.archive.database.connect` does."""
        hops = cls(partial(connect, path, readonly=readonly), iter_chunk_size=64)
        hops._home = asyncio.get_running_loop()
        thread = cast(Thread, getattr(hops, "_thread", hops))  # before 0.22 the connection is the thread
        # A program that fails to close its archive still ends; every append that was acknowledged is on disk.
        thread.daemon = True
        try:
            await hops
        except BaseException:
            # It has been told to stop, and answers this loop when it does.
            await asyncio.to_thread(thread.join)
            raise
        return hops

    def begin(self, work: Callable[[sqlite3.Connection], T]) -> asyncio.Future[T]:
        """Hand `work` in; the future has what it gives or raises. Raises ArchiveUnavailable after `close`."""
        return self._begin(self._home.create_future(), work)

    def carry(self, work: Callable[[sqlite3.Connection], T]) -> Carried[T]:
        """As `begin`, for work that nobody who waits for it can leave."""
        return self._begin(Carried(loop=self._home), work)

    def _begin(self, future: _Future, work: Callable[[sqlite3.Connection], T]) -> _Future:
        if not self._running or self._connection is None:
            raise ArchiveUnavailable("The archive is closed.")
        self._tx.put_nowait((future, partial(work, self._connection)))
        return future


class Carried(asyncio.Future[T]):
    """A future that cannot be cancelled: a task that awaits it hears of its own cancellation when it is done.

    asyncio asks a future first, and keeps the cancellation for the task's next step where that one declines. The
    same with `asyncio.wait` in a loop takes one turn of the event loop more.
    """

    def cancel(self, msg: object = None) -> bool:
        return False


async def unbroken(work: asyncio.Future[T]) -> T:
    """What `work` gives, waited for to its end even if the task that waits is cancelled.

    A cancelled waiter hears of it (CancelledError) when the work is done, and of the work's failure instead if it
    failed: a write that did not happen is never mistaken for one that was only not waited for.
    """
    try:
        await (work if isinstance(work, Carried) else _end_of(work))
    except asyncio.CancelledError:
        work.result()
        raise
    return work.result()


def detached(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """A task that is kept for longer than whoever began it is there. It has nothing of their context, as a task keeps
    its context for as long as it is kept itself: a screen that was left, say, with all that was on it."""
    return asyncio.get_running_loop().create_task(work, context=Context())


def _end_of(work: asyncio.Future[T]) -> Carried[None]:
    end: Carried[None] = Carried(loop=work.get_loop())
    work.add_done_callback(lambda _: end.set_result(None))
    return end
