"""Files of the archive that are removed, renamed or replaced while loom has them open: nothing that was acknowledged is
lost, not even by a kill -9 right after."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from loom.archive import ArchiveUnavailable, ConversationStore, access, database
from loom.archive.check import check
from loom.archive.database import ArchiveConnection, connect
from loom.archive.errors import WriteFailed
from loom.archive.foldertimes import SETTLED_SECONDS
from tests.archive.file_harms import (
    AFTER,
    BEFORE,
    HARMS,
    UNOPENABLE,
    Harm,
    log_of,
    remove_both,
    remove_index,
    remove_log,
    replace_log_with_something,
    texts_of,
)
from tests.support.keeper import Keeper


@pytest.mark.parametrize("harm", HARMS + UNOPENABLE)
async def test_what_is_acknowledged_afterwards_survives_a_kill(archive_path: Path, harm: Harm) -> None:
    with Keeper(archive_path) as keeper:
        session = keeper.ask("begin")["session"]
        keeper.ask("append", session, BEFORE)
        harm(archive_path)
        assert keeper.ask("append", session, AFTER) == {"numbers": list(range(31, 61))}
        assert keeper.ask("read", session) == {"texts": BEFORE + AFTER}
    assert await texts_of(archive_path, session) == BEFORE + AFTER


def _append_until_it_is_still(keeper: Keeper, session: str, folder: Path) -> list[str]:
    """Turn after turn, as a session goes on, until the folder has long been as it is; what they say."""
    said: list[str] = []
    while not said or time.time_ns() - folder.stat().st_ctime_ns <= 2 * SETTLED_SECONDS * 1e9:
        said.append(f"meanwhile {len(said)}")
        keeper.ask("append", session, said[-1:])
    return said


@pytest.mark.parametrize("harm", HARMS + UNOPENABLE)
async def test_in_a_folder_that_has_long_been_still_it_is_noticed_as_soon(archive_path: Path, harm: Harm) -> None:
    with Keeper(archive_path) as keeper:
        session = keeper.ask("begin")["session"]
        before = _append_until_it_is_still(keeper, session, archive_path.parent)
        harm(archive_path)
        first = len(before) + 1
        assert keeper.ask("append", session, AFTER) == {"numbers": list(range(first, first + len(AFTER)))}
    assert await texts_of(archive_path, session) == before + AFTER


@pytest.mark.parametrize("harm", HARMS + UNOPENABLE)
async def test_it_is_noticed_and_told_while_nobody_writes(archive_path: Path, harm: Harm) -> None:
    with Keeper(archive_path) as keeper:
        session = keeper.ask("begin")["session"]
        keeper.ask("append", session, BEFORE)
        harm(archive_path)
        (said,) = keeper.ask("hear")["said"]
        assert "removed or replaced while loom had the archive open" in said
        assert "No turn is lost" in said
    assert await texts_of(archive_path, session) == BEFORE


@pytest.mark.parametrize("harm", HARMS + UNOPENABLE)
async def test_an_end_in_order_loses_nothing(archive_path: Path, harm: Harm) -> None:
    with Keeper(archive_path) as keeper:
        session = keeper.ask("begin")["session"]
        keeper.ask("append", session, BEFORE)
        harm(archive_path)
        assert keeper.ask("close") == {"closed": True}
    assert await texts_of(archive_path, session) == BEFORE


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
        assert await texts_of(archive_path, session) == BEFORE + AFTER


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
    assert await texts_of(archive_path, session) == BEFORE + AFTER
    assert await texts_of(archive_path, own) == AFTER


async def test_one_that_starts_while_another_puts_the_log_right_is_started(
    archive_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await ConversationStore.open(archive_path)
    await store.close()
    log_of(archive_path).symlink_to(archive_path.with_name("elsewhere"))
    looks = []

    def put_right_before_it_is_looked_at(connection: ArchiveConnection, path: Path) -> bool:
        if not looks:
            log_of(path).unlink()
        looks.append(path)
        return is_astray(connection, path)

    is_astray = database._is_astray
    monkeypatch.setattr(database, "_is_astray", put_right_before_it_is_looked_at)
    with closing(connect(archive_path)) as connection:
        assert connection.execute("SELECT count(*) FROM cowork_sessions").fetchone() == (0,)
    assert looks


async def test_one_that_starts_beside_a_link_in_the_logs_place_says_that_it_cannot(archive_path: Path) -> None:
    store = await ConversationStore.open(archive_path)
    await store.close()
    log_of(archive_path).symlink_to(archive_path.with_name("elsewhere"))
    with pytest.raises(ArchiveUnavailable):
        connect(archive_path)


async def test_what_was_put_in_the_logs_place_is_kept_and_told_of(archive_path: Path) -> None:
    with Keeper(archive_path) as keeper:
        session = keeper.ask("begin")["session"]
        keeper.ask("append", session, BEFORE)
        replace_log_with_something(archive_path)
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
        remove_both(archive_path)
        keeper.ask("append", session, ["zebras again"])
        assert set(keeper.ask("find", session, "zebras")["found"]) == {1, 3}


@pytest.mark.parametrize("harm", [remove_index, remove_both])
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
        remove_index(store.path)
        with pytest.raises(WriteFailed, match="another part of this loom still reads"):
            await store.append_turn(session, "user", AFTER[0])
        assert [turn.content for turn in await store.get_turns(session)] == BEFORE[:1]
    assert await store.append_turn(session, "user", AFTER[0]) == 2


@pytest.mark.parametrize("harm", [remove_log, remove_index, remove_both])
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
        os.truncate(log_of(archive_path), 0)
        refused = keeper.ask("append", session, AFTER)
        assert "was emptied or overwritten by another program" in refused["error"]
        assert "nothing was stored. What only that log held is lost" in refused["error"]
