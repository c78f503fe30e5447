"""A backup is whole, private and never overwrites another."""

from __future__ import annotations

import errno
import os
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from loom.archive import ConversationStore, WriteFailed, privatefolders
from loom.archive.backups import (
    ELSEWHERE,
    KEPT_AUTOMATIC,
    Backup,
    automatic_backups,
    back_up,
    back_up_regularly,
    create_backup,
    known_backups,
)
from loom.archive.database import ArchiveConnection, connect
from loom.archive.guard import ours
from loom.archive.privatefolders import BACKING_UP, PrivateFolder
from loom.archive.purge import purge
from loom.archive.salvage import Recovered, recover
from tests.support.damage import files_with


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


_CUT_OFF = """
import os, signal, sys
from pathlib import Path
from loom.archive import backups, salvage

def killed(*_):
    os.kill(os.getpid(), signal.SIGKILL)

what, archive, target = sys.argv[1], *map(Path, sys.argv[2:])
if what == "recover":
    salvage.restore = killed
    salvage.recover(archive, target)
elif what == "at the end":
    backups.give_name = killed
    backups.create_backup(archive, target)
else:
    backups._ends = killed
    backups.back_up_regularly(archive)
"""


def _cut_off(what: str, archive: Path, target: Path) -> None:
    """Do it in a process that is killed in the middle."""
    done = subprocess.run([sys.executable, "-c", _CUT_OFF, what, str(archive), str(target)], check=False)
    assert done.returncode == -signal.SIGKILL


async def test_an_automatic_backup_that_was_cut_off_is_none(
    store: ConversationStore, session: str, tmp_path: Path
) -> None:
    await store.append_turn(session, "user", "the passphrase is Quetzalcoatl-Vermilion")
    _cut_off("automatic", store.path, tmp_path)
    assert known_backups(store.path) == []
    backup = back_up_regularly(store.path)
    assert backup is not None
    assert [path.name for path in backup.path.parent.iterdir()] == [backup.path.name]


@pytest.mark.parametrize("what", ["at the end", "recover"])
async def test_what_was_cut_off_has_no_name_yet_and_can_be_done_again(
    store: ConversationStore, session: str, tmp_path: Path, what: str
) -> None:
    await store.append_turn(session, "user", "kept")
    await store.close()
    target = tmp_path / "elsewhere" / "copy.db"
    target.parent.mkdir()
    _cut_off(what, store.path, target)
    assert not target.exists()
    done: list[Callable[[], Backup | Recovered]] = [
        lambda: create_backup(store.path, target),
        lambda: recover(store.path, target),
    ]
    with ours():
        assert done[what == "recover"]().turns == 1
    assert list(target.parent.iterdir()) == [target]
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


async def test_what_a_backup_that_was_cut_off_left_goes_with_a_purge(
    store: ConversationStore, session: str, tmp_path: Path
) -> None:
    await store.append_turn(session, "user", "the passphrase is Quetzalcoatl-Vermilion")
    await store.close()
    backups = store.path.parent / "backups"
    _cut_off("at the end", store.path, backups / "copy.db")
    assert files_with(backups, b"Quetzalcoatl")
    assert purge(store.path, session, store.path.parent).left == ()
    assert files_with(store.path.parent, b"Quetzalcoatl") == []
    assert list(backups.iterdir()) == []


async def test_a_backup_is_made_where_files_cannot_have_two_names(
    store: ConversationStore, session: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    # A file system that has no links (FAT, exFAT) cannot be mounted everywhere.
    monkeypatch.setattr(os, "link", no_links)
    target = tmp_path / "copy.db"
    assert create_backup(store.path, target).path == target
    assert back_up_regularly(store.path) is not None
    with closing(connect(store.path, readonly=True)) as connection:
        names = [back_up(connection, tmp_path / "b" / "copy.db").name for _ in range(2)]
    assert names == ["copy.db", "copy-2.db"]
    assert {path.name for path in (tmp_path / "b").iterdir()} == set(names)
    assert not list(tmp_path.glob(".loom-*"))


async def test_a_backup_and_a_recovery_are_made_where_no_folder_can_be_locked(
    store: ConversationStore, session: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.append_turn(session, "user", "kept")
    await store.close()

    def no_locks(descriptor: int) -> bool:
        raise OSError(errno.EBADF, "Bad file descriptor")

    # So does NFS, which locks nothing that is not open to be written.
    monkeypatch.setattr(privatefolders, "lock_at_once", no_locks)
    in_use = PrivateFolder.made(tmp_path, BACKING_UP)
    assert create_backup(store.path, tmp_path / "copy.db").turns == 1
    with ours():
        assert recover(store.path, tmp_path / "recovered.db").turns == 1
    assert in_use.path.exists(), "nobody knows whether its process lives"
    in_use.remove()
    assert not list(tmp_path.glob(".loom-*"))


NO_LIST = ["folder", "loop", "pipe"]


def _put_in_place_of_the_list(archive: Path, what: str) -> Path:
    place = archive.parent / "backups" / ELSEWHERE
    place.unlink(missing_ok=True)
    match what:
        case "folder":
            place.mkdir()
        case "loop":
            place.symlink_to(place.name)
        case "pipe":
            os.mkfifo(place)
    return place


@pytest.mark.parametrize("what", NO_LIST)
async def test_a_backup_that_cannot_be_noted_is_made_and_that_is_said(
    store: ConversationStore, session: str, tmp_path: Path, what: str
) -> None:
    create_backup(store.path)
    place = _put_in_place_of_the_list(store.path, what)
    assert create_backup(store.path).path.exists()
    with pytest.raises(WriteFailed, match="is made, and could not be noted") as told:
        create_backup(store.path, tmp_path / "copy.db")
    assert str(place) in str(told.value) and "purge" in str(told.value)
    assert (tmp_path / "copy.db").exists()


@pytest.mark.parametrize("what", NO_LIST)
async def test_a_purge_goes_on_without_the_list_of_backups_and_says_so(
    store: ConversationStore, session: str, what: str
) -> None:
    await store.append_turn(session, "user", "the passphrase is Quetzalcoatl-Vermilion")
    await store.close()
    backup = create_backup(store.path)
    place = _put_in_place_of_the_list(store.path, what)
    purged = purge(store.path, session, store.path.parent)
    assert purged.backups == (backup.path,)
    assert [(left.path, "elsewhere" in left.why) for left in purged.left] == [(place, True)]
