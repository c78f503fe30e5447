"""What it costs that the index is late: turns that wait for it, and an index that is made anew while others append."""

from __future__ import annotations

import sqlite3
import statistics
import subprocess
import tempfile
import threading
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from loom.archive import NewTurn
from loom.archive.appends import Appender
from loom.archive.database import WRITING_PATIENCE, connect
from loom.archive.search import SearchEngine
from loom.archive.search.index import index_batch, rebuild
from loom.archive.transactions import in_turn
from tests.bench.corpus import Corpus
from tests.bench.table import show

WAITING = 2_000
APPENDS = 400
QUERIES = ("server timeout", "what did we say of the budget", "src/parser.py", "zebu")


async def measure_late(archive: Path, turns: int) -> None:
    """Prints both, of a copy of the archive."""
    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
        copy = Path(folder) / "archive.db"
        # The guard keeps this process from reading the file itself.
        subprocess.run(["cp", archive, copy], check=True)
        with closing(connect(copy)) as connection:
            (session,) = connection.execute(
                "SELECT id FROM cowork_sessions ORDER BY turn_count DESC LIMIT 1"
            ).fetchone()
            _append(copy, session, list(Corpus(3).turns(WAITING, datetime(2026, 1, 1, tzinfo=UTC))))
        await _search_the_tail(copy, session, turns)
        _append_while_indexing(copy, session, turns)


def _append(path: Path, session: str, turns: list[NewTurn]) -> list[float]:
    """Seconds of each append of one turn."""
    took = []
    appender = Appender()
    with closing(connect(path)) as connection:
        for turn in turns:
            begun = time.perf_counter()
            with in_turn(connection, WRITING_PATIENCE):
                appender.append(connection, session, [turn], None)
            took.append(time.perf_counter() - begun)
    return took


async def _search_the_tail(path: Path, session: str, turns: int) -> None:
    engine = SearchEngine(path)  # not started: nothing is indexed meanwhile
    rows = []
    for name, given in {"session": session, "all": None}.items():
        took = []
        for query in QUERIES * 3:
            begun = time.process_time()
            await engine.search(query, session_id=given)
            took.append((time.process_time() - begun) * 1000)
        rows.append([name, f"{took[0]:.0f}", f"{statistics.median(took[1:]):.0f}", f"{max(took[1:]):.0f}"])
    await engine.close()
    show(
        f"{turns:,} turns, and {WAITING:,} that wait for the index: ms of work",
        ["scope", "first search", "later, p50", "later, max"],
        rows,
    )


def _append_while_indexing(path: Path, session: str, turns: int) -> None:
    """Appends while nothing else goes on, while the index is taken away, and while it is made."""
    new = list(Corpus(4).turns(APPENDS, datetime(2026, 2, 1, tzinfo=UTC)))
    rows = [_row("alone", _append(path, session, new), [])]
    for name, work in {"while the index is taken away": _take_away, "while it is made": _make}.items():
        steps: list[float] = []
        stop = threading.Event()
        worker = threading.Thread(target=work, args=(path, steps, stop))
        worker.start()
        took = _append(path, session, new)
        stop.set()
        worker.join()
        rows.append(_row(name, took, steps))
    show(
        f"{turns:,} turns: an append, ms",
        ["when", "p50", "p95", "max", "steps meanwhile", "longest step", "max in such steps"],
        rows,
    )


def _row(name: str, took: list[float], steps: list[float]) -> list[str]:
    ordered = sorted(second * 1000 for second in took)
    figures = (statistics.median(ordered), ordered[int(len(ordered) * 0.95)], ordered[-1])
    longest = max(steps, default=0.0) * 1000
    ratio = f"{ordered[-1] / longest:.1f}" if longest else ""
    return [name, *(f"{figure:.1f}" for figure in figures), f"{len(steps)}", f"{longest:.1f}" if longest else "", ratio]


def _take_away(path: Path, steps: list[float], stop: threading.Event) -> None:
    with closing(connect(path)) as connection:
        _time_steps(connection, steps)
        rebuild(connection)


def _make(path: Path, steps: list[float], stop: threading.Event) -> None:
    with closing(connect(path)) as connection:
        _time_steps(connection, steps)
        while not stop.is_set() and index_batch(connection):
            pass


def _time_steps(connection: sqlite3.Connection, steps: list[float]) -> None:
    """Notes how long each transaction of the connection is open."""
    begun = 0.0

    def note(statement: str) -> None:
        nonlocal begun
        if statement == "BEGIN IMMEDIATE":
            begun = time.perf_counter()
        elif statement == "COMMIT":
            steps.append(time.perf_counter() - begun)

    connection.set_trace_callback(note)
