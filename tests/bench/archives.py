"""Large archives for measuring, made once and kept: `python -m tests.bench.search --cache FOLDER`.

Turns go in through the store's own appender, with `synchronous` off; the index is made by the store's own batches,
without the rest that the indexer takes between them.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from loom.archive.appends import Appender
from loom.archive.checkpoints import checkpoint
from loom.archive.database import connect
from loom.archive.migrations import prepare
from loom.archive.search.index import VERSION, index_batch, rebuild, watermark
from loom.archive.search.merging import merge_some, scattered
from loom.archive.sessions import create_session
from loom.archive.workspaces import Workspace
from tests.bench.corpus import Corpus
from tests.bench.table import show

_CHECKPOINT_EVERY = 20_000
"""Turns."""
_PEER_TABLES = (
    "CREATE TABLE peer (id INTEGER PRIMARY KEY, session TEXT, content TEXT)",
    "CREATE VIRTUAL TABLE peer_terms USING fts5(content, content='', tokenize='porter unicode61')",
)


def archive_of(folder: Path, turns: int) -> Path:
    """An archive of so many turns, indexed; made if the folder does not have it."""
    place = folder / f"{turns}"
    path = place / "archive.db"
    if not (place / "filled").exists():
        for old in place.glob("archive.db*"):
            old.unlink()
        place.mkdir(parents=True, exist_ok=True)
        prepare(path)
        _fill(path, turns)
        (place / "filled").touch()
    with closing(connect(path)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        if watermark(connection) != _newest(connection):
            _index(connection, path, turns)
    return path


def _newest(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT max(id) FROM conversation_turns").fetchone()[0])


def _fill(path: Path, turns: int) -> None:
    corpus = Corpus()
    lines = corpus.lines(turns)
    appender = Appender()
    begun, done = time.perf_counter(), 0
    with closing(connect(path)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        sessions = [
            create_session(connection, Workspace(line.workspace, None), "bench", "", title=f"session {i}")
            for i, line in enumerate(lines)
        ]
        for i, step in corpus.schedule(lines):
            appender.append(connection, sessions[i], step, None)
            done += len(step)
            if done % _CHECKPOINT_EVERY < len(step):
                checkpoint(connection)
        checkpoint(connection)
    print(f"{turns:,} turns in {len(lines)} sessions stored in {time.perf_counter() - begun:.0f} s", flush=True)


def _index(connection: sqlite3.Connection, path: Path, turns: int) -> None:
    rebuild(connection)
    checkpoint(connection)
    connection.execute("VACUUM")
    checkpoint(connection)
    size = path.stat().st_size
    begun, batches = time.perf_counter(), 0
    while index_batch(connection):
        batches += 1
        if batches % 200 == 0:
            checkpoint(connection)
    took = time.perf_counter() - begun
    checkpoint(connection)
    begun = time.perf_counter()
    # As the indexer does when it has caught up.
    for merge in scattered(connection):
        while merge_some(connection, merge):
            pass
    merged = time.perf_counter() - begun
    checkpoint(connection)
    grown = path.stat().st_size - size
    speed = [f"{turns / took:,.0f}", f"{took / turns * 1e6:.0f}", f"{merged:.0f}"]
    sizes = [f"{size / 1e6:,.0f}", f"{grown / 1e6:,.0f}", f"{grown / turns:.0f}"]
    show(
        f"Index of {turns:,} turns, version {VERSION}",
        ["turns a second", "µs a turn", "merged in, s", "archive without, MB", "index, MB", "index bytes a turn"],
        [[*speed, *sizes]],
    )


def peer_of(folder: Path, archive: Path, turns: int) -> Path:
    """What the archive's turns are in plain SQLite: a table, and FTS5 with the porter stemmer over it."""
    path = folder / f"{turns}" / "peer.db"
    done = path.with_name("peered")
    if done.exists():
        return path
    path.unlink(missing_ok=True)
    with closing(connect(archive, readonly=True)) as source, closing(sqlite3.connect(path)) as peer:
        peer.execute("PRAGMA synchronous = OFF")
        for statement in _PEER_TABLES:
            peer.execute(statement)
        rows = source.execute("SELECT id, session_id, content FROM conversation_turns ORDER BY id")
        while some := rows.fetchmany(5_000):
            peer.executemany("INSERT INTO peer VALUES (?, ?, ?)", some)
            peer.executemany("INSERT INTO peer_terms (rowid, content) VALUES (?, ?)", [(r[0], r[2]) for r in some])
            peer.commit()
        peer.execute("INSERT INTO peer_terms (peer_terms) VALUES ('optimize')")
        peer.commit()
    done.touch()
    return path
