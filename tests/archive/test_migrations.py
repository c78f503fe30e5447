"""An archive is made whole or not at all, and an older one is brought up to date after a backup."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from loom.archive import ConversationStore, NewerArchive, NotAnArchive, WriteFailed
from loom.archive.check import check
from loom.archive.database import APPLICATION_ID, connect, pragma
from loom.archive.migrations import MIGRATIONS, prepare, statements
from loom.archive.purge import erase
from loom.archive.removal import take_row
from tests.support.older import Said, make_older


def _add_mood(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE cowork_sessions ADD COLUMN mood TEXT")
    connection.execute("UPDATE cowork_sessions SET mood = 'calm'")


def _fail_half_way(connection: sqlite3.Connection) -> None:
    _add_mood(connection)
    connection.execute("INSERT INTO no_such_table VALUES (1)")


async def _with_a_turn(path: Path) -> str:
    store = await ConversationStore.open(path)
    session = await store.create_session(path.parent, "offline", "")
    await store.append_turn(session, "user", "kept")
    await store.close()
    return session


def test_a_new_archive_says_what_it_is(archive_path: Path) -> None:
    prepare(archive_path)
    with closing(connect(archive_path)) as connection:
        assert pragma(connection, "application_id") == APPLICATION_ID
        assert pragma(connection, "user_version") == len(MIGRATIONS)
        assert pragma(connection, "integrity_check") == "ok"


def test_making_it_leaves_no_scaffold(archive_path: Path) -> None:
    prepare(archive_path)
    assert {file.name for file in archive_path.parent.iterdir()} <= {"archive.db", "archive.db-lock"}


def test_a_crash_while_making_it_is_made_good(archive_path: Path) -> None:
    archive_path.parent.mkdir()
    (archive_path.parent / "archive.db-new").write_bytes(b"")
    (archive_path.parent / "archive.db-new-wal").write_bytes(b"half")
    prepare(archive_path)
    with closing(connect(archive_path)) as connection:
        assert pragma(connection, "integrity_check") == "ok"


def test_a_log_without_its_database_is_not_swallowed(archive_path: Path) -> None:
    archive_path.parent.mkdir()
    log = archive_path.with_name("archive.db-wal")
    log.write_bytes(b"turns, perhaps")
    with pytest.raises(NotAnArchive, match="write-ahead log"):
        prepare(archive_path)
    assert log.read_bytes() == b"turns, perhaps"
    assert not archive_path.exists()


async def test_an_older_archive_is_backed_up_and_migrated(archive_path: Path) -> None:
    session = await _with_a_turn(archive_path)
    prepare(archive_path, (*MIGRATIONS, _add_mood))
    with closing(connect(archive_path)) as connection:
        assert pragma(connection, "user_version") == len(MIGRATIONS) + 1
        assert connection.execute("SELECT mood FROM cowork_sessions").fetchall() == [("calm",)]
    (backup,) = (archive_path.parent / "backups").iterdir()
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert stat.S_IMODE(backup.parent.stat().st_mode) == 0o700
    with closing(sqlite3.connect(backup)) as old:
        assert pragma(old, "user_version") == len(MIGRATIONS)
        rows = old.execute("SELECT session_id, content FROM conversation_turns").fetchall()
    assert rows == [(session, "kept")]


async def test_the_first_version_keeps_its_sessions_and_their_order(archive_path: Path) -> None:
    prepare(archive_path, MIGRATIONS[:1])
    days = ["2026-01-03T10:00:30.000000Z", "2026-01-01T00:00:00.000000Z", "2026-01-03T10:00:31.000000Z"]
    with closing(connect(archive_path)) as connection:
        for n, moment in enumerate(days):
            connection.execute(
                "INSERT INTO cowork_sessions (id, reference, workspace_path, workspace_commit, model_name, started_at,"
                " last_active_at) VALUES (?, ?, '/w', 'c', 'm', ?, ?)",
                (f"session-{n}", f"aaa{n}", moment, moment),
            )
        connection.execute(
            "INSERT INTO conversation_turns (session_id, turn_number, exchange, role, kind, status, created_at, digest)"
            " VALUES ('session-1', 1, 1, 'user', 'text', 'complete', '2026-01-03T10:01:00.000000Z', '')"
        )
    store = await ConversationStore.open(archive_path)
    assert [s.id for s in await store.list_sessions()] == ["session-1", "session-2", "session-0"]
    await store.append_turn("session-0", "user", "hello")
    assert [s.id for s in await store.list_sessions()] == ["session-0", "session-1", "session-2"]
    await store.close()


_TALK = [(0, "system", 2), (1, "user", 3), (1, "assistant", 5), (2, "user", 7), (4, "user", 11), (3, "user", 13)]
"""Exchange, role and tokens of the turns of an older archive. A fork of something damaged may have numbers that jump
or go back."""


def _talk(session: str) -> list[Said]:
    return [(exchange, role, f"{session} {n}", tokens) for n, (exchange, role, tokens) in enumerate(_TALK, 1)]


@pytest.mark.parametrize("version", range(1, len(MIGRATIONS)))
async def test_every_older_version_is_brought_up_to_date(archive_path: Path, version: int) -> None:
    make_older(archive_path, version, {"kept": _talk("kept"), "gone": _talk("gone")})
    with closing(connect(archive_path)) as connection:
        erase(connection, "gone")
        take_row(connection, "gone")
    store = await ConversationStore.open(archive_path)
    assert [turn.content for turn in await store.get_turns("kept")] == [f"kept {n}" for n in range(1, 7)]
    assert [(e.exchange, e.first_turn, e.last_turn, e.tokens) for e in await store.get_exchange_sizes("kept")] == [
        (4, 5, 6, 24),
        (2, 4, 4, 7),
        (1, 2, 3, 8),
        (0, 1, 1, 2),
    ]
    assert await store.append_turn("kept", "user", "and on it goes", token_count=17) == 7
    assert (await store.get_turns_before("kept", None, 1))[0].exchange == 5
    assert [e.tokens for e in await store.get_exchange_sizes("kept", limit=2)] == [17, 24]
    await store.close()
    assert check(archive_path).sound, check(archive_path).findings
    with closing(connect(archive_path)) as connection:
        (newest,) = connection.execute("SELECT max(id) FROM conversation_turns").fetchone()
        assert newest == 2 * len(_TALK) + 1  # not that of a turn that is gone
    (backup,) = (archive_path.parent / "backups").iterdir()
    with closing(sqlite3.connect(backup)) as old:
        assert pragma(old, "user_version") == version


@pytest.mark.parametrize("version", range(1, len(MIGRATIONS)))
def test_an_older_version_is_checked_as_it_is(archive_path: Path, version: int) -> None:
    make_older(archive_path, version, {"kept": _talk("kept")[:4]})
    assert check(archive_path).sound, check(archive_path).findings
    with closing(connect(archive_path)) as connection:
        assert pragma(connection, "user_version") == version


async def test_an_older_version_and_the_present_one_end_in_the_same_schema(tmp_path: Path) -> None:
    schemas = []
    for version in range(1, len(MIGRATIONS) + 1):
        path = tmp_path / f"{version}" / "archive.db"
        prepare(path, MIGRATIONS[:version])
        prepare(path)
        with closing(connect(path)) as connection:
            schemas.append(connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY name").fetchall())
    assert all(schema == schemas[0] for schema in schemas)
    assert "AUTOINCREMENT" not in str(schemas[0])


async def test_where_the_schema_is_closed_ids_are_counted_as_before(archive_path: Path) -> None:
    def refuse(action: int, first: str | None, *_: str | None) -> int:
        closed = action == sqlite3.SQLITE_PRAGMA and first == "writable_schema"
        return sqlite3.SQLITE_IGNORE if closed else sqlite3.SQLITE_OK

    def with_closed_schema(connection: sqlite3.Connection) -> None:
        connection.set_authorizer(refuse)
        MIGRATIONS[4](connection)
        connection.set_authorizer(None)

    prepare(archive_path, (*MIGRATIONS[:4], with_closed_schema, *MIGRATIONS[5:]))
    with closing(connect(archive_path)) as connection:
        (table,) = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'conversation_turns'").fetchone()
        assert "AUTOINCREMENT" in table
    store = await ConversationStore.open(archive_path)
    session = await store.create_session(archive_path.parent, "offline", "")
    assert [await store.append_turn(session, "user", f"{n}") for n in range(3)] == [1, 2, 3]
    await store.close()
    assert check(archive_path).sound, check(archive_path).findings


async def test_a_migration_that_fails_changes_nothing(archive_path: Path) -> None:
    await _with_a_turn(archive_path)
    with pytest.raises(WriteFailed):
        prepare(archive_path, (*MIGRATIONS, _fail_half_way))
    with closing(connect(archive_path)) as connection:
        assert pragma(connection, "user_version") == len(MIGRATIONS)
        columns = [row[1] for row in connection.execute("PRAGMA table_info(cowork_sessions)")]
        assert "mood" not in columns
        assert connection.execute("SELECT content FROM conversation_turns").fetchall() == [("kept",)]


async def test_a_newer_archive_opens_read_only(archive_path: Path) -> None:
    session = await _with_a_turn(archive_path)
    prepare(archive_path, (*MIGRATIONS, _add_mood))
    with pytest.raises(NewerArchive, match="newer loom"):
        await ConversationStore.open(archive_path)
    reader = await ConversationStore.open(archive_path, readonly=True)
    assert [turn.content for turn in await reader.get_turns(session)] == ["kept"]
    assert reader.readonly
    with pytest.raises(WriteFailed, match="read-only"):
        await reader.append_turn(session, "user", "more")
    await reader.close()


def test_several_processes_may_make_it_at_once(archive_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from loom.archive.migrations import prepare; prepare(Path(sys.argv[1]))"
    )
    makers = [
        subprocess.Popen([sys.executable, "-c", code, str(archive_path)], stderr=subprocess.PIPE) for _ in range(4)
    ]
    errors = [maker.communicate()[1] for maker in makers]
    assert [maker.returncode for maker in makers] == [0] * 4, errors
    with closing(connect(archive_path)) as connection:
        assert pragma(connection, "user_version") == len(MIGRATIONS)


def test_a_script_is_split_into_its_statements() -> None:
    first = "CREATE TABLE a (b TEXT DEFAULT ';');\n"
    second = "-- Why; and how.\nCREATE TRIGGER c AFTER INSERT ON a\nBEGIN\n  DELETE FROM a;\n  SELECT 1;\nEND;\n"
    assert list(statements(first + second)) == [first, second]
