"""Full-text search for the event loop: every statement and every score happens in worker threads."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from loom.archive.database import connect
from loom.archive.faults import is_undecodable
from loom.archive.forgiving import forgiving
from loom.archive.records import SearchPage
from loom.archive.search.document import UnreadableTurn
from loom.archive.search.indexer import Indexer
from loom.archive.search.lookup import search
from loom.archive.search.request import Request
from loom.archive.search.tail import FarBehind, TailCache
from loom.archive.workspaces import Workspace

Answer = TypeVar("Answer")

_LOOK_AGAIN = 0.25
"""Seconds; another process that indexes tells nobody here of its batches."""
_TRIAL = 3.0
"""Seconds after which it is known how fast the index catches up."""

_WORKERS = 2
"""One for what the person types, one for what the model looks up."""

PAGES_KB = 16 * 1024
"""Of the database that each worker keeps in memory: with SQLite's own 2 MB a common word is read from the disk's cache
again and again (13 ms in place of 3)."""


class Abandoned(Exception):
    """Ends a search in its worker thread after its caller was cancelled: nobody waits for the answer any more."""


class SearchEngine:
    """Searches one archive, and keeps its index. `start` first, `close` last; for one event loop."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._indexer = Indexer(path)
        self._workers = ThreadPoolExecutor(_WORKERS, thread_name_prefix="loom-search")
        self._cache = TailCache()
        self._idle: list[sqlite3.Connection] = []
        self._lock = threading.Lock()

    async def start(self) -> None:
        """Starts indexing in the background."""
        self._indexer.start()
        self._indexer.wake()

    def notify(self, rowid: int) -> None:
        """A turn was appended (`rowid` is its `conversation_turns.id`). Returns at once."""
        self._indexer.wake()

    async def settle(self) -> bool:
        """Waits until every turn appended so far is in the index; False if that failed."""
        return await asyncio.to_thread(self._indexer.settle)

    async def search(
        self,
        query: str,
        *,
        session_id: str | None = None,
        workspace: Workspace | None = None,
        at_hand: str | None = None,
        limit: int = 10,
        roles: Sequence[str] | None = None,
        tools: Sequence[str] | None = None,
        before: str | None = None,
        after: str | None = None,
        asked: bool = False,
        patience: float = 0.0,
    ) -> SearchPage:
        """The turns that match best, best first: of one session, of a workspace's sessions, or of all.

        A turn that forks have in common is found once: in the session `at_hand`, or where it was stored first.
        Any text is a query. `before` and `after` are dates as the filters of the same names take them. A turn is
        found from the moment its append returned. Where too many wait for the index it is waited for it, if that is
        likely to take no more than `patience` seconds; otherwise the page counts those that were not searched.

        Cancelling the caller ends the search in its thread as well. Raises ArchiveError if the archive cannot be
        opened, sqlite3.Error if it cannot be read.
        """
        request = Request(
            query=query,
            session_id=session_id,
            workspace=workspace,
            at_hand=at_hand,
            limit=limit,
            roles=tuple(roles or ()),
            tools=tuple(tools or ()),
            before=before,
            after=after,
            asked=asked,
            patience=patience,
        )
        job = _Job(request)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._workers, self._run, job)
        except asyncio.CancelledError:
            job.abandon()
            raise

    async def ask(self, question: Callable[[sqlite3.Connection, TailCache], Answer]) -> Answer:
        """What a function reads from the archive, in one snapshot and in a worker thread. It is given what is kept of
        the turns that wait for the index. Raises as `search` does."""
        return await asyncio.get_running_loop().run_in_executor(self._workers, self._answer, question)

    async def close(self) -> None:
        """Ends indexing after the batch it is at, and closes every connection."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._indexer.stop()
        if self._indexer.ident is not None:
            self._indexer.join()
        self._workers.shutdown(wait=True, cancel_futures=True)
        while self._idle:
            self._idle.pop().close()

    def _run(self, job: _Job) -> SearchPage:
        job.check()
        with self._connection() as connection:
            return forgiving(connection, lambda: job.run(connection, self._indexer, self._cache))

    def _answer(self, question: Callable[[sqlite3.Connection, TailCache], Answer]) -> Answer:
        with self._connection() as connection:
            return forgiving(connection, lambda: self._in_one_snapshot(connection, question))

    def _in_one_snapshot(
        self, connection: sqlite3.Connection, question: Callable[[sqlite3.Connection, TailCache], Answer]
    ) -> Answer:
        connection.execute("BEGIN")
        try:
            return question(connection, self._cache)
        finally:
            if connection.in_transaction:
                connection.execute("COMMIT")

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """One that no other thread uses meanwhile."""
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        connection = connection or self._connect()
        try:
            yield connection
        finally:
            if connection.in_transaction:
                # An interruption that came while a cursor was open stops the COMMIT as well.
                connection.close()
            else:
                with self._lock:
                    self._idle.append(connection)

    def _connect(self) -> sqlite3.Connection:
        connection = connect(self._path, readonly=True)
        connection.execute(f"PRAGMA cache_size = -{PAGES_KB}")
        return connection


class _Job:
    """One search, which may be abandoned from another thread at any time."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._abandoned = threading.Event()
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def check(self) -> None:
        if self._abandoned.is_set():
            raise Abandoned

    def abandon(self) -> None:
        """Stops the statement that is running and everything after it."""
        self._abandoned.set()
        with self._lock:
            if self._connection is not None:
                self._connection.interrupt()

    def run(self, connection: sqlite3.Connection, indexer: Indexer, cache: TailCache) -> SearchPage:
        with self._lock:
            self._connection = connection
        try:
            return self._search(connection, indexer, cache)
        except sqlite3.DatabaseError as error:
            self.check()
            if isinstance(error, UnreadableTurn) or is_undecodable(error):
                raise
            if isinstance(error, sqlite3.OperationalError) and "search_" not in str(error):
                raise
            # The index is damaged or half gone. It is derived: answer from the turns, and make it anew.
            indexer.distrust()
            return search(connection, self._request, self.check, cache=cache, use_index=False)
        finally:
            with self._lock:
                self._connection = None

    def _search(self, connection: sqlite3.Connection, indexer: Indexer, cache: TailCache) -> SearchPage:
        """Once all that is in scope can be searched, or as much as can be when that would take too long."""
        if self._request.patience > 0:
            wait = _Wait(self._request.patience)
            with indexer.hurried():
                while True:
                    try:
                        return search(connection, self._request, self.check, cache=cache, whole=True)
                    except FarBehind as far:
                        if not indexer.is_alive() or not wait.is_worth_it(far.behind):
                            break
                    indexer.await_batch(_LOOK_AGAIN)
                    self.check()
        return search(connection, self._request, self.check, cache=cache)


class _Wait:
    """Whether an index that is behind will have caught up in time, by how fast it does."""

    def __init__(self, seconds: float) -> None:
        self._begun = time.monotonic()
        self._seconds = seconds
        self._first: int | None = None

    def is_worth_it(self, behind: int) -> bool:
        """`behind` is how many turns the index lacks now."""
        waited = time.monotonic() - self._begun
        if self._first is None:
            self._first = behind
        if waited < _TRIAL:
            return True
        done = self._first - behind
        return done > 0 and behind * waited / done <= self._seconds - waited
