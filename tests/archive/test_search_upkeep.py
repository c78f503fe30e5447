"""The index is kept in order, and made anew, in small steps that may be cut off anywhere."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from loom.archive import ConversationStore
from loom.archive.check import check
from loom.archive.database import connect
from loom.archive.errors import WriteFailed
from loom.archive.migrations import prepare
from loom.archive.reindex import catch_up, reindex
from loom.archive.search import SearchEngine, merging
from loom.archive.search.index import index_batch, is_sound, rebuild, watermark
from loom.archive.search.merging import Merge, merge_some, scattered
from tests.archive.test_search_index import add, found, index_all

WHOLE = Merge("search_terms", whole=True)


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    path = tmp_path / "archive.db"
    prepare(path)
    with closing(connect(path)) as opened:
        yield opened


def segments(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(DISTINCT segid) FROM search_terms_idx").fetchone()[0])


def test_an_index_in_many_pieces_becomes_one_and_finds_the_same(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "_LEAST_PAGES", 1)
    for start in range(0, 400, 20):
        add(
            connection,
            "a",
            *(f"owl {i} " + " ".join(f"word{i}_{n}" for n in range(60)) for i in range(start, start + 20)),
        )
        index_all(connection)
    expected = found(connection, "owl")
    assert WHOLE in scattered(connection)
    before, steps = segments(connection), 0
    while merge_some(connection, WHOLE):
        steps += 1
        assert not connection.in_transaction
        assert found(connection, "owl") == expected
    assert steps > 1
    assert segments(connection) == 1 < before
    assert WHOLE not in scattered(connection)
    assert found(connection, "owl") == expected
    assert is_sound(connection)


def test_beside_a_large_piece_the_small_ones_are_merged_with_each_other(connection: sqlite3.Connection) -> None:
    add(connection, "a", *(" ".join(f"word{i}_{n}" for n in range(200)) for i in range(300)))
    index_all(connection)
    while merge_some(connection, WHOLE):
        pass
    assert segments(connection) == 1
    (large,) = connection.execute("SELECT DISTINCT segid FROM search_terms_idx").fetchone()
    while not scattered(connection):
        add(connection, "a", "a late owl")
        index_all(connection)
    (merge,) = [merge for merge in scattered(connection) if merge.table == "search_terms"]
    assert not merge.whole
    while merge_some(connection, merge):
        pass
    assert segments(connection) < merging.MOST_SEGMENTS
    assert (large,) in connection.execute("SELECT DISTINCT segid FROM search_terms_idx").fetchall()
    assert found(connection, "owl")
    assert is_sound(connection)


def test_turns_appended_between_the_steps_of_a_merge_are_indexed(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "_LEAST_PAGES", 1)
    monkeypatch.setattr(merging, "PAGES", 1)
    for start in range(0, 200, 20):
        add(connection, "a", *(" ".join(f"word{i}_{n}" for n in range(60)) for i in range(start, start + 20)))
        index_all(connection)
    for step in range(20):
        merge_some(connection, WHOLE)
        add(connection, "a", f"late owl {step}")
        index_all(connection)
    while merge_some(connection, WHOLE):
        pass
    assert found(connection, "owl") == [("a", 201 + step) for step in range(20)]
    assert is_sound(connection)


def test_appends_go_between_the_steps_of_taking_an_index_away(connection: sqlite3.Connection, tmp_path: Path) -> None:
    add(connection, "a", *(" ".join(f"word{i}_{n}" for n in range(200)) for i in range(300)))
    index_all(connection)
    steps = 0
    with closing(connect(tmp_path / "archive.db")) as other:

        def count(statement: str) -> None:
            nonlocal steps
            if statement == "COMMIT":
                steps += 1
            elif statement == "BEGIN IMMEDIATE" and steps == 3:
                add(other, "b", "an owl in between")

        connection.set_trace_callback(count)
        other.execute("PRAGMA busy_timeout = 0")  # it fails rather than wait
        other.turnstile = None  # the other's turn is this one's: they take turns in one thread here
        rebuild(connection)
        connection.set_trace_callback(None)
    assert steps > 10
    assert watermark(connection) == 0
    index_all(connection)
    assert found(connection, "owl") == [("b", 1)]
    assert is_sound(connection)


def test_two_that_take_an_index_away_at_once_leave_a_whole_one(connection: sqlite3.Connection, tmp_path: Path) -> None:
    add(connection, "a", *(f"owl {i} " + " ".join(f"word{i}_{n}" for n in range(100)) for i in range(100)))
    index_all(connection)
    begun = 0
    with closing(connect(tmp_path / "archive.db")) as other:
        other.turnstile = None  # see above

        def overtake(statement: str) -> None:
            nonlocal begun
            begun += statement == "BEGIN IMMEDIATE"
            if begun == 4:
                connection.set_trace_callback(None)
                rebuild(other)
                index_all(other)

        connection.set_trace_callback(overtake)
        rebuild(connection)
    assert begun == 4
    assert is_sound(connection)
    assert len(found(connection, "owl")) == 100
    assert not index_batch(connection)


_CHILD = """
import sys
from pathlib import Path
from loom.archive.database import connect
from loom.archive.search.index import index_batch, rebuild
connection = connect(Path(sys.argv[1]))
steps = 0
def count(statement):
    global steps
    if statement == "COMMIT":
        steps += 1
        print(steps, flush=True)
connection.set_trace_callback(count)
rebuild(connection)
while index_batch(connection):
    pass
print("done", flush=True)
"""


def test_a_rebuild_that_is_killed_is_gone_on_with(connection: sqlite3.Connection, tmp_path: Path) -> None:
    path = tmp_path / "archive.db"
    add(connection, "a", *(f"owl {i} " + " ".join(f"word{i}_{n}" for n in range(100)) for i in range(300)))
    index_all(connection)
    expected = found(connection, "owl")
    for wanted in (2, 5, 9, 14, 20):
        child = subprocess.Popen([sys.executable, "-c", _CHILD, str(path)], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        for line in child.stdout:
            if line.strip() in (str(wanted), "done"):
                break
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        child.stdout.close()
        assert found(connection, "owl") == expected
        if wanted % 2:
            index_batch(connection)
    index_all(connection)
    assert found(connection, "owl") == expected
    assert is_sound(connection)
    assert "index" not in {finding.part for finding in check(path).findings}


async def test_the_engine_merges_when_it_has_caught_up(
    store: ConversationStore, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "_LEAST_PAGES", 1)
    monkeypatch.setattr(merging, "MOST_SEGMENTS", 2)
    monkeypatch.setattr(merging, "GROWN", 0.0)
    engine = SearchEngine(store.path)
    await engine.start()
    for i in range(6):
        await store.append_turn(session, "user", " ".join(f"word{i}_{n}" for n in range(400)))
        engine.notify(0)
        assert await engine.settle()
    # A pass that finds nothing to index merges, and `close` waits for the step it is at.
    with closing(connect(store.path, readonly=True)) as reader:
        for _ in range(2_000):
            if segments(reader) == 1:
                break
            assert await engine.settle()
    await engine.close()
    with closing(connect(store.path, readonly=True)) as reader:
        assert segments(reader) == 1


@pytest.mark.parametrize("make", [reindex, catch_up])
async def test_a_lock_that_cannot_be_made_is_told_of(
    store: ConversationStore, session: str, make: Callable[[Path], object]
) -> None:
    await store.append_turn(session, "user", "the lighthouse")
    await store.close()
    lock = store.path.with_name(f"{store.path.name}-index")
    lock.unlink(missing_ok=True)
    lock.mkdir()
    with pytest.raises(WriteFailed, match=r"A file beside .* cannot be written: Is a directory"):
        make(store.path)
