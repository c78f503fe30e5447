"""A backup in the archive's place is read as it is, whatever log was left beside it."""

from __future__ import annotations

import shutil
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
