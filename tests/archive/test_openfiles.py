"""Files of the archive that are removed, renamed or replaced while loom has them open: nothing that was acknowledged is
lost, not even by a kill -9 right after."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from loom.archive import ArchiveUnavailable, ConversationStore, access, sessions
from loom.archive.check import check
from loom.archive.database import connect
from loom.archive.errors import WriteFailed
from loom.archive.foldertimes import SETTLED_SECONDS
from tests.support.keeper import Keeper

BEFORE = [f"before {n} " + "x" * 500 for n in range(30)]
AFTER = [f"after {n} " + "y" * 500 for n in range(30)]

Harm = Callable[[Path], None]


def _log(archive: Path) -> Path:
    return archive.with_name(f"{archive.name}-wal")


def _index(archive: Path) -> Path:
    return archive.with_name(f"{archive.name}-shm")


def _remove_log(archive: Path) -> None:
    _log(archive).unlink()


def _rename_log(archive: Path) -> None:
    _log(archive).rename(archive.with_name("elsewhere"))


def _replace_log_with_a_copy(archive: Path) -> None:
    copy = archive.with_name("copy")
    shutil.copy(_log(archive), copy)
    copy.replace(_log(archive))


def _replace_log_with_something(archive: Path) -> None:
    other = archive.with_name("other")
    other.write_bytes(b"something else" * 1000)
    other.replace(_log(archive))


def _remove_index(archive: Path) -> None:
    _index(archive).unlink()


def _remove_both(archive: Path) -> None:
    _remove_log(archive)
    _remove_index(archive)


def _remove_all_beside_it(archive: Path) -> None:
    for file in archive.parent.glob(f"{archive.name}-*"):
        file.unlink()


def _put_a_link_in_the_logs_place(archive: Path) -> None:
    _rename_log(archive)
    _log(archive).symlink_to(archive.with_name("elsewhere"))


def _put_a_link_in_the_indexes_place(archive: Path) -> None:
    _index(archive).rename(archive.with_name("elsewhere"))
    _index(archive).symlink_to(archive.with_name("elsewhere"))


def _put_folders_in_the_place_of_both(archive: Path) -> None:
    _remove_both(archive)
    _log(archive).mkdir()
    _index(archive).mkdir()


HARMS = [
    _remove_log,
    _rename_log,
    _replace_log_with_a_copy,
    _replace_log_with_something,
    _remove_index,
    _remove_both,
    _remove_all_beside_it,
    _put_a_link_in_the_logs_place,
]
UNOPENABLE = [_put_a_link_in_the_indexes_place, _put_folders_in_the_place_of_both]
"""Nobody else can open the archive until the one that has it open has looked."""


async def _texts(archive: Path, session: str) -> list[str | None]:
    """What is there, in an archive that is whole."""
    report = check(archive)
    assert report.sound, report
    store = await ConversationStore.open(archive)
    try:
        return [turn.content for turn in await store.get_turns(session, limit=1000)]
    finally:
        await store.close()


@pytest.mark.parametrize("harm", HARMS + UNOPENABLE)
async def test_what_is_acknowledged_afterwards_survives_a_kill(archive_path: Path, harm: Harm) -> None:
    with Keeper(archive_path) as keeper:
        session = keeper.ask("begin")["session"]
        keeper.ask("append", session, BEFORE)
        harm(archive_path)
        assert keeper.ask("append", session, AFTER) == {"numbers": list(range(31, 61))}
        assert keeper.ask("read", session) == {"texts": BEFORE + AFTER}
    assert await _texts(archive_path, session) == BEFORE + AFTER


def _wait_until_it_is_still(folder: Path) -> None:
    while time.time_ns() - folder.stat().st_ctime_ns <= 2 * SETTLED_SECONDS * 1e9:
        pass


@pytest.mark.parametrize("harm", HARMS + UNOPENABLE)
async def test_in_a_folder_that_has_long_been_still_it_is_noticed_as_soon(archive_path: Path, harm: Harm) -> None:
    with Keeper(archive_path) as keeper:
        session = keeper.ask("begin")["session"]
        keeper.ask("append", session, BEFORE[:1])
        _wait_until_it_is_still(archive_path.parent)
        keeper.ask("append", session, BEFORE[1:])
        harm(archive_path)
        assert keeper.ask("append", session, AFTER) == {"numbers": list(range(31, 61))}
    assert await _texts(archive_path, session) == BEFORE + AFTER


@pytest.mark.parametrize("harm", HARMS + UNOPENABLE)
async def test_it_is_noticed_and_told_while_nobody_writes(archive_path: Path, harm: Harm) -> None:
    with Keeper(archive_path) as keeper:
        session = keeper.ask("begin")["session"]
        keeper.ask("append", session, BEFORE)
        harm(archive_path)
        (said,) = keeper.ask("hear")["said"]
        assert "removed or replaced while loom had the archive open" in said
        assert "No turn is lost" in said
    assert await _texts(archive_path, session) == BEFORE


@pytest.mark.parametrize("harm", HARMS + UNOPENABLE)
async def test_an_end_in_order_loses_nothing(archive_path: Path, harm: Harm) -> None:
    with Keeper(archive_path) as keeper:
        session = keeper.ask("begin")["session"]
        keeper.ask("append", session, BEFORE)
        harm(archive_path)
        assert keeper.ask("close") == {"closed": True}
    assert await _texts(archive_path, session) == BEFORE


@pytest.mark.parametrize("harm", HARMS + UNOPENABLE)
async def test_two_looms_go_on_side_by_side(archive_path: Path, harm: Harm) -> None:
    with Keeper(archive_path) as one, Keeper(archive_path) as other:
        first, second = one.ask("begin")["session"], other.ask("begin")["session"]
        one.ask("append", first, BEFORE)
        other.ask("append", second, BEFORE)
        harm(archive_path)
        for start in range(0, len(AFTER), 3):
            assert "numbers" in one.ask("append", first, AFTER[start : start + 3])
            assert "numbers" in other.ask("append", second, AFTER[start : start + 3])
        assert one.ask("read", second) == {"texts": BEFORE + AFTER}
        assert other.ask("read", first) == {"texts": BEFORE + AFTER}
    for session in (first, second):
        assert await _texts(archive_path, session) == BEFORE + AFTER


@pytest.mark.parametrize("harm", HARMS)
async def test_one_that_is_started_right_afterwards_sees_and_harms_nothing(archive_path: Path, harm: Harm) -> None:
    with Keeper(archive_path) as one:
        session = one.ask("begin")["session"]
        one.ask("append", session, BEFORE)
        harm(archive_path)
        with Keeper(archive_path) as other:
            assert other.ask("read", session) == {"texts": BEFORE}
            own = other.ask("begin")["session"]
            for start in range(0, len(AFTER), 3):
                assert "numbers" in other.ask("append", own, AFTER[start : start + 3])
                assert "numbers" in one.ask("append", session, AFTER[start : start + 3])
    assert await _texts(archive_path, session) == BEFORE + AFTER
    assert await _texts(archive_path, own) == AFTER


async def test_what_was_put_in_the_logs_place_is_kept_and_told_of(archive_path: Path) -> None:
    with Keeper(archive_path) as keeper:
        session = keeper.ask("begin")["session"]
        keeper.ask("append", session, BEFORE)
        _replace_log_with_something(archive_path)
        keeper.ask("append", session, AFTER)
        keeper.ask("close")
    (kept,) = archive_path.parent.glob("*-replaced-*")
    assert kept.read_bytes() == b"something else" * 1000
    assert any(str(kept) in remark for remark in check(archive_path).remarks)


async def test_searching_goes_on(archive_path: Path) -> None:
    with Keeper(archive_path) as keeper:
        session = keeper.ask("begin")["session"]
        keeper.ask("append", session, ["about zebras", "about lions"])
        assert keeper.ask("find", session, "zebras") == {"found": [1]}
        _remove_both(archive_path)
        keeper.ask("append", session, ["zebras again"])
        assert set(keeper.ask("find", session, "zebras")["found"]) == {1, 3}


async def test_nobody_goes_on_without_the_log_that_a_stopped_one_has(archive_path: Path) -> None:
    with Keeper(archive_path) as one:
        session = one.ask("begin")["session"]
        one.ask("append", session, BEFORE)
        one.stop()
        _remove_log(archive_path)
        with pytest.raises(ArchiveUnavailable, match="Let that loom go on"):
            await ConversationStore.open(archive_path)
        one.go_on()
        assert one.ask("append", session, AFTER) == {"numbers": list(range(31, 61))}
    assert await _texts(archive_path, session) == BEFORE + AFTER


async def test_two_logs_are_never_mixed(archive_path: Path) -> None:
    with Keeper(archive_path) as one:
        session = one.ask("begin")["session"]
        one.ask("append", session, BEFORE)
        one.stop()
        _remove_both(archive_path)
        # Nothing tells a newcomer of the log that has no name.
        with Keeper(archive_path) as other:
            assert "numbers" in other.ask("append", other.ask("begin")["session"], AFTER)
            one.go_on()
            refused = one.ask("append", session, AFTER)
            assert "another loom has begun new ones: nothing was stored" in refused["error"]
            assert "What only this loom has is kept beside the archive" in refused["error"]
            assert one.ask("read", session) == {"texts": BEFORE}
            assert "error" in one.ask("append", session, AFTER)
            assert "numbers" in other.ask("append", other.ask("begin")["session"], AFTER)
            assert one.ask("close") == {"closed": True}
    assert check(archive_path).sound


async def test_one_that_only_watched_goes_on_when_the_other_has_had_all_files_removed(archive_path: Path) -> None:
    with Keeper(archive_path) as one, Keeper(archive_path) as other:
        first, second = one.ask("begin")["session"], other.ask("begin")["session"]
        one.ask("append", first, BEFORE)
        one.stop()
        for harm in (_remove_log, _remove_index):
            harm(archive_path)
            assert "numbers" in other.ask("append", second, AFTER)
        one.go_on()
        assert one.ask("append", first, AFTER) == {"numbers": list(range(31, 61))}
        assert one.ask("read", second) == {"texts": AFTER + AFTER}
    assert await _texts(archive_path, first) == BEFORE + AFTER
    assert await _texts(archive_path, second) == AFTER + AFTER


@pytest.mark.parametrize("harm", [_remove_index, _remove_both])
async def test_a_write_waits_for_whatever_else_reads_here(store: ConversationStore, session: str, harm: Harm) -> None:
    told: list[str] = []
    store.tell_of_files(lambda error: told.append(str(error)))
    await store.append_turn(session, "user", BEFORE[0])
    reads = connect(store.path, readonly=True)
    harm(store.path)
    writing = asyncio.create_task(store.append_turn(session, "user", AFTER[0]))
    ended, _ = await asyncio.wait({writing}, timeout=1.0)
    reads.close()
    assert not ended
    assert await writing == 2
    assert len(told) == 1
    assert await store.append_turn(session, "user", AFTER[1]) == 3


async def test_of_what_reads_on_and_on_it_is_told(
    store: ConversationStore, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "RELEASE_SECONDS", 0.0)
    await store.append_turn(session, "user", BEFORE[0])
    with closing(connect(store.path, readonly=True)):
        _remove_index(store.path)
        with pytest.raises(WriteFailed, match="another part of this loom still reads"):
            await store.append_turn(session, "user", AFTER[0])
        assert [turn.content for turn in await store.get_turns(session)] == BEFORE[:1]
    assert await store.append_turn(session, "user", AFTER[0]) == 2


@pytest.mark.parametrize("harm", [_remove_log, _remove_index, _remove_both])
async def test_a_search_in_the_middle_brings_no_old_file_back(
    store: ConversationStore, session: str, harm: Harm
) -> None:
    searching = True

    async def search() -> None:
        while searching:
            with suppress(ArchiveUnavailable):
                await store.search("before")

    await store.append_turn(session, "user", BEFORE[0])
    searches = [asyncio.create_task(search()) for _ in range(3)]
    try:
        for number in range(2, 10, 2):
            harm(store.path)
            assert await store.append_turn(session, "user", AFTER[0]) == number
            assert await store.append_turn(session, "user", AFTER[1]) == number + 1
    finally:
        searching = False
        await asyncio.gather(*searches)


async def test_a_log_that_was_emptied_is_told_of(archive_path: Path) -> None:
    with Keeper(archive_path) as keeper:
        session = keeper.ask("begin")["session"]
        keeper.ask("append", session, BEFORE)
        os.truncate(_log(archive_path), 0)
        refused = keeper.ask("append", session, AFTER)
        assert "was emptied or overwritten by another program" in refused["error"]
        assert "nothing was stored. What only that log held is lost" in refused["error"]


@pytest.mark.parametrize("replaced", [False, True])
async def test_without_the_database_nothing_is_acknowledged_and_all_of_it_goes_on_when_it_is_back(
    archive_path: Path, replaced: bool
) -> None:
    elsewhere = archive_path.with_name("elsewhere.db")
    with Keeper(archive_path) as keeper:
        session = keeper.ask("begin")["session"]
        keeper.ask("append", session, BEFORE)
        archive_path.rename(elsewhere)
        if replaced:
            archive_path.write_bytes(b"another file" * 1000)
        (said,) = keeper.ask("hear")["said"]
        how = "replaced by another file" if replaced else "removed or renamed"
        assert f"was {how} while loom had it open: nothing was stored" in said
        assert keeper.ask("append", session, AFTER) == {"error": said}
        assert keeper.ask("read", session) == {"texts": BEFORE}
        elsewhere.replace(archive_path)
        assert keeper.ask("append", session, AFTER) == {"numbers": list(range(31, 61))}
    assert await _texts(archive_path, session) == BEFORE + AFTER


async def test_what_is_refused_without_the_database_is_not_there_when_it_is_back(archive_path: Path) -> None:
    elsewhere = archive_path.with_name("elsewhere.db")
    with Keeper(archive_path) as keeper:
        session = keeper.ask("begin")["session"]
        keeper.ask("append", session, BEFORE)
        archive_path.rename(elsewhere)
        assert "nothing was stored" in keeper.ask("append", session, AFTER[:1])["error"]
        assert "nothing was stored" in keeper.ask("begin")["error"]
        elsewhere.rename(archive_path)
        assert keeper.ask("append", session, AFTER[:1]) == {"numbers": [31]}
        assert keeper.ask("list") == {"sessions": [session]}
    assert await _texts(archive_path, session) == [*BEFORE, AFTER[0]]


async def test_of_a_write_in_the_middle_of_which_the_database_went_it_is_said_that_nobody_knows(
    store: ConversationStore, session: str
) -> None:
    elsewhere = store.path.with_name("elsewhere.db")
    with closing(connect(store.path)) as connection:
        with pytest.raises(WriteFailed) as refused, connection.writing(1.0):
            sessions.rename_session(connection, session, "a name")
            store.path.rename(elsewhere)
        elsewhere.rename(store.path)
    assert "nothing was stored" not in str(refused.value)
    assert "may be stored" in str(refused.value)
    found = await store.get_session(session)
    assert found is not None and found.title == "a name"


async def test_an_end_while_the_database_is_away_loses_nothing(archive_path: Path) -> None:
    elsewhere = archive_path.with_name("elsewhere.db")
    with Keeper(archive_path) as keeper:
        session = keeper.ask("begin")["session"]
        keeper.ask("append", session, BEFORE)
        archive_path.rename(elsewhere)
        assert keeper.ask("close") == {"closed": True}
    elsewhere.rename(archive_path)
    assert await _texts(archive_path, session) == BEFORE


async def test_a_folder_that_is_moved_with_everything_in_it_goes_on(archive_path: Path) -> None:
    moved = archive_path.parent.with_name("moved")
    with Keeper(archive_path) as keeper:
        session = keeper.ask("begin")["session"]
        keeper.ask("append", session, BEFORE)
        archive_path.parent.rename(moved)
        assert keeper.ask("append", session, AFTER) == {"numbers": list(range(31, 61))}
    assert await _texts(moved / archive_path.name, session) == BEFORE + AFTER


async def test_one_goes_on_with_a_copy_of_its_log_that_another_has_gone_on_with(archive_path: Path) -> None:
    with Keeper(archive_path) as one:
        session = one.ask("begin")["session"]
        one.ask("append", session, BEFORE)
        one.stop()
        _replace_log_with_a_copy(archive_path)
        with Keeper(archive_path) as other:
            own = other.ask("begin")["session"]
            assert "numbers" in other.ask("append", own, AFTER)
            one.go_on()
            assert one.ask("append", session, AFTER) == {"numbers": list(range(31, 61))}
            assert one.ask("read", own) == {"texts": AFTER}
            assert other.ask("append", own, BEFORE) == {"numbers": list(range(31, 61))}
            assert other.ask("read", session) == {"texts": BEFORE + AFTER}
    assert await _texts(archive_path, session) == BEFORE + AFTER
    assert await _texts(archive_path, own) == AFTER + BEFORE


async def test_what_was_written_to_a_copy_of_the_log_outlives_both(archive_path: Path) -> None:
    with Keeper(archive_path) as one:
        session = one.ask("begin")["session"]
        one.ask("append", session, BEFORE)
        one.stop()
        _replace_log_with_a_copy(archive_path)
        with Keeper(archive_path) as other:
            own = other.ask("begin")["session"]
            assert "numbers" in other.ask("append", own, AFTER)
        one.go_on()
        assert "removed or replaced" in one.ask("hear")["said"][0]
    assert await _texts(archive_path, session) == BEFORE
    assert await _texts(archive_path, own) == AFTER


async def test_nobody_takes_an_earlier_copy_of_the_log_for_it(archive_path: Path) -> None:
    copy = archive_path.with_name("copy")
    with Keeper(archive_path) as one:
        session = one.ask("begin")["session"]
        one.ask("append", session, BEFORE)
        # The log keeps its length when it starts over: an earlier copy is no shorter.
        assert one.ask("checkpoint") == {"whole": True}
        one.ask("append", session, AFTER[:5])
        shutil.copy(_log(archive_path), copy)
        one.ask("append", session, AFTER[5:10])
        one.stop()
        assert copy.stat().st_size == _log(archive_path).stat().st_size
        copy.replace(_log(archive_path))
        with pytest.raises(ArchiveUnavailable, match="Let that loom go on"):
            await ConversationStore.open(archive_path)
        one.go_on()
        assert one.ask("append", session, AFTER[10:]) == {"numbers": list(range(41, 61))}
    assert await _texts(archive_path, session) == BEFORE + AFTER


@pytest.mark.parametrize("removed_again", [False, True])
async def test_two_logs_are_not_mixed_when_the_other_has_ended_meanwhile(
    archive_path: Path, removed_again: bool
) -> None:
    with Keeper(archive_path) as one:
        session = one.ask("begin")["session"]
        one.ask("append", session, BEFORE)
        one.stop()
        _remove_both(archive_path)
        with Keeper(archive_path) as other:
            own = other.ask("begin")["session"]
            assert "numbers" in other.ask("append", own, AFTER)
            assert other.ask("close") == {"closed": True}
        if removed_again:
            _remove_both(archive_path)
        one.go_on()
        assert "kept beside the archive" in one.ask("append", session, AFTER)["error"]
        assert one.ask("close") == {"closed": True}
    assert await _texts(archive_path, own) == AFTER


async def test_a_copy_that_another_wrote_to_after_it_was_put_aside_is_empty_and_nothing_is_lost(
    archive_path: Path,
) -> None:
    with Keeper(archive_path) as one:
        session = one.ask("begin")["session"]
        one.ask("append", session, BEFORE)
        one.stop()
        _replace_log_with_a_copy(archive_path)
        with closing(connect(archive_path)) as other:
            one.go_on()
            assert "removed or replaced" in one.ask("hear")["said"][0]
            assert one.ask("close") == {"closed": True}
            (kept,) = archive_path.parent.glob("*-replaced-*")
            assert kept.stat().st_size
            with other.writing(10.0):
                sessions.rename_session(other, session, "a name")
            assert kept.stat().st_size == 0
    assert await _texts(archive_path, session) == BEFORE
    with closing(connect(archive_path, readonly=True)) as found:
        assert found.execute("SELECT title FROM cowork_sessions").fetchall() == [("a name",)]
    assert any("holds nothing that is not in the archive" in remark for remark in check(archive_path).remarks)
