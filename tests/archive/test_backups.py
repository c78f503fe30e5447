"""A backup is whole, private and never overwrites another."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

from loom.archive import ConversationStore
from loom.archive.backups import back_up
from loom.archive.database import connect


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


async def test_a_second_backup_gets_its_own_name(store: ConversationStore, session: str, tmp_path: Path) -> None:
    with closing(connect(store.path)) as connection:
        names = [back_up(connection, tmp_path / "b" / "copy.db").name for _ in range(3)]
    assert names == ["copy.db", "copy-2.db", "copy-3.db"]
