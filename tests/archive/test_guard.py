"""Nothing in the process but SQLite opens the files of an archive."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from loom.archive import ArchiveError, ConversationStore, GuardedFile, guard
from loom.tools.outcome import ToolFailure
from loom.tools.paths import Workspace


@pytest.fixture(params=["", "-wal", "-shm"])
def guarded(request: pytest.FixtureRequest, store: ConversationStore, session: str) -> Path:
    return store.path.with_name(f"{store.path.name}{request.param}")


def test_reading_is_refused(guarded: Path) -> None:
    with pytest.raises(GuardedFile, match="belongs to loom's archive"):
        guarded.read_bytes()


def test_the_refusal_is_a_permission_error_and_one_of_ours(guarded: Path) -> None:
    with pytest.raises(PermissionError):
        guarded.open("ab")
    with pytest.raises(ArchiveError):
        os.open(guarded, os.O_RDONLY)


def test_other_names_of_it_are_refused(guarded: Path, tmp_path: Path) -> None:
    (tmp_path / "soft").symlink_to(guarded)
    os.link(guarded, tmp_path / "hard")
    for name in ("soft", "hard"):
        with pytest.raises(GuardedFile):
            (tmp_path / name).read_bytes()
    with pytest.raises(GuardedFile):
        os.open(os.fsencode(guarded), os.O_RDONLY)


def test_copying_is_refused(guarded: Path, tmp_path: Path) -> None:
    with pytest.raises(GuardedFile):
        shutil.copy(guarded, tmp_path / "copy")


def test_opening_relative_to_a_folder_is_refused(guarded: Path) -> None:
    folder = os.open(guarded.parent, os.O_RDONLY)
    try:
        with pytest.raises(GuardedFile):
            os.open(guarded.name, os.O_RDONLY, dir_fd=folder)
    finally:
        os.close(folder)


async def test_other_files_are_not(store: ConversationStore, tmp_path: Path) -> None:
    (tmp_path / "archive.db").write_text("another one")
    (store.path.parent / "notes.txt").write_text("a neighbour")
    assert (tmp_path / "archive.db").read_text() == "another one"
    with pytest.raises(FileNotFoundError):
        (tmp_path / "gone.db").read_bytes()


@pytest.mark.parametrize("name", ["archive.db", "archive.db-wal", "archive.db-shm"])
def test_a_persons_own_file_of_the_same_name_is_read(store: ConversationStore, tmp_path: Path, name: str) -> None:
    workspace = Workspace(tmp_path, forbidden=[store.path.parent])
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / name).write_text("my own")
    with workspace.open(workspace.place(f"project/{name}")) as file:
        assert file.read() == b"my own"


def test_a_persons_own_folder_of_the_same_name_is_entered(store: ConversationStore, tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, forbidden=[store.path.parent])
    (tmp_path / "archive.db").mkdir()
    (tmp_path / "archive.db" / "notes.txt").write_text("my own")
    with workspace.open(workspace.place("archive.db/notes.txt")) as file:
        assert file.read() == b"my own"
    # pytest's own clearing goes by name, and is refused.
    (tmp_path / "archive.db" / "notes.txt").unlink()
    (tmp_path / "archive.db").rmdir()


def test_a_persons_own_file_is_read_from_the_archives_folder(
    store: ConversationStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name is not looked up in the current folder when the caller has said which file it is."""
    workspace = Workspace(tmp_path, forbidden=[store.path.parent])
    (tmp_path / "archive.db").write_text("my own")
    monkeypatch.chdir(store.path.parent)
    with workspace.open(workspace.place("archive.db")) as file:
        assert file.read() == b"my own"


def test_the_archive_is_refused_under_any_name_when_it_was_looked_at(guarded: Path, tmp_path: Path) -> None:
    os.link(guarded, tmp_path / "hard")
    workspace = Workspace(tmp_path)
    for name in ("hard", f"{guarded.parent.name}/{guarded.name}"):
        with pytest.raises(ToolFailure, match="belongs to loom's archive"), workspace.open(workspace.place(name)):
            pass


def test_what_was_looked_at_counts_only_while_it_lasts(guarded: Path, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("another one")
    folder = os.open(guarded.parent, os.O_RDONLY)
    try:
        with guard.checked((tmp_path / "other").stat()), pytest.raises(GuardedFile):
            guarded.read_bytes()
        with pytest.raises(GuardedFile):
            os.open(guarded.name, os.O_RDONLY, dir_fd=folder)
    finally:
        os.close(folder)


async def test_a_file_that_got_the_inode_of_a_removed_archive_is_free(archive_path: Path) -> None:
    store = await ConversationStore.open(archive_path)
    await store.close()
    shutil.rmtree(archive_path.parent)
    archive_path.parent.mkdir()
    # ext4 hands the lowest free inode out again; whether it does or not, nothing here may be refused.
    for number in range(64):
        (archive_path.parent / f"{number}.txt").write_text("free")
    assert {file.read_text() for file in archive_path.parent.iterdir()} == {"free"}


VISIT = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("SELECT * FROM cowork_sessions").fetchall()
connection.close()
"""


async def test_a_refused_open_leaves_the_locks_and_the_log_alone(archive_path: Path) -> None:
    """The trap: an innocent open cancels SQLite's locks, and the next process to close takes the live log away."""
    store = await ConversationStore.open(archive_path)
    session = await store.create_session(archive_path.parent, "offline", "")
    await store.append_turn(session, "user", "acknowledged")
    with pytest.raises(GuardedFile):
        archive_path.read_bytes()
    subprocess.run([sys.executable, "-c", VISIT, str(archive_path)], check=True)
    await store.append_turn(session, "assistant", "also acknowledged")
    await store.close()
    again = await ConversationStore.open(archive_path)
    assert [turn.content for turn in await again.get_turns(session)] == ["acknowledged", "also acknowledged"]
    await again.close()
