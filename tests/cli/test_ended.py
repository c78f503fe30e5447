"""A command that is ended from outside leaves no copy of anything, and one that is killed leaves it to the next."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from loom.archive import privatefolders
from loom.archive.privatefolders import BACKING_UP, READING, RECOVERING, PrivateFolder, remove_old_copies
from loom.archive.purge import purge
from loom.archive.unwritable import copy_privately
from tests.support.keeper import Keeper
from tests.support.sealed import sealed
from tests.support.signals import hear_signals

SECRET = "the passphrase is Quetzalcoatl-Vermilion-7731"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where copies are made, here and in children."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    return folder


@pytest.fixture
def talk(tmp_path: Path) -> tuple[Path, str]:
    """An archive whose log holds turns, and its session."""
    archive = tmp_path / "home" / "archive.db"
    with Keeper(archive) as keeper:
        session: str = keeper.ask("begin")["session"]
        keeper.ask("append", session, [f"{SECRET} {n} " + "and on " * 100 for n in range(300)])
    return archive, session


COPIED = f"{RECOVERING}*/copy.db"
"""What a recovery reads: there once it has begun to copy, which is after its folder was made."""


TRIES = 50
"""How often a command may have come to its end before anybody saw its copy, which is there for milliseconds."""


def _end_while_it_reads(archive: Path, place: Path, how: signal.Signals, *command: str, copies: str = READING) -> int:
    """Run a command, end it when its copy is in that place; its exit code."""
    for _ in range(TRIES):
        with subprocess.Popen(
            [sys.executable, "-m", "loom", *command],
            env={**os.environ, "LOOM_HOME": str(archive.parent)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=hear_signals,  # noqa: PLW1509 - a few calls, no lock
        ) as child:
            caught = _stop_where_it_has(child, place, f"{copies}*")
            if caught:
                child.send_signal(how)
                child.send_signal(signal.SIGCONT)
            child.communicate()
        if caught:
            return child.returncode
        for recovered in place.glob("*recovered.db"):
            recovered.unlink()
    raise AssertionError(f"{command} was never seen with its copy")


def _copies(place: Path, copies: str) -> list[Path]:
    # A folder may go while it is looked into.
    with suppress(FileNotFoundError):
        return list(place.glob(copies))
    return []


def _stop_where_it_has(child: subprocess.Popen[bytes], place: Path, copies: str) -> bool:
    """Stop it when it has such a file; False when it went on before that could be done."""
    while not _copies(place, copies):
        if child.poll() is not None:
            return False
    child.send_signal(signal.SIGSTOP)
    _, status = os.waitpid(child.pid, os.WUNTRACED)
    if not os.WIFSTOPPED(status):
        return False
    if not _copies(place, copies):
        child.send_signal(signal.SIGCONT)
        return False
    return True


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("command", [("search", "-a", "Quetzalcoatl"), ("check",)])
def test_a_command_that_is_ended_removes_its_copy(
    talk: tuple[Path, str], temporary: Path, how: signal.Signals, command: tuple[str, ...]
) -> None:
    archive, _ = talk
    with sealed(archive.parent):
        assert _end_while_it_reads(archive, temporary, how, *command) == 128 + how
    assert list(temporary.iterdir()) == []


def test_the_copy_of_a_command_that_was_killed_goes_at_the_next_start(talk: tuple[Path, str], temporary: Path) -> None:
    archive, _ = talk
    with sealed(archive.parent):
        _end_while_it_reads(archive, temporary, signal.SIGKILL, "search", "-a", "Quetzalcoatl")
        assert list(temporary.iterdir())
        environment = {**os.environ, "LOOM_HOME": str(archive.parent)}
        subprocess.run([sys.executable, "-m", "loom", "sessions", "-a"], env=environment, check=True)
    assert list(temporary.iterdir()) == []


def test_a_copy_goes_with_a_purged_session_unless_it_is_in_use(talk: tuple[Path, str], temporary: Path) -> None:
    archive, session = talk
    with sealed(archive.parent):
        _end_while_it_reads(archive, temporary, signal.SIGKILL, "search", "-a", "Quetzalcoatl")
        used = copy_privately(archive)
    left = purge(archive, session, archive.parent).left
    assert [folder.name for folder in temporary.iterdir()] == [used.path.parent.name]
    assert {entry.path.parent for entry in left} == {used.path.parent}
    assert all("goes when that loom ends" in entry.why for entry in left)
    used.remove()


def test_what_is_not_a_copy_of_ones_own_is_left_alone(temporary: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "archive.db").write_text("mine")
    (temporary / "loom-archive-link").symlink_to(mine)
    (temporary / "loom-archive-file").write_text("mine")
    remove_old_copies(tmp_path)
    assert (mine / "archive.db").exists()
    assert len(list(temporary.iterdir())) == 2


def test_a_folder_that_is_taken_for_an_old_one_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = []

    def take_it_away(folder: Path) -> int:
        if not taken:
            taken.append(folder)
            folder.rmdir()
        return opened(folder)

    opened = privatefolders._open
    monkeypatch.setattr(privatefolders, "_open", take_it_away)
    made = PrivateFolder.made(tmp_path, RECOVERING)
    assert list(tmp_path.iterdir()) == [made.path] != taken
    made.remove()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_recovery_that_is_ended_removes_its_copy(talk: tuple[Path, str], tmp_path: Path, how: signal.Signals) -> None:
    archive, _ = talk
    recovery = ("recover", str(archive), "-o", str(tmp_path / "recovered.db"))
    assert _end_while_it_reads(archive, tmp_path, how, *recovery, copies=COPIED) == 128 + how
    assert list(tmp_path.glob(".loom-*")) == []


@pytest.mark.parametrize("next_command", [("sessions", "-a"), ("check",), ("recover", "HOME/archive.db")])
def test_the_copy_of_a_recovery_that_was_killed_goes_at_the_next_start(
    talk: tuple[Path, str], next_command: tuple[str, ...]
) -> None:
    archive, _ = talk
    home = archive.parent
    _end_while_it_reads(archive, home, signal.SIGKILL, "recover", str(archive), copies=COPIED)
    assert list(home.glob(".loom-recover-*/copy.db*"))
    command = [part.replace("HOME", str(home)) for part in next_command]
    environment = {**os.environ, "LOOM_HOME": str(home)}
    subprocess.run([sys.executable, "-m", "loom", *command], env=environment, check=True)
    assert list(home.glob(".loom-recover-*")) == []


def test_the_copy_of_a_recovery_goes_with_a_purged_session_unless_it_is_in_use(talk: tuple[Path, str]) -> None:
    archive, session = talk
    home = archive.parent
    _end_while_it_reads(archive, home, signal.SIGKILL, "recover", str(archive), copies=COPIED)
    (killed,) = home.glob(".loom-recover-*")
    used = PrivateFolder.made(home, RECOVERING)
    shutil.copyfile(archive.with_name("archive.db-wal"), used.path / "copy.db-wal")
    left = purge(archive, session, home).left
    assert not killed.exists()
    assert [entry.path for entry in left] == [used.path / "copy.db-wal"]
    assert "goes when that loom ends" in left[0].why
    used.remove()


def test_a_backup_that_is_being_made_meanwhile_is_named_to_be_deleted(talk: tuple[Path, str]) -> None:
    archive, session = talk
    backups = archive.parent / "backups"
    backups.mkdir(mode=0o700)
    being_made = PrivateFolder.made(backups, BACKING_UP)
    shutil.copyfile(archive.with_name("archive.db-wal"), being_made.path / "copy.db")
    (left,) = purge(archive, session, archive.parent).left
    assert left.path == being_made.path / "copy.db"
    assert "delete" in left.why
    being_made.remove()
