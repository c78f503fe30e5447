"""Measures one append, acknowledged, against what the disk itself takes: python -m tests.bench.append [--turns N …].

Everything takes turns in one loop on one disk, so that the ratios hold where the times do not: 1 kB to the end of a
file and fdatasync (the limit); the same in another thread, waited for by the event loop (the limit of whatever leaves
the loop free); a row of a SQLite table with the same columns and a number in its session, and nothing else (the limit
of whatever keeps turns in SQLite); the archive's own statement; the public async API; a line to a JSONL file with
fsync; and, after these, the whole session as one JSON file, rewritten. The logs have their length already, as they have
after the first few hundred turns of a program.

Stretches in which nothing is indexed take turns with such in which the indexer is at work on what both have stored, in
the same process: what it costs is the difference. The turns that were there before count as indexed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sqlite3
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

from loom.archive import ConversationStore, NewTurn
from loom.archive.appends import Appended, Appender
from loom.archive.database import connect
from loom.archive.search.index import BATCH_TURNS, newest_turn, prepare, watermark
from tests.bench.corpus import Corpus
from tests.bench.filling import TEXT, fill
from tests.bench.table import median, p99, show

SIZE = 1_000
BLOCK = 25
"""So many of one way, and then the next way: as one session goes on, and not as two that take turns with each turn. The
first of a block, which finds another's pages and nothing of its own in the processor's caches, takes twice as long."""
STRETCH = 50
"""So many of each way, and then as many with the indexer at work, or without."""
BACKLOG = 500
"""Turns that the indexer is given then: more than it has done by the end of the stretch."""
MOST_JSON = 20_000
"""Beyond so many turns, rewriting a JSON file is not waited for."""


QUIET, INDEXING = "quiet", "indexing"

Took = dict[tuple[str, str], list[float]]
"""Seconds of each append, by stretch and way."""


class Unindexed(ConversationStore):
    """Leaves the indexing of what it stores to others."""

    def _index(self, stored: Appended) -> None:
        pass


async def measure(folder: Path, turns: int, rounds: int) -> Took:
    """What appends take in an archive that has so many turns already."""
    path = folder / "archive.db"
    store = await ConversationStore.open(path)
    stores = {INDEXING: store, QUIET: await Unindexed.open(path)}
    session = await store.create_session(folder, "bench", "")
    other = await store.create_session(folder, "bench", "")
    await asyncio.to_thread(fill, path, session, turns, SIZE)
    await asyncio.to_thread(_pass_by, path)
    text = (TEXT * 20)[:SIZE]
    record: dict[str, Any] = {"role": "assistant", "content": text}
    took: Took = defaultdict(list)
    raw = os.open(folder / "raw", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    lines = os.open(folder / "lines", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    appender, corpus = Appender(), Corpus()
    loop, thread, numbers = asyncio.get_running_loop(), ThreadPoolExecutor(1), count(1)

    def to_disk() -> None:
        os.write(raw, text.encode())
        os.fdatasync(raw)

    def to_jsonl() -> None:
        os.write(lines, json.dumps(record).encode() + b"\n")
        os.fsync(lines)

    def timed(way: tuple[str, str], work: Callable[[], object]) -> None:
        begun = time.perf_counter()
        work()
        took[way].append(time.perf_counter() - begun)

    with closing(connect(path)) as connection, closing(_plain(folder / "plain.db")) as plain:
        columns = (other, text, *[None] * 16)

        def to_plain() -> None:
            plain.execute(f"INSERT INTO turns VALUES (NULL, {', '.join('?' * 19)})", (next(numbers), *columns))

        for _ in range(turns if turns <= MOST_JSON else MOST_JSON):
            to_plain()
        plain.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()
        plain.execute("PRAGMA synchronous = FULL").fetchall()

        async def block(kind: str) -> None:
            for _ in range(BLOCK):
                timed((kind, "disk"), to_disk)
            for _ in range(BLOCK):
                begun = time.perf_counter()
                await loop.run_in_executor(thread, to_disk)
                took[kind, "thread"].append(time.perf_counter() - begun)
            for _ in range(BLOCK):
                timed((kind, "plain"), to_plain)
            for _ in range(BLOCK):
                timed((kind, "statement"), lambda: appender.append(connection, other, [NewTurn(**record)], None))
            for _ in range(BLOCK):
                begun = time.perf_counter()
                await stores[kind].append_turn(session, "assistant", text)
                took[kind, "api"].append(time.perf_counter() - begun)
            for _ in range(BLOCK):
                timed((kind, "jsonl"), to_jsonl)

        waiting = [NewTurn(role="assistant", content=corpus.prose(SIZE // 6)) for _ in range(BACKLOG)]
        await index_all(store)
        while len(took[INDEXING, "disk"]) < rounds:
            for _ in range(STRETCH // BLOCK):
                await block(QUIET)
            reached = watermark(connection)
            await store.append_turns(other, waiting)
            while watermark(connection) == reached:
                await asyncio.sleep(0.001)
            wanted = newest_turn(connection) - BATCH_TURNS
            for _ in range(STRETCH // BLOCK):
                if (watermark(connection) or 0) < wanted:
                    await block(INDEXING)
            await index_all(store)
    thread.shutdown()
    os.close(raw)
    os.close(lines)
    for each in stores.values():
        await each.close()
    # By itself: what it leaves the disk to do would be counted as the others' time.
    if turns <= MOST_JSON:
        whole = [record] * turns
        for _ in range(rounds // 20):
            timed((QUIET, "json"), lambda: _rewrite(folder, whole))
    return took


def _plain(path: Path) -> sqlite3.Connection:
    """A table with as many columns as the archive's, and what makes a turn's number its own in its session."""
    connection = sqlite3.connect(path, isolation_level=None)
    for setting in ("journal_mode = WAL", "synchronous = OFF", "wal_autocheckpoint = 0"):
        connection.execute(f"PRAGMA {setting}").fetchall()
    rest = ", ".join(f"column_{n} TEXT" for n in range(16))
    connection.execute(
        "CREATE TABLE turns (id INTEGER PRIMARY KEY, number INTEGER NOT NULL, session TEXT NOT NULL, content TEXT,"
        f" {rest}, UNIQUE (session, number)) STRICT"
    )
    return connection


def _pass_by(path: Path) -> None:
    """Lets what is there count as indexed: a million turns would take the indexer ten minutes."""
    with closing(connect(path)) as connection:
        prepare(connection)
        connection.execute("UPDATE search_progress SET watermark = ?", (newest_turn(connection),))


async def index_all(store: ConversationStore) -> None:
    """Everything that is stored is indexed, and the indexer rests."""
    await (await store._finder._engine()).settle()


def _rewrite(folder: Path, whole: list[dict[str, str]]) -> None:
    draft = folder / "whole-new"
    with draft.open("w") as file:
        json.dump(whole, file)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(folder / "whole")


def _line(turns: int, took: Took, kind: str, ways: list[str]) -> list[str]:
    limit = median(took[kind, "disk"])
    line = [f"{turns:,}", f"{limit:.0f} / {p99(took[kind, 'disk']):.0f}"]
    for way in ways:
        seconds = took.get((kind, way))
        line.append(f"{median(seconds):.0f} / {p99(seconds):.0f} (×{median(seconds) / limit:.2f})" if seconds else "—")
    return line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, nargs="*", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=500, help="of each way, with and without the indexer")
    parser.add_argument("--folder", type=Path, default=None, help="on the disk to measure (default: a temporary one)")
    parsed = parser.parse_args()
    quiet, indexing = [], []
    for turns in parsed.turns:
        with tempfile.TemporaryDirectory(dir=parsed.folder) as folder:
            took = asyncio.run(measure(Path(folder), turns, parsed.rounds))
        quiet.append(_line(turns, took, QUIET, ["thread", "plain", "statement", "api", "jsonl", "json"]))
        indexing.append(_line(turns, took, INDEXING, ["thread", "plain", "statement", "api", "jsonl"]))
    peers = ["JSONL + fsync", "JSON rewritten"]
    head = ["turns", "1 kB + fdatasync", "in a thread", "a row", "statement", "async API", *peers]
    what = "One append of 1 kB: median / p99 in µs (median as a multiple of the disk's own)"
    show(f"{what}, nothing being indexed", head, quiet)
    show(f"{what}, while the indexer works", head[:-1], indexing)
    print(f"\nLoad (1, 5, 15 minutes): {', '.join(f'{load:.1f}' for load in os.getloadavg())}")


if __name__ == "__main__":
    main()
