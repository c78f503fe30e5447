"""The index is derived data: exact behind any interruption, and gone without a trace where a session is."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from loom.archive.database import connect
from loom.archive.erasing import leave_no_word
from loom.archive.migrations import prepare
from loom.archive.removal import Share, take_away, take_row
from loom.archive.search import sketches
from loom.archive.search.document import place_of
from loom.archive.search.forgetting import forget_end, forget_session, last_names, take_apart
from loom.archive.search.index import BATCH_TURNS, SORTED_AT_ONCE, index_batch, is_sound, rebuild, watermark
from loom.archive.search.lookup import search
from loom.archive.search.request import Request
from loom.archive.transactions import transaction


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    path = tmp_path / "archive.db"
    prepare(path)
    with closing(connect(path)) as opened:
        yield opened


def add(connection: sqlite3.Connection, session: str, *texts: str) -> None:
    connection.execute(
        "INSERT OR IGNORE INTO cowork_sessions (id, reference, workspace_path, model_name, started_at, last_active_at)"
        " VALUES (?, ?, '/w', 'm', 't', 't')",
        (session, f"ref{session}"),
    )
    (last,) = connection.execute(
        "SELECT coalesce(max(turn_number), 0) FROM conversation_turns WHERE session_id = ?", (session,)
    ).fetchone()
    for number, text in enumerate(texts, last + 1):
        connection.execute(
            "INSERT INTO conversation_turns (session_id, turn_number, exchange, role, kind, status, content,"
            " created_at, digest) VALUES (?, ?, 1, 'user', 'text', 'complete', ?, '2024-01-01T00:00:00Z', '')",
            (session, number, text),
        )


def found(connection: sqlite3.Connection, query: str) -> list[tuple[str, int]]:
    page = search(connection, Request(query, limit=1_000), lambda: None)
    return sorted((hit.session_id, hit.turn_number) for hit in page.hits)


def index_all(connection: sqlite3.Connection) -> int:
    batches = 0
    while index_batch(connection):
        batches += 1
    return batches


def test_the_answer_is_the_same_after_every_batch(connection: sqlite3.Connection) -> None:
    add(connection, "a", *(f"owl {i} in my_tree_{i}.py" for i in range(BATCH_TURNS * 2 + 7)))
    expected = found(connection, "owl")
    assert len(expected) == BATCH_TURNS * 2 + 7
    while index_batch(connection):
        assert found(connection, "owl") == expected
        page = search(connection, Request("my_tree_5.py"), lambda: None)
        assert page.hits[0].turn_number == 6
    assert is_sound(connection)


def test_a_batch_that_fails_leaves_nothing(connection: sqlite3.Connection) -> None:
    add(connection, "a", "first owl")
    index_all(connection)
    before = watermark(connection)
    add(connection, "a", "second owl")
    connection.execute(
        "CREATE TEMP TRIGGER fault BEFORE UPDATE ON main.search_progress BEGIN SELECT RAISE(ABORT, 'disk'); END"
    )
    with pytest.raises(sqlite3.IntegrityError):
        index_batch(connection)
    assert watermark(connection) == before
    assert not connection.in_transaction
    assert found(connection, "owl") == [("a", 1), ("a", 2)]
    connection.execute("DROP TRIGGER fault")
    assert index_all(connection) == 1
    assert is_sound(connection)


def test_a_batch_done_by_somebody_else_is_not_done_twice(connection: sqlite3.Connection, tmp_path: Path) -> None:
    add(connection, "a", *(f"owl {i}" for i in range(5)))
    with closing(connect(tmp_path / "archive.db")) as other:
        assert index_batch(other)
    assert not index_batch(connection)
    assert found(connection, "owl") == [("a", i) for i in range(1, 6)]


def test_a_rebuilt_index_finds_the_same(connection: sqlite3.Connection) -> None:
    add(connection, "a", "owl one", "hawk two")
    add(connection, "b", "owl three")
    index_all(connection)
    rebuild(connection)
    assert watermark(connection) == 0
    assert found(connection, "owl") == [("a", 1), ("b", 1)]
    index_all(connection)
    assert found(connection, "owl") == [("a", 1), ("b", 1)]


def test_damage_that_sqlite_is_silent_about_is_seen(connection: sqlite3.Connection, tmp_path: Path) -> None:
    add(connection, "a", "owl one", "hawk two")
    index_all(connection)
    assert is_sound(connection)
    with closing(sqlite3.connect(tmp_path / "archive.db")) as intruder:
        intruder.execute("UPDATE search_terms_data SET block = x'00ff00ff'")
        intruder.commit()
    with closing(connect(tmp_path / "archive.db", readonly=True)) as fresh:
        assert not is_sound(fresh)
    with closing(connect(tmp_path / "archive.db")) as fresh:
        assert not is_sound(fresh)
        rebuild(fresh)
        index_all(fresh)
        assert is_sound(fresh)
        assert found(fresh, "owl") == [("a", 1)]


def test_what_is_indexed_while_an_index_is_looked_over_is_no_damage(
    connection: sqlite3.Connection, tmp_path: Path
) -> None:
    add(connection, "a", *(f"owl {i}" for i in range(BATCH_TURNS)))
    index_all(connection)
    add(connection, "a", *(f"hawk {i}" for i in range(9 * BATCH_TURNS)))
    with closing(connect(tmp_path / "archive.db")) as other:
        # Each of what is compared is counted at another time.
        connection.set_trace_callback(lambda statement: index_batch(other) if "FROM search_" in statement else None)
        assert is_sound(connection)
        connection.set_trace_callback(None)
        assert (watermark(other) or 0) > 2 * BATCH_TURNS
    assert not connection.in_transaction


def test_a_turn_with_two_sketches_beside_one_with_none_is_damage(connection: sqlite3.Connection) -> None:
    add(connection, "a", "an owl", "a hawk")
    index_all(connection)
    assert is_sound(connection)
    connection.execute("UPDATE search_sketches SET numbers = x'0100000001000000'")
    assert list(sketches.places(connection)) == [place_of(1, 1)] * 2
    assert not is_sound(connection)
    rebuild(connection)
    index_all(connection)
    assert is_sound(connection)


def test_a_purge_leaves_no_word_in_any_file(connection: sqlite3.Connection, tmp_path: Path) -> None:
    add(connection, "a", "the passphrase is xyzzyplugh in vault_key_a.txt", "秘密鍵 other words")
    add(connection, "b", "ordinary words in vault_key_b.txt")
    index_all(connection)
    take_away(connection, "a", Share(turns=1, bytes=1))
    assert not leave_no_word(connection)
    take_row(connection, "a")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert is_sound(connection)
    assert list(sketches.places(connection)) == [place_of(2, 1)]
    assert found(connection, "words") == [("b", 1)]
    assert found(connection, "vault_key_b.txt") == [("b", 1)]
    connection.close()
    for path in tmp_path.iterdir():
        # The guard keeps this process from reading the files itself.
        content = subprocess.run(["cat", path], capture_output=True, check=True).stdout
        for word in ("xyzzyplugh", "vault_key_a", "秘密鍵", "passphras"):
            assert word.encode() not in content


def test_a_turn_of_very_many_words_is_found_by_each_and_leaves_as_a_whole(connection: sqlite3.Connection) -> None:
    many = 2 * SORTED_AT_ONCE + 5
    add(connection, "a", " ".join(str(word) for word in range(1_000_000, 1_000_000 + many)))
    add(connection, "b", "1000000 and no other")
    index_all(connection)
    for at in (0, 1, SORTED_AT_ONCE - 1, SORTED_AT_ONCE, many - 1):
        assert ("a", 1) in found(connection, str(1_000_000 + at))
    assert is_sound(connection)
    (kept,) = connection.execute("SELECT count(*) FROM search_terms WHERE search_terms MATCH 'words : 10*'").fetchone()
    assert kept == 2
    with transaction(connection):
        known = list(take_apart(connection, "a"))
        forget_end(connection, "a", 0, known, last_names(connection, "a", known, {}))
        forget_session(connection, "a")
    assert is_sound(connection)


def test_a_turn_that_was_purged_while_it_was_read_does_not_come_back(
    connection: sqlite3.Connection, tmp_path: Path
) -> None:
    add(connection, "a", "owl one")
    index_all(connection)
    add(connection, "a", "owl two")
    # A function of the connection is the one place to act between reading and writing of a batch.
    with closing(connect(tmp_path / "archive.db")) as other:

        def purge(statement: str) -> None:
            if statement.startswith("BEGIN IMMEDIATE"):
                connection.set_trace_callback(None)
                other.execute("INSERT INTO purging VALUES ('a')")
                other.execute("DELETE FROM conversation_turns WHERE session_id = 'a' AND turn_number = 2")
                other.execute("DELETE FROM purging")

        connection.set_trace_callback(purge)
        index_batch(connection)
    assert connection.execute("SELECT count(*) FROM search_marks").fetchone() == (1,)
