"""An archive where nothing can be written is read, whole, and nothing of it is left elsewhere."""

from __future__ import annotations

import stat
import tempfile
from pathlib import Path

import pytest

from loom.archive import ConversationStore, UnwritableArchive, WriteFailed
from loom.archive.backups import create_backup
from loom.archive.check import check
from loom.archive.database import connect
from tests.support.keeper import Keeper
from tests.support.older import make_older
from tests.support.sealed import mounted_readonly, sealed

SAID = [f"said {n}" for n in range(20)]


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where copies are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def _talk(archive: Path, *, in_order: bool) -> str:
    with Keeper(archive) as keeper:
        session: str = keeper.ask("begin")["session"]
        keeper.ask("append", session, SAID)
        if in_order:
            keeper.ask("close")
    return session


@pytest.mark.parametrize("in_order", [True, False])
async def test_everything_can_be_read(archive_path: Path, temporary: Path, in_order: bool) -> None:
    session = _talk(archive_path, in_order=in_order)
    with sealed(archive_path.parent):
        with pytest.raises(UnwritableArchive, match="open to read only"):
            await ConversationStore.open(archive_path)
        store = await ConversationStore.open(archive_path, readonly=True)
        try:
            assert [turn.content for turn in await store.get_turns(session, limit=100)] == SAID
            assert [hit.turn_number for hit in await store.search_turns(session, '"said 7"')] == [8]
            assert await store.get_lease_holder(session) is None
            with pytest.raises(WriteFailed, match="read-only"):
                await store.append_turn(session, "user", "no")
        finally:
            await store.close()
        report = check(archive_path)
        assert (report.findings, report.unseen) == ((), ())
        assert report.turns == len(SAID)
    assert list(temporary.iterdir()) == []


async def test_a_copy_that_has_to_be_made_is_nobody_elses(archive_path: Path, temporary: Path) -> None:
    _talk(archive_path, in_order=False)
    with sealed(archive_path.parent):
        store = await ConversationStore.open(archive_path, readonly=True)
        (folder,) = temporary.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
        await store.close()
    assert list(temporary.iterdir()) == []


async def test_an_older_archive_is_read(archive_path: Path, temporary: Path) -> None:
    make_older(archive_path, 1, {"aaaa": [(1, "user", text, 1) for text in SAID]})
    with sealed(archive_path.parent):
        store = await ConversationStore.open(archive_path, readonly=True)
        try:
            assert [turn.content for turn in await store.get_turns("aaaa")] == SAID
        finally:
            await store.close()
    assert list(temporary.iterdir()) == []


async def test_a_backup_can_be_made_elsewhere(archive_path: Path, tmp_path: Path) -> None:
    session = _talk(archive_path, in_order=False)
    with sealed(archive_path.parent):
        backup = create_backup(archive_path, tmp_path / "elsewhere.db")
    assert backup.turns == len(SAID)
    with connect(backup.path, readonly=True) as connection:
        assert connection.execute("SELECT count(*) FROM conversation_turns WHERE session_id = ?", (session,)).fetchone()
    connection.close()


async def test_it_is_written_again_once_it_may_be(archive_path: Path) -> None:
    session = _talk(archive_path, in_order=False)
    with sealed(archive_path.parent):
        await (await ConversationStore.open(archive_path, readonly=True)).close()
    store = await ConversationStore.open(archive_path)
    try:
        assert await store.append_turn(session, "user", "on") == len(SAID) + 1
    finally:
        await store.close()


async def test_it_is_said_that_what_is_written_from_elsewhere_is_not_shown(archive_path: Path, tmp_path: Path) -> None:
    session = _talk(archive_path, in_order=True)
    seen = tmp_path / "seen"
    seen.mkdir()
    with mounted_readonly(archive_path.parent, seen):
        with pytest.raises(UnwritableArchive, match="what is written from elsewhere meanwhile is not shown"):
            await ConversationStore.open(seen / "archive.db")
        store = await ConversationStore.open(seen / "archive.db", readonly=True)
        try:
            with Keeper(archive_path) as keeper:
                keeper.ask("append", session, ["later"])
                assert [turn.content for turn in await store.get_turns(session, limit=100)] == SAID
        finally:
            await store.close()
