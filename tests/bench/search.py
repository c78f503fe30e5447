"""Measures searching: python -m tests.bench.search --cache FOLDER [--turns N …] [--peers].

Archives of 1,000, 100,000 and 1,000,000 turns are made once, in the folder given (about 2 GB in all and a quarter of
an hour), and searched through the store as the product does it: every kind of query in the scope of the largest
session, of its workspace, and of everything. `--peers` asks LIKE and plain FTS5 the same; `--late` measures what
happens while turns wait for the index.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import resource
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from loom.archive import ConversationStore
from loom.archive.database import connect
from loom.archive.search.revisions import Reading
from loom.state.revisions import FORMULAS, revising_passages, settles_something
from loom.tui.garbage import Garbage
from tests.bench.archives import archive_of, peer_of
from tests.bench.corpus import Corpus
from tests.bench.late import measure_late
from tests.bench.table import show

SIZES = (1_000, 100_000, 1_000_000)
ROUNDS = 100
FEW_ROUNDS = 10
"""Of each kind, with the file on the disk alone and while the event loop is watched."""
PEER_ROUNDS = {"LIKE": 3, "FTS5": 20}
"""A single one of theirs takes up to 20 s."""
TICK = 0.001
"""Seconds that the ticking task sleeps: what it sleeps more is a stall of the event loop. It takes a fifth of the time
of what is searched meanwhile, which is therefore not measured then."""
_DROP = "import os, sys; f = os.open(sys.argv[1], os.O_RDONLY); os.posix_fadvise(f, 0, 0, os.POSIX_FADV_DONTNEED)"
_CITED = re.compile(r"`([^`\s]+)`")
PEERS = {
    "LIKE": "SELECT id FROM peer WHERE content LIKE '%' || ? || '%' LIMIT 10",
    "FTS5": "SELECT rowid FROM peer_terms WHERE peer_terms MATCH ? ORDER BY bm25(peer_terms) LIMIT 10",
}


@dataclass(frozen=True)
class Place:
    """Where it is searched: the session with the most turns, and its workspace."""

    session: str
    reference: str
    workspace: str


class Questions:
    """Queries of every kind, made of what is in the archive; the same ones each time."""

    def __init__(self, archive: Path, place: Place) -> None:
        self._corpus = Corpus()
        self._random = random.Random(7)
        self._place = place
        with closing(connect(archive, readonly=True)) as connection:
            (newest,) = connection.execute("SELECT max(id) FROM conversation_turns").fetchone()
            self._texts = [self._text(connection, newest) for _ in range(ROUNDS)]
            japanese = connection.execute(
                "SELECT content FROM conversation_turns WHERE content GLOB '*。' LIMIT ?", (ROUNDS,)
            )
            self._japanese = [row[0].rsplit(" ", 1)[-1] for row in japanese]
        cited = dict.fromkeys(name for text in self._texts for name in _CITED.findall(text))
        self._names = [name for name in cited if len(name) > 9]

    def _text(self, connection: sqlite3.Connection, newest: int) -> str:
        row = connection.execute(
            "SELECT content FROM conversation_turns WHERE id >= ? AND role = 'assistant' LIMIT 1",
            (self._random.randrange(1, max(2, newest - 10)),),
        ).fetchone()
        return str(row[0])

    def _common(self, count: int = 1) -> str:
        return " ".join(self._random.sample(self._corpus.words[40:70], count))

    def _middling(self) -> str:
        return self._random.choice(self._corpus.words[1_000:3_000])

    def _rare(self) -> str:
        return self._random.choice(self._corpus.words[-20_000:])

    def _name(self) -> str:
        """One that occurs."""
        return self._random.choice(self._names)

    def _unknown(self) -> str:
        """One that occurs nowhere: drawn as the archive's are, but not with the same dice."""
        return self._random.choice([name for name in self._corpus.names[2_000:20_000] if len(name) > 9])

    def _mistyped(self) -> str:
        name = self._name()
        at = self._random.randrange(2, len(name) - 3)
        return name[:at] + name[at + 1] + name[at] + name[at + 2 :]

    def _inside(self, length: int) -> str:
        name = max(self._name().replace("/", "_").replace(".", "_").split("_"), key=len)
        return name[1 : 1 + length]

    KINDS: ClassVar[dict[str, Callable[[Questions, int], str]]] = {
        "rare word": lambda self, i: self._rare(),
        "common word": lambda self, i: self._common(),
        "three common words": lambda self, i: self._common(3),
        "question": lambda self, i: (
            f"what did we decide about the {self._common()} {self._middling()} in {self._rare()}?"
        ),
        "phrase": lambda self, i: '"' + " ".join(self._texts[i].split()[3:7]).replace(".", "") + '"',
        "phrase of common words": lambda self, i: f'"{self._common(2)}"',
        "identifier": lambda self, i: self._name(),
        "identifier that is nowhere": lambda self, i: self._unknown(),
        "part of an identifier": lambda self, i: self._inside(5),
        "three letters": lambda self, i: self._inside(3),
        "two letters": lambda self, i: self._inside(2),
        "mistyped identifier": lambda self, i: self._mistyped(),
        "CJK, two characters": lambda self, i: self._japanese[i % len(self._japanese)][2:4],
        "CJK, a clause": lambda self, i: self._japanese[i % len(self._japanese)][:8],
        "pasted sentence": lambda self, i: " ".join(self._texts[i].split()[:30]),
        "pasted paragraph": lambda self, i: (self._texts[i] + " " + self._texts[i - 1])[:2_000],
        "role:user": lambda self, i: f"{self._common(2)} role:user",
        "tool:": lambda self, i: f"{self._common(2)} tool:read_file",
        "session:": lambda self, i: f"{self._common(2)} session:{self._place.reference}",
        "time": lambda self, i: f"{self._common(2)} after:2023-03 before:2023-04",
        "without a word": lambda self, i: f"{self._common()} {self._middling()} -{self._common()}",
        "nothing but filters": lambda self, i: "role:user tool:shell_execute" if i % 2 else "role:assistant",
    }
    """Kind to what asks it for the i-th time."""

    def ask(self, kind: str, i: int) -> str:
        """The i-th query of this kind."""
        return self.KINDS[kind](self, i)


def kinds_named(only: str) -> list[str]:
    """The kinds of query whose name begins so."""
    return [kind for kind in Questions.KINDS if kind.startswith(only)]


def place_of(archive: Path) -> Place:
    with closing(connect(archive, readonly=True)) as connection:
        row = connection.execute(
            "SELECT id, reference, workspace_path FROM cowork_sessions ORDER BY turn_count DESC LIMIT 1"
        ).fetchone()
    return Place(*row)


class Stall:
    """How long the event loop kept a task waiting that only ticks."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Stall:
        self._task = asyncio.create_task(self._tick())
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _tick(self) -> None:
        while True:
            # By the work of this process alone: on a shared machine the clock tells what the others do.
            begun = time.process_time()
            await asyncio.sleep(TICK)
            self.longest = max(self.longest, time.process_time() - begun - TICK)


Took = list[tuple[float, float]]
"""Milliseconds of each search: waited for, and worked by this process's threads."""


async def _timed(
    search: Callable[[str], Awaitable[object]], queries: list[str], before: Callable[[], None] = lambda: None
) -> Took:
    took = []
    for query in queries:
        before()
        begun, worked = time.perf_counter(), time.process_time()
        await search(query)
        took.append(((time.perf_counter() - begun) * 1000, (time.process_time() - worked) * 1000))
    return took


def _both(took: Took) -> str:
    """What was worked, then what was waited for."""
    waited, worked = (sorted(times) for times in zip(*took, strict=True))
    return f"{_figures(worked)} ({_figures(waited)})"


def _figures(took: list[float]) -> str:
    return f"{statistics.median(took):.0f} / {took[int(len(took) * 0.95)]:.0f} / {took[-1]:.0f}"


async def measure(archive: Path, turns: int, only: str) -> None:
    """Prints the tables of an archive."""
    place = place_of(archive)
    Garbage(time.monotonic).begin()  # Python looks for garbage as it does in the program
    _read_in(archive)
    begun = time.perf_counter()
    store = await ConversationStore.open(archive)
    opened = time.perf_counter()
    await store.search("the first question about a server")
    first = time.perf_counter()
    scopes: dict[str, dict[str, str]] = {
        "session": {"session_id": place.session},
        "workspace": {"workspace": place.workspace},
        "all": {},
    }
    rows = []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    everything: Took = []
    questions = Questions(archive, place)
    asked = {kind: [questions.ask(kind, i) for i in range(ROUNDS)] for kind in kinds_named(only)}
    for kind, queries in asked.items():
        row = [kind]
        for scope in scopes.values():
            took = await _timed(lambda query, scope=scope: store.search(query, **scope), queries)
            everything += took
            row.append(_both(took))
        rows.append(row)
    around = await _around(store, asked, scopes) if not only else []
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    few = {kind: queries[:FEW_ROUNDS] for kind, queries in asked.items()}
    stalled, idle = await _stalls(store, few)
    from_disk = [[kind, _both(await _timed(store.search, some, lambda: _drop(archive)))] for kind, some in few.items()]
    await store.close()
    show(f"{turns:,} turns: p50 / p95 / max in ms of work (of waiting, on a shared machine)", ["query", *scopes], rows)
    if around:
        show(f"{turns:,} turns, around a search: the same", ["what is asked for", *scopes], around)
    show(f"{turns:,} turns, the file on the disk alone before each search: the same", ["query", "all"], from_disk)
    print(
        f"\nall: {_both(everything)} ms; opening {1000 * (opened - begun):.0f} ms, the first search after it"
        f" {1000 * (first - opened):.0f} ms; memory taken {grown:.0f} MB; longest stall of the event loop"
        f" {1000 * stalled:.1f} ms, without a search {1000 * idle:.1f} ms",
        flush=True,
    )


async def _stalls(store: ConversationStore, asked: dict[str, list[str]]) -> tuple[float, float]:
    """The longest in seconds, while everything is searched and while nothing is."""
    async with Stall() as idle:
        await asyncio.sleep(1)
    async with Stall() as stall:
        for queries in asked.values():
            await _timed(store.search, queries)
    return stall.longest, idle.longest


def _read_in(archive: Path) -> None:
    """Has the system keep the file in its memory, from another process: see `openfiles`."""
    subprocess.run(["cat", archive], check=True, stdout=subprocess.DEVNULL)


def _drop(archive: Path) -> None:
    """Has the system forget the file."""
    subprocess.run([sys.executable, "-c", _DROP, archive], check=True)


async def _around(
    store: ConversationStore, asked: dict[str, list[str]], scopes: dict[str, dict[str, str]]
) -> list[list[str]]:
    """What else is looked up for a search: revisions of its hits, near words where it has none, values of filters."""
    reading = Reading(revising_passages, settles_something, FORMULAS)
    fragments = [query[:4] for query in asked["identifier"]]
    rows = [["revisions"], ["nearest words"], ["tools"], ["files"]]
    for scope in scopes.values():
        hits = {query: (await store.search(query, **scope)).hits for query in asked["question"]}
        given: dict[str, Any] = scope

        async def revisions(query: str, hits: Any = hits, given: dict[str, Any] = given) -> object:
            return await store.find_revisions(hits[query], query, reading, **given)

        async def nearest(query: str, given: dict[str, Any] = given) -> object:
            return await store.nearest_words(query, **given)

        async def tools(_: str, given: dict[str, Any] = given) -> object:
            return await store.find_tools(**given)

        async def files(fragment: str, given: dict[str, Any] = given) -> object:
            return await store.find_files(fragment, **given)

        wrong = [f"{word[:-2]}q{word[-1]}" for word in asked["rare word"]]
        for row, ask, queries in zip(
            rows, (revisions, nearest, tools, files), (asked["question"], wrong, wrong, fragments), strict=True
        ):
            row.append(_both(await _timed(ask, queries)))
    return rows


def measure_peers(archive: Path, peer: Path, turns: int) -> None:
    """Prints what plain SQLite takes for some of the same, over everything."""
    questions = Questions(archive, place_of(archive))
    rows = []
    with closing(sqlite3.connect(peer)) as connection:
        for kind in ("rare word", "common word", "three common words", "identifier", "pasted sentence"):
            row = [kind]
            for name, sql in PEERS.items():
                took = []
                for i in range(PEER_ROUNDS[name]):
                    words = "".join(c if c.isalnum() else " " for c in questions.ask(kind, i)).split()
                    begun = time.perf_counter()
                    connection.execute(sql, (words[0] if name == "LIKE" else " OR ".join(words),)).fetchall()
                    took.append((time.perf_counter() - begun) * 1000)
                row.append(_figures(sorted(took)))
            rows.append(row)
    show(f"{turns:,} turns, plain SQLite: p50 / p95 / max in ms", ["query", *PEERS], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, required=True, help="where the archives are kept")
    parser.add_argument("--turns", type=int, nargs="+", default=SIZES)
    parser.add_argument("--only", default="", help="the kinds of query whose name begins so")
    parser.add_argument("--peers", action="store_true", help="ask LIKE and plain FTS5 too")
    parser.add_argument("--late", action="store_true", help="while turns wait for the index")
    parsed = parser.parse_args()
    if not kinds_named(parsed.only):
        kinds = "".join(f"\n  {kind}" for kind in Questions.KINDS)
        parser.error(f"no kind of query begins with {parsed.only!r}; the kinds are:{kinds}")
    for turns in parsed.turns:
        archive = archive_of(parsed.cache, turns)
        if parsed.late:
            asyncio.run(measure_late(archive, turns))
            continue
        asyncio.run(measure(archive, turns, parsed.only))
        if parsed.peers:
            measure_peers(archive, peer_of(parsed.cache, archive, turns), turns)


if __name__ == "__main__":
    main()
