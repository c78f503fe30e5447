"""Turns that only one loom still had, in a log that another has gone on without: they come back, in order and once."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from loom.archive import NewTurn
from loom.archive.check import check
from loom.archive.database import connect
from loom.archive.purge import purge
from loom.archive.records import NewSession
from loom.archive.spool import Spool
from loom.config import Settings
from loom.cowork.elsewhere import Claim
from loom.cowork.events import Event
from loom.cowork.recorder import Recorder
from loom.cowork.workbench import Workbench
from loom.locations import Locations
from tests.support.keeper import Keeper

SAVED = [f"saved {n} " + "s" * 300 for n in range(20)]
LOST = [f"lost {n} " + "l" * 300 for n in range(20)] + ["x" * 20_000]
OTHER = [f"other {n} " + "o" * 300 for n in range(20)]


@pytest.fixture
def locations(tmp_path: Path) -> Locations:
    found = Locations(tmp_path / "home", tmp_path / "config.toml")
    found.prepare()
    return found


def _strand(one: Keeper, archive: Path, meanwhile: Callable[[Keeper], None]) -> None:
    """`one` stands still while its log and index are removed and another loom goes on, with a log of its own."""
    one.stop()
    for ending in ("-wal", "-shm"):
        archive.with_name(f"{archive.name}{ending}").unlink()
    with Keeper(archive) as other:
        meanwhile(other)
        one.go_on()
        assert "kept beside the archive" in one.ask("hear")["said"][0]
        assert other.ask("close") == {"closed": True}


def _rows(archive: Path, session: str) -> int:
    """How many sessions of that id there are, halves as well."""
    with closing(connect(archive, readonly=True)) as connection:
        (rows,) = connection.execute("SELECT count(*) FROM cowork_sessions WHERE id = ?", (session,)).fetchone()
    return int(rows)


def _begin_one(other: Keeper) -> None:
    other.ask("append", other.ask("begin")["session"], OTHER)


async def _restored(locations: Locations, *sessions: str) -> list[list[str | None]]:
    """What the sessions hold once they were opened at the next start."""
    bench = await Workbench.open(locations, Settings())
    try:
        for session in sessions:
            recorder = Recorder(bench.store, bench.spool, _unheard, Claim(bench.store, lambda: None, bench.log_fault))
            recorder.session_id = session
            await recorder.restore()
        assert bench.spool.waiting() == []
        found = [await bench.store.get_turns(session, limit=1000) for session in sessions]
        for turns in found:
            assert [turn.turn_number for turn in turns] == list(range(1, len(turns) + 1))
            assert [turn.exchange for turn in turns] == sorted(turn.exchange for turn in turns)
        return [[turn.content for turn in turns] for turns in found]
    finally:
        await bench.close()


def _unheard(event: Event) -> None:
    """Nobody listens."""


@pytest.mark.parametrize("killed", [False, True])
async def test_they_come_back_with_the_session_that_was_begun_there(locations: Locations, killed: bool) -> None:
    with Keeper(locations.archive) as one:
        session = one.ask("begin")["session"]
        one.ask("append", session, LOST)
        _strand(one, locations.archive, _begin_one)
        if not killed:
            one.ask("close")
    assert session in await _sessions(locations)
    assert await _restored(locations, session) == [LOST]
    assert check(locations.archive).sound


async def test_they_come_back_behind_what_was_moved_before(locations: Locations) -> None:
    with Keeper(locations.archive) as one:
        session = one.ask("begin")["session"]
        one.ask("append", session, SAVED)
        assert one.ask("checkpoint") == {"whole": True}
        one.ask("append", session, LOST)
        _strand(one, locations.archive, _begin_one)
    assert await _restored(locations, session) == [SAVED + LOST]
    assert check(locations.archive).sound


async def test_they_come_behind_what_another_has_said_there_since(locations: Locations) -> None:
    with Keeper(locations.archive) as one:
        session = one.ask("begin")["session"]
        one.ask("append", session, SAVED)
        assert one.ask("checkpoint") == {"whole": True}
        one.ask("append", session, LOST)
        _strand(one, locations.archive, lambda other: other.ask("append", session, OTHER) and None)
    assert await _restored(locations, session) == [SAVED + OTHER + LOST]
    assert check(locations.archive).sound


def _talk_in_a_fork(one: Keeper, *, leased: bool) -> tuple[str, str]:
    """A session and a fork of it, of which the first half is in the database and nothing else; LOST is said in it."""
    session = one.ask("begin")["session"]
    one.ask("append", session, SAVED)
    fork = one.ask("fork", session, len(SAVED) // 2)["fork"]
    if leased:
        one.ask("lease", fork)
    one.ask("append", fork, LOST)
    return session, fork


async def test_a_fork_whose_end_was_in_the_log_comes_back_whole(locations: Locations) -> None:
    with Keeper(locations.archive) as one:
        session, fork = _talk_in_a_fork(one, leased=True)
        _strand(one, locations.archive, _begin_one)
    assert await _restored(locations, session, fork) == [SAVED, SAVED + LOST]
    assert check(locations.archive).sound


async def test_a_fork_whose_beginning_was_taken_for_a_half_comes_back_whole(locations: Locations) -> None:
    with Keeper(locations.archive) as one:
        session, fork = _talk_in_a_fork(one, leased=False)

        def take_the_half_away(other: Keeper) -> None:
            _begin_one(other)
            while _rows(locations.archive, fork):
                other.ask("list")

        _strand(one, locations.archive, take_the_half_away)
    assert await _restored(locations, session, fork) == [SAVED, SAVED + LOST]
    bench = await Workbench.open(locations, Settings())
    found = await bench.store.get_session(fork)
    await bench.close()
    assert found is not None
    assert (found.parent_id, found.fork_turn, found.is_active) == (session, len(SAVED), True)
    assert check(locations.archive).sound


async def test_what_was_said_in_a_fork_comes_back_when_the_session_is_purged(locations: Locations) -> None:
    with Keeper(locations.archive) as one:
        session, fork = _talk_in_a_fork(one, leased=True)
        _strand(one, locations.archive, lambda _: purge(locations.archive, session, locations.home) and None)
    (restored,) = await _restored(locations, fork)
    assert restored[-len(LOST) :] == LOST
    assert check(locations.archive).sound


async def test_what_two_looms_had_in_the_same_log_comes_back_once(locations: Locations) -> None:
    with Keeper(locations.archive) as one, Keeper(locations.archive) as two:
        first, second = one.ask("begin")["session"], two.ask("begin")["session"]
        one.ask("append", first, LOST)
        two.ask("append", second, LOST)
        two.stop()
        _strand(one, locations.archive, _begin_one)
        two.go_on()
        assert "kept beside the archive" in two.ask("hear")["said"][0]
    assert await _restored(locations, first, second) == [LOST, LOST]
    assert check(locations.archive).sound


async def test_files_that_are_put_back_do_not_mix_the_two(locations: Locations, tmp_path: Path) -> None:
    with Keeper(locations.archive) as one:
        session = one.ask("begin")["session"]
        one.ask("append", session, LOST)
        one.stop()
        for ending in ("-wal", "-shm"):
            file = locations.archive.with_name(f"{locations.archive.name}{ending}")
            file.rename(tmp_path / file.name)
        with Keeper(locations.archive) as other:
            own = other.ask("begin")["session"]
            other.ask("append", own, OTHER)
            one.go_on()
            assert "kept beside the archive" in one.ask("hear")["said"][0]
            assert other.ask("close") == {"closed": True}
        for ending in ("-wal", "-shm"):
            file = locations.archive.with_name(f"{locations.archive.name}{ending}")
            (tmp_path / file.name).replace(file)
        assert "kept beside the archive" in one.ask("append", session, SAVED)["error"]
        # Away with the lost log again, before the next start.
        for ending in ("-wal", "-shm"):
            locations.archive.with_name(f"{locations.archive.name}{ending}").unlink(missing_ok=True)
    assert await _restored(locations, own, session) == [OTHER, LOST]
    assert check(locations.archive).sound


async def test_what_cannot_come_back_now_keeps_nothing_else_from_it(locations: Locations) -> None:
    with Keeper(locations.archive) as one:
        session = one.ask("begin")["session"]
        one.ask("append", session, SAVED)
        one.ask("close")
    new = NewSession(
        id=str(uuid.uuid4()),
        reference="k3f9",
        title="",
        workspace_path="/w",
        workspace_commit=None,
        model_name="offline",
        system_prompt="",
        started_at="2026-01-02T03:04:05.000006Z",
        parent_id=None,
        fork_turn=None,
    )
    fork = replace(new, id=str(uuid.uuid4()), reference="m2p4", parent_id=session, fork_turn=20, copied=20)
    spool = Spool(locations.spool)
    for begun, said in (fork, "in the fork"), (new, "in the new one"):
        spool.put(begun.id, [NewTurn(role="user", content=said)], begun)
    spool.close()
    in_the_way = locations.home / "leases" / f"{fork.id}.lease"
    in_the_way.parent.mkdir(mode=0o700, exist_ok=True)
    in_the_way.mkdir()
    assert await _sessions(locations) == {session, new.id}
    in_the_way.rmdir()
    assert await _sessions(locations) == {session, new.id, fork.id}
    assert await _restored(locations, new.id, fork.id) == [["in the new one"], [*SAVED, "in the fork"]]
    assert check(locations.archive).sound


async def _sessions(locations: Locations) -> set[str]:
    """Those that are there after a start."""
    bench = await Workbench.open(locations, Settings())
    try:
        return {found.id for found in await bench.store.list_sessions()}
    finally:
        await bench.close()
