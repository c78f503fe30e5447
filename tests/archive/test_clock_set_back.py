"""A clock that is set back, while loom runs or between two runs, changes no order and loses nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from loom.archive import ConversationStore
from loom.archive.backups import KEPT_AUTOMATIC, automatic_backups, back_up_regularly
from loom.archive.check import check
from tests.support.keeper import Keeper

_LIBRARY = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))), None)

EARLY, LATE = [f"early {n}" for n in range(5)], [f"late {n}" for n in range(5)]
DAYS = 30

faked = pytest.mark.skipif(_LIBRARY is None, reason="libfaketime is not installed")


@pytest.fixture
def clock(tmp_path: Path) -> Path:
    """The file that says how far the clock of a process is off."""
    file = tmp_path / "clock"
    file.write_text("+0\n")
    return file


def _keeper(archive: Path, clock: Path, *, is_watched: bool) -> Keeper:
    """A process with that clock. Where `is_watched` says so it sees at once that the clock was set: the file is read
    whenever the time is asked for, which takes several times as long."""
    return Keeper(
        archive,
        LD_PRELOAD=str(_LIBRARY),
        FAKETIME_TIMESTAMP_FILE=str(clock),
        FAKETIME_NO_CACHE="1" if is_watched else "0",
        FAKETIME_DONT_FAKE_MONOTONIC="1",
        # With it threads that wait for their turn spin.
        FAKETIME_FORCE_MONOTONIC_FIX="0",
    )


@faked
@pytest.mark.parametrize("between_runs", [False, True])
async def test_turns_keep_their_order_and_their_numbers(archive_path: Path, clock: Path, between_runs: bool) -> None:
    keeper = _keeper(archive_path, clock, is_watched=not between_runs)
    session = keeper.ask("begin")["session"]
    assert keeper.ask("lease", session) == {"leased": True}
    keeper.ask("append", session, EARLY)
    clock.write_text(f"-{DAYS}d\n")
    if between_runs:
        keeper.kill()
        keeper = _keeper(archive_path, clock, is_watched=not between_runs)
        # The lease of the one that was killed is nobody's, whenever it was taken.
        assert keeper.ask("lease", session) == {"leased": True}
    with keeper:
        assert keeper.ask("append", session, LATE) == {"numbers": [6, 7, 8, 9, 10]}
        assert keeper.ask("read", session) == {"texts": EARLY + LATE}
        assert set(keeper.ask("find", session, "late")["found"]) == {6, 7, 8, 9, 10}
        ago = (datetime.now(UTC) - timedelta(days=DAYS // 2)).date()
        # By the time that the clock showed: what else could a date mean?
        assert set(keeper.ask("find", session, f"late before:{ago}")["found"]) == {6, 7, 8, 9, 10}
        assert keeper.ask("find", session, f"late after:{ago}")["found"] == []
        assert set(keeper.ask("find", session, f"early after:{ago}")["found"]) == {1, 2, 3, 4, 5}
    report = check(archive_path)
    assert report.sound, report
    store = await ConversationStore.open(archive_path)
    try:
        turns = await store.resume_session(session)
        assert [turn.content for turn in turns] == EARLY + LATE
        assert turns[0].created_at > turns[-1].created_at, "the clock was not set back"
    finally:
        await store.close()


async def test_a_backup_from_the_future_holds_none_up(store: ConversationStore) -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    for n in range(KEPT_AUTOMATIC):
        assert back_up_regularly(store.path, today=now + timedelta(days=365 + n)) is not None
    made = [back_up_regularly(store.path, today=now + timedelta(days=n)) for n in range(KEPT_AUTOMATIC)]
    assert back_up_regularly(store.path, today=now + timedelta(days=KEPT_AUTOMATIC - 1, hours=3)) is None
    assert [path for _, path in automatic_backups(store.path)] == [backup.path for backup in made if backup is not None]
