"""A backup in the archive's place is read as it is, whatever log was left beside it."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from loom.archive.backups import create_backup
from loom.archive.check import check
from loom.archive.salvage import recover
from tests.support.keeper import Keeper

BEFORE = [f"before {n} " + "x" * 500 for n in range(30)]
AFTER = [f"after {n} " + "y" * 500 for n in range(30)]


@pytest.mark.parametrize("killed", [False, True])
@pytest.mark.parametrize("replaced", [False, True])
async def test_a_backup_in_its_place_is_opened_without_the_log_of_what_was_there(
    archive_path: Path, replaced: bool, killed: bool
) -> None:
    with Keeper(archive_path) as keeper:
        session = keeper.ask("begin")["session"]
        keeper.ask("append", session, BEFORE)
        backup = create_backup(archive_path).path
        keeper.ask("append", session, AFTER)
        if replaced:
            copy = archive_path.with_name("copy")
            shutil.copy(backup, copy)
            copy.replace(archive_path)
        else:
            archive_path.unlink()
        assert "put a backup" in keeper.ask("append", session, AFTER)["error"]
        if not killed:
            keeper.ask("close")
    if not replaced:
        shutil.copy(backup, archive_path)
    with Keeper(archive_path) as keeper:
        assert keeper.ask("read", session) == {"texts": BEFORE}
        assert keeper.ask("append", session, AFTER[:1]) == {"numbers": [31]}
    report = check(archive_path)
    assert report.sound, report
    (kept,) = archive_path.parent.glob("*-wal-replaced-*")
    assert any(str(kept) in remark for remark in report.remarks)


async def test_a_backup_that_is_only_read_is_read_without_it_as_well(archive_path: Path) -> None:
    with Keeper(archive_path) as keeper:
        session = keeper.ask("begin")["session"]
        keeper.ask("append", session, BEFORE)
        backup = create_backup(archive_path).path
        keeper.ask("append", session, AFTER)
    backup.replace(archive_path)
    assert check(archive_path).turns == len(BEFORE)


async def test_what_was_recovered_is_opened_in_its_place_without_that_log_too(archive_path: Path) -> None:
    recovered = archive_path.with_name("recovered.db")
    with Keeper(archive_path) as keeper:
        session = keeper.ask("begin")["session"]
        keeper.ask("append", session, BEFORE)
    assert recover(archive_path, recovered).turns == len(BEFORE)
    recovered.replace(archive_path)
    with Keeper(archive_path) as keeper:
        assert keeper.ask("read", session) == {"texts": BEFORE}
        assert keeper.ask("append", session, AFTER[:1]) == {"numbers": [31]}
    assert check(archive_path).sound
    assert list(archive_path.parent.glob("*-wal-replaced-*"))


async def test_the_log_of_a_killed_loom_is_its_own(archive_path: Path) -> None:
    with Keeper(archive_path) as keeper:
        session = keeper.ask("begin")["session"]
        keeper.ask("append", session, BEFORE)
    assert archive_path.with_name(f"{archive_path.name}-wal").stat().st_size
    with Keeper(archive_path) as keeper:
        assert keeper.ask("read", session) == {"texts": BEFORE}
    assert not list(archive_path.parent.glob("*-replaced-*"))


def _copy_as_another_program_does(archive: Path, copy: Path) -> None:
    """In a process of its own: in this one it would cost SQLite its locks."""
    subprocess.run(["cp", str(archive), str(copy)], check=True)


def _fill(keeper: Keeper, rounds: int = 3) -> str:
    """A session with turns in the database and in the log."""
    session: str = keeper.ask("begin")["session"]
    for n in range(rounds):
        keeper.ask("append", session, [f"round {n}, turn {m} " + "x" * 500 for m in range(40)])
        assert keeper.ask("checkpoint") == {"whole": True}
    return session


@pytest.mark.parametrize("killed_with", ["more turns", "other sessions", "few turns"])
@pytest.mark.parametrize("in_place", [False, True])
async def test_an_earlier_copy_of_an_archive_in_use_is_opened_without_the_later_log(
    archive_path: Path, tmp_path: Path, killed_with: str, in_place: bool
) -> None:
    copy = tmp_path / "copy.db"
    with Keeper(archive_path) as keeper:
        session = _fill(keeper)
        _copy_as_another_program_does(archive_path, copy)
        kept = keeper.ask("read", session)["texts"]
        keeper.ask("append", session, BEFORE)
        keeper.ask("append", _fill(keeper), BEFORE)
        if killed_with == "more turns":
            keeper.ask("append", session, AFTER)
        elif killed_with == "few turns":
            keeper.ask("append", session, AFTER[:1])
        else:
            keeper.ask("append", keeper.ask("begin")["session"], AFTER)
    if not in_place:
        archive_path.unlink()
    _copy_as_another_program_does(copy, archive_path)
    with Keeper(archive_path) as keeper:
        assert keeper.ask("list") == {"sessions": [session]}
        assert keeper.ask("read", session) == {"texts": kept}
        assert keeper.ask("append", session, AFTER[:1]) == {"numbers": [len(kept) + 1]}
    report = check(archive_path)
    assert report.sound, report
    (aside,) = archive_path.parent.glob("*-wal-replaced-*")
    assert any(str(aside) in remark for remark in report.remarks)


async def test_a_copy_is_opened_without_the_log_of_an_archive_that_was_begun_anew(
    archive_path: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.db"
    with Keeper(archive_path) as keeper:
        session = _fill(keeper)
        kept = keeper.ask("read", session)["texts"]
        _copy_as_another_program_does(archive_path, copy)
    for file in archive_path.parent.glob("archive.db*"):
        file.unlink()
    with Keeper(archive_path) as keeper:
        keeper.ask("append", keeper.ask("begin")["session"], AFTER)
    # Every page of the new one is in its log, as if somebody had written them all.
    with closing(sqlite3.connect(archive_path, isolation_level=None)) as connection:
        connection.execute("VACUUM")
        shutil.copy(copy, tmp_path / "again.db")
        (tmp_path / "again.db").replace(archive_path)
    with Keeper(archive_path) as keeper:
        assert keeper.ask("list") == {"sessions": [session]}
        assert keeper.ask("read", session) == {"texts": kept}
    assert check(archive_path).sound


@pytest.mark.parametrize("how", ["cp", "cp -a", "mv"])
async def test_the_log_of_a_killed_loom_goes_with_its_home_wherever_that_is_put(
    archive_path: Path, tmp_path: Path, how: str
) -> None:
    with Keeper(archive_path) as keeper:
        session = _fill(keeper)
        keeper.ask("append", session, AFTER)
        kept = keeper.ask("read", session)["texts"]
    home = tmp_path / "elsewhere"
    command = [*how.split(), *(["-r"] if how == "cp" else []), str(archive_path.parent), str(home)]
    subprocess.run(command, check=True)
    with Keeper(home / archive_path.name) as keeper:
        assert keeper.ask("read", session) == {"texts": kept}
    assert not list(home.glob("*-replaced-*"))


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
async def test_the_log_of_a_loom_that_was_killed_while_it_was_moved_is_its_own(
    archive_path: Path, tmp_path: Path, share: float
) -> None:
    whole = tmp_path / "whole.db"
    with Keeper(archive_path) as keeper:
        session = _fill(keeper)
        keeper.ask("append", session, AFTER)
        kept = keeper.ask("read", session)["texts"]
    log, moved = archive_path.with_name("archive.db-wal"), whole.with_name("whole.db-wal")
    shutil.copy(archive_path, whole)
    shutil.copy(log, moved)
    with closing(sqlite3.connect(whole)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    # As far as it had come: some pages are the new ones, the others as they were.
    pages = max(len(whole.read_bytes()), archive_path.stat().st_size) // 4096
    new, old = whole.read_bytes(), archive_path.read_bytes()
    upto = int(pages * share) * 4096
    archive_path.write_bytes(new[:upto] + old[upto:])
    with Keeper(archive_path) as keeper:
        assert keeper.ask("read", session) == {"texts": kept}
    report = check(archive_path)
    assert report.sound, report
    assert not list(archive_path.parent.glob("*-replaced-*"))
