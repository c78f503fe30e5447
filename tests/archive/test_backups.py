"""A backup is whole, private and never overwrites another."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from loom.archive import ConversationStore, WriteFailed
from loom.archive.backups import (
    KEPT_AUTOMATIC,
    automatic_backups,
    back_up,
    back_up_regularly,
    create_backup,
    known_backups,
)
from loom.archive.database import ArchiveConnection, connect


async def test_a_backup_has_what_is_only_in_the_log(store: ConversationStore, session: str, tmp_path: Path) -> None:
    await store.append_turn(session, "user", "not yet checkpointed")
    with closing(connect(store.path)) as connection:
        copy = back_up(connection, tmp_path / "backups" / "copy.db")
    assert [file.name for file in copy.parent.iterdir()] == ["copy.db"]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert stat.S_IMODE(copy.parent.stat().st_mode) == 0o700
    with closing(sqlite3.connect(copy)) as opened:
        assert opened.execute("SELECT content FROM conversation_turns").fetchall() == [("not yet checkpointed",)]


async def test_a_backup_can_be_put_in_the_archives_place(
    store: ConversationStore, session: str, tmp_path: Path
) -> None:
    await store.append_turn(session, "user", "kept")
    with closing(connect(store.path)) as connection:
        copy = back_up(connection, tmp_path / "restored" / "archive.db")
    restored = await ConversationStore.open(copy)
    assert await restored.append_turn(session, "assistant", "goes on") == 2
    await restored.close()


class _Forgetful(ArchiveConnection):
    """Copies the archive without its newest turn, and says nothing."""

    def backup(self, target: sqlite3.Connection, **options: Any) -> None:  # type: ignore[override]
        super().backup(target, **options)
        target.execute("DROP TRIGGER turns_are_never_deleted")
        target.execute("DELETE FROM conversation_turns WHERE id = (SELECT max(id) FROM conversation_turns)")


async def test_a_copy_that_lacks_a_turn_is_no_backup(store: ConversationStore, session: str, tmp_path: Path) -> None:
    await store.append_turn(session, "user", "kept")
    await store.append_turn(session, "user", "forgotten")
    with (
        closing(sqlite3.connect(store.path, isolation_level=None, factory=_Forgetful)) as connection,
        pytest.raises(WriteFailed, match="its sessions end elsewhere"),
    ):
        back_up(connection, tmp_path / "b" / "copy.db")
    assert list((tmp_path / "b").iterdir()) == []


async def test_a_second_backup_gets_its_own_name(store: ConversationStore, session: str, tmp_path: Path) -> None:
    with closing(connect(store.path)) as connection:
        names = [back_up(connection, tmp_path / "b" / "copy.db").name for _ in range(3)]
    assert names == ["copy.db", "copy-2.db", "copy-3.db"]


async def test_a_backup_says_what_is_in_it(store: ConversationStore, session: str) -> None:
    await store.append_turn(session, "user", "kept")
    backup = create_backup(store.path)
    assert backup.path.parent == store.path.parent / "backups"
    assert (backup.sessions, backup.turns) == (1, 1)
    assert stat.S_IMODE(backup.path.stat().st_mode) == 0o600


async def test_a_backup_elsewhere_is_private_and_remembered(
    store: ConversationStore, session: str, tmp_path: Path
) -> None:
    target = tmp_path / "a stick" / "copy.db"
    target.parent.mkdir()
    create_backup(store.path, target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert known_backups(store.path) == [target]
    with pytest.raises(WriteFailed, match="exists already"):
        create_backup(store.path, target)


async def test_a_backup_under_any_name_among_the_others_is_remembered(store: ConversationStore) -> None:
    own = create_backup(store.path).path
    other = create_backup(store.path, own.with_name("before the move")).path
    assert known_backups(store.path) == [own, other]


@pytest.mark.parametrize("folder", ["file", "typo", "typo/in/it"])
async def test_a_backup_where_there_is_no_folder_is_refused_and_makes_none(
    store: ConversationStore, tmp_path: Path, folder: str
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WriteFailed, match="There is no folder"):
        create_backup(store.path, tmp_path / folder / "copy.db")
    assert not (tmp_path / "typo").exists()


async def test_a_backup_that_cannot_be_written_is_told(store: ConversationStore, tmp_path: Path) -> None:
    with pytest.raises(WriteFailed, match="cannot be written"):
        create_backup(store.path, tmp_path / ("x" * 300))


async def test_a_few_automatic_backups_are_kept_and_no_other_is_touched(store: ConversationStore) -> None:
    own = create_backup(store.path)
    day = datetime(2026, 3, 1, tzinfo=UTC)
    made = [back_up_regularly(store.path, today=day + timedelta(days=n)) for n in range(KEPT_AUTOMATIC + 2)]
    assert back_up_regularly(store.path, today=day + timedelta(days=KEPT_AUTOMATIC + 1, hours=3)) is None
    kept = [path for _, path in automatic_backups(store.path)]
    assert kept == [backup.path for backup in made[-KEPT_AUTOMATIC:] if backup is not None]
    assert own.path.exists()
