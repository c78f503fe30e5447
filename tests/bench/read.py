"""Measures reading back: python -m tests.bench.read [--turns N] [--sessions N]."""

from __future__ import annotations

import argparse
import asyncio
import resource
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

from loom.archive import ConversationStore
from loom.archive.database import connect
from loom.archive.sessions import create_session
from loom.archive.workspaces import Workspace
from tests.bench.filling import fill
from tests.bench.table import median, p99, show

ROUNDS = 200


async def _timed(work: Callable[[], Awaitable[object]]) -> list[float]:
    """Seconds of each call, the first two (cold) left out."""
    took: list[float] = []
    for _ in range(ROUNDS + 2):
        begun = time.perf_counter()
        await work()
        took.append(time.perf_counter() - begun)
    return took[2:]


def _add_sessions(path: Path, count: int) -> None:
    with closing(connect(path)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        for n in range(count):
            create_session(connection, Workspace(f"/src/{n % 50}", None), "bench", "x" * 20_000, title=f"session {n}")


async def measure(folder: Path, turns: int, sessions: int) -> list[list[str]]:
    """Rows of the table."""
    path = folder / "archive.db"
    store = await ConversationStore.open(path)
    short = await store.create_session(folder, "bench", "")
    long = await store.create_session(folder, "bench", "")
    await asyncio.to_thread(fill, path, short, 300)
    await asyncio.to_thread(fill, path, long, turns)
    await asyncio.to_thread(_add_sessions, path, sessions)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    questions: list[tuple[str, Callable[[], Awaitable[object]]]] = [
        (f"last 200 of {turns:,} turns", lambda: store.get_turns_before(long, None, 200)),
        (f"a page of 200 in the middle of {turns:,}", lambda: store.get_turns_before(long, turns // 2, 200)),
        (f"one of {turns:,} turns", lambda: store.get_turn(long, turns // 3)),
        (f"newest 50 of {sessions:,} sessions", lambda: store.list_sessions(limit=50)),
        (f"resume, {turns:,} turns", lambda: store.resume_session(long)),
        ("resume, 300 turns", lambda: store.resume_session(short)),
        (f"newest 100 exchanges' sizes of {turns:,} turns", lambda: store.get_exchange_sizes(long)),
    ]
    rows = []
    for what, work in questions:
        took = await _timed(work)
        rows.append([what, f"{median(took) / 1000:.2f}", f"{p99(took) / 1000:.2f}"])
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    rows.append(["memory taken by all of this", f"{grown:.0f} MB", ""])
    await store.close()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=300_000)
    parser.add_argument("--sessions", type=int, default=10_000)
    parsed = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = asyncio.run(measure(Path(folder), parsed.turns, parsed.sessions))
    show("Reading, warm, through the async API", ["what", "median ms", "p99 ms"], rows)


if __name__ == "__main__":
    main()
