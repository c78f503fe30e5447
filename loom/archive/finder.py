"""The store's way to full-text search: the engine is started when it is first needed."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from loom.archive.faults import unreadable
from loom.archive.hops import detached
from loom.archive.records import Role, SearchPage
from loom.archive.workspaces import Workspace

if TYPE_CHECKING:
    from loom.archive.search import SearchEngine
    from loom.archive.search.tail import TailCache


Answer = TypeVar("Answer")

PATIENCE = 60.0
"""Seconds that a search waits at most for an index that is thousands of turns behind, where what it leaves out would be
missed."""


class Finder:
    """Starts the search engine with the first append or the first search, and stops it in the end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._starting: asyncio.Task[SearchEngine] | None = None
        self._gate = asyncio.Lock()
        """Held while the engine is started, and while it must not be."""
        self._asked: set[asyncio.Task[Any]] = set()
        self._newest = 0

    def wake(self, row: int) -> None:
        """Turns were stored, `row` the newest of them if it is known (0 if not): let them be indexed, some time.
        Returns at once and never fails."""
        self._newest = max(row, self._newest)
        if self._starting is None:
            self._starting = detached(self._start())
            self._starting.add_done_callback(_heard)
        elif self._starting.done() and not self._starting.cancelled() and self._starting.exception() is None:
            self._starting.result().notify(row)

    async def search(
        self,
        query: str,
        *,
        session_id: str | None,
        workspace: Workspace | None,
        at_hand: str | None,
        limit: int,
        roles: Sequence[Role] | None,
        tools: Sequence[str] | None,
        before: str | None,
        after: str | None,
        asked: bool,
        patience: float,
    ) -> SearchPage:
        """See `ConversationStore.search`."""
        return await self._answer(
            lambda engine: engine.search(
                query,
                session_id=session_id,
                workspace=workspace,
                at_hand=at_hand,
                limit=limit,
                roles=roles,
                tools=tools,
                before=before,
                after=after,
                asked=asked,
                patience=patience,
            )
        )

    async def ask(self, question: Callable[[sqlite3.Connection, TailCache], Answer]) -> Answer:
        """What a function reads beside a search, in the search's own thread."""
        return await self._answer(lambda engine: engine.ask(question))

    async def _answer(self, ask: Callable[[SearchEngine], Coroutine[Any, Any, Answer]]) -> Answer:
        engine = await self._engine()
        while not self._runs(engine):
            engine = await self._engine()
        task = asyncio.create_task(ask(engine))
        self._asked.add(task)
        task.add_done_callback(self._asked.discard)
        try:
            return await task
        except sqlite3.Error as error:
            raise unreadable(error, self._path) from error

    def _runs(self, engine: SearchEngine) -> bool:
        """False for one that was put to rest while somebody waited for it."""
        starting = self._starting
        return starting is not None and starting.done() and not _failed(starting) and starting.result() is engine

    async def close(self) -> None:
        """Stop the engine, if it was started."""
        if self._starting is None:
            return
        starting, self._starting = self._starting, None
        await asyncio.wait({starting})
        # One that failed to start never ran, and whoever searched was told.
        if not _failed(starting):
            await starting.result().close()

    @asynccontextmanager
    async def at_rest(self) -> AsyncIterator[None]:
        """Nothing of the archive is open here while it lasts: searches under way end first, others wait."""
        async with self._gate:
            # One that is not done waits at the gate as well.
            if self._starting is not None and self._starting.done():
                started, self._starting = self._starting, None
                if self._asked:
                    await asyncio.wait(self._asked)
                if not _failed(started):
                    await started.result().close()
            yield

    async def _engine(self) -> SearchEngine:
        if self._starting is None or (self._starting.done() and _failed(self._starting)):
            self._starting = detached(self._start())
            self._starting.add_done_callback(_heard)
        return await asyncio.shield(self._starting)

    async def _start(self) -> SearchEngine:
        # A session that neither appends nor searches never pays for it.
        from loom.archive.search import SearchEngine

        async with self._gate:
            engine = SearchEngine(self._path)
            await engine.start()
        if self._newest:
            engine.notify(self._newest)
        return engine


def _failed(task: asyncio.Task[SearchEngine]) -> bool:
    return task.cancelled() or task.exception() is not None


def _heard(task: asyncio.Task[SearchEngine]) -> None:
    """Take note of a failure, so that it is not reported as one that nobody heard: the next search tries again and
    tells the person."""
    if not task.cancelled():
        task.exception()
