"""One writer a session, and the kernel knows when it is gone."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from loom.archive import ConversationStore, Draft, LeaseHeld, LeaseLost, NewTurn, UnknownSession
from loom.archive.database import connect
from loom.archive.leases import Leases
from tests.support.sealed import sealed

HOLD = """
import asyncio, sys
from loom.archive import ConversationStore

async def hold() -> None:
    store = await ConversationStore.open(sys.argv[1])
    await store.acquire_lease(sys.argv[2])
    print("held", flush=True)
    for line in sys.stdin:
        try:
            print(await store.append_turn(sys.argv[2], "user", line.strip()), flush=True)
        except Exception as error:
            print(type(error).__name__, flush=True)

asyncio.run(hold())
"""


def _start_holder(path: Path, session: str) -> subprocess.Popen[str]:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), session], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


def _ask(holder: subprocess.Popen[str], text: str) -> str:
    assert holder.stdin is not None
    assert holder.stdout is not None
    holder.stdin.write(f"{text}\n")
    holder.stdin.flush()
    return holder.stdout.readline().strip()


async def test_who_has_what_open_is_known_of_all_sessions_at_once(
    store: ConversationStore, other_store: ConversationStore, session: str
) -> None:
    mine, theirs = session, await store.create_session("/elsewhere", "offline", "")
    assert await store.get_lease_holders() == {}
    await store.acquire_lease(mine)
    lease = await other_store.acquire_lease(theirs)
    assert {id: (h.pid, h.since) for id, h in (await store.get_lease_holders()).items()} == {
        theirs: (os.getpid(), lease.since)
    }
    assert list(await other_store.get_lease_holders()) == [mine]
    await store.acquire_lease(theirs, take_over=True)
    assert await store.get_lease_holders() == {}, "what was taken over is nobody else's"
    assert sorted(await other_store.get_lease_holders()) == sorted([mine, theirs])
    await store.release_lease(theirs)
    assert list(await other_store.get_lease_holders()) == [mine]


async def test_the_lock_files_of_killed_processes_go_at_the_next_start(store: ConversationStore, session: str) -> None:
    left = await store.create_session("/elsewhere", "offline", "")
    killed, living = _start_holder(store.path, left), _start_holder(store.path, session)
    with killed, living:
        killed.kill()
        killed.wait()
        folder = store.path.parent / "leases"
        (folder / f"{left}.taking").touch()
        assert {path.name for path in folder.iterdir()} == {
            "lock",
            f"{left}.lease",
            f"{left}.taking",
            f"{session}.lease",
        }
        other = await ConversationStore.open(store.path)
        assert other._leftovers.tidying is not None
        await other._leftovers.tidying
        assert {path.name for path in folder.iterdir()} == {"lock", f"{session}.lease"}
        with pytest.raises(LeaseHeld):
            await other.acquire_lease(session)
        assert _ask(living, "goes on") == "1"
        await other.close()
        living.kill()


async def test_no_lease_is_given_twice_while_lock_files_are_removed(archive_path: Path, session: str) -> None:
    stores = [Leases(archive_path.parent / "leases") for _ in range(4)]
    got: list[bool] = []
    held = threading.Lock()

    def compete(leases: Leases) -> None:
        with closing(connect(archive_path)) as connection:
            while len(got) < 200:
                leases.remove_left()
                try:
                    leases.acquire(connection, session, take_over=False)
                except LeaseHeld:
                    continue
                alone = held.acquire(blocking=False)
                leases.remove_left()
                got.append(alone)
                if alone:
                    held.release()
                leases.release(session)

    threads = [threading.Thread(target=compete, args=(leases,)) for leases in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) >= 200
    assert all(got)


async def test_one_that_was_killed_has_nothing_open(store: ConversationStore, session: str) -> None:
    holder = _start_holder(store.path, session)
    assert [held.pid for held in (await store.get_lease_holders()).values()] == [holder.pid]
    holder.kill()
    holder.wait()
    assert (store.path.parent / "leases" / f"{session}.lease").exists()
    assert await store.get_lease_holders() == {}
    await store.acquire_lease(session)


async def test_a_second_store_is_told_who_has_it(
    store: ConversationStore, other_store: ConversationStore, session: str
) -> None:
    lease = await store.acquire_lease(session)
    with pytest.raises(LeaseHeld, match=f"process {os.getpid()}") as raised:
        await other_store.acquire_lease(session)
    assert (raised.value.pid, raised.value.host, raised.value.since) == (os.getpid(), lease.host, lease.since)
    holder = await other_store.get_lease_holder(session)
    assert holder is not None
    assert holder.pid == os.getpid()
    assert await store.get_lease_holder(session) is None


async def test_a_released_lease_is_free(store: ConversationStore, other_store: ConversationStore, session: str) -> None:
    first = await store.acquire_lease(session)
    await store.release_lease(session)
    assert await other_store.get_lease_holder(session) is None
    second = await other_store.acquire_lease(session)
    assert second.epoch > first.epoch


async def test_closing_gives_leases_back(store: ConversationStore, archive_path: Path, session: str) -> None:
    first = await ConversationStore.open(archive_path)
    await first.acquire_lease(session)
    await first.close()
    await store.acquire_lease(session)
    assert len([f for f in (archive_path.parent / "leases").iterdir() if f.suffix == ".lease"]) == 1


async def test_asking_again_gives_the_same_lease(store: ConversationStore, session: str) -> None:
    assert await store.acquire_lease(session) == await store.acquire_lease(session)


async def test_who_was_taken_over_stores_nothing_more(
    store: ConversationStore, other_store: ConversationStore, session: str
) -> None:
    await store.acquire_lease(session)
    await store.append_turn(session, "user", "before")
    await other_store.acquire_lease(session, take_over=True)
    for attempt in (
        store.append_turn(session, "user", "too late"),
        store.append_turns(session, [NewTurn(role="user", content="x")] * 300),
        store.save_draft(Draft(session_id=session, exchange=1, turns=(NewTurn(role="assistant", content="x"),))),
        store.update_session_state(session, {"stale": True}),
        store.update_model(session, "stale"),
    ):
        with pytest.raises(LeaseLost):
            await attempt
    await other_store.append_turn(session, "user", "after")
    with pytest.raises(LeaseLost):
        await store.append_turn(session, "user", "still too late")
    assert [turn.content for turn in await store.get_turns(session)] == ["before", "after"]
    found = await store.get_session(session)
    assert found is not None
    assert (found.session_state, found.model_name) == ("{}", "offline")
    fork = await store.fork_session(session)
    assert await store.append_turn(fork, "user", "goes on") == 3


async def test_a_third_store_sees_who_took_over(
    store: ConversationStore, other_store: ConversationStore, archive_path: Path, session: str
) -> None:
    await store.acquire_lease(session)
    taken = await other_store.acquire_lease(session, take_over=True)
    third = await ConversationStore.open(archive_path)
    with pytest.raises(LeaseHeld) as raised:
        await third.acquire_lease(session)
    assert raised.value.since == taken.since
    await store.release_lease(session)
    with pytest.raises(LeaseHeld):
        await third.acquire_lease(session)
    await other_store.release_lease(session)
    await third.acquire_lease(session)
    await third.close()


async def test_who_was_taken_over_asks_like_anybody_else(
    store: ConversationStore, other_store: ConversationStore, session: str
) -> None:
    await store.acquire_lease(session)
    await other_store.acquire_lease(session, take_over=True)
    with pytest.raises(LeaseHeld):
        await store.acquire_lease(session)
    await other_store.release_lease(session)
    await store.acquire_lease(session)
    assert await store.append_turn(session, "user", "back again") == 1


async def test_a_plain_append_beside_the_holder_does_not_break_it(
    store: ConversationStore, other_store: ConversationStore, session: str
) -> None:
    await store.acquire_lease(session)
    await store.append_turn(session, "user", "1")
    await other_store.append_turn(session, "user", "2")
    assert await store.append_turn(session, "user", "3") == 3


async def test_a_killed_process_leaves_its_session_free(
    store: ConversationStore, archive_path: Path, session: str
) -> None:
    holder = _start_holder(archive_path, session)
    try:
        with pytest.raises(LeaseHeld, match=f"process {holder.pid}"):
            await store.acquire_lease(session)
    finally:
        holder.kill()
        holder.communicate()
    await store.acquire_lease(session)
    assert await store.append_turn(session, "user", "free") == 1


async def test_another_process_learns_that_it_was_taken_over(
    store: ConversationStore, archive_path: Path, session: str
) -> None:
    holder = _start_holder(archive_path, session)
    try:
        assert _ask(holder, "mine") == "1"
        await store.acquire_lease(session, take_over=True)
        assert await store.append_turn(session, "user", "taken") == 2
        assert _ask(holder, "lost") == "LeaseLost"
    finally:
        holder.kill()
        holder.communicate()
    assert [turn.content for turn in await store.get_turns(session)] == ["mine", "taken"]


async def test_a_lease_needs_a_session(store: ConversationStore) -> None:
    with pytest.raises(UnknownSession):
        await store.acquire_lease("../../elsewhere")


async def test_the_one_that_lost_it_learns_that_and_who_has_it(
    store: ConversationStore, other_store: ConversationStore, session: str
) -> None:
    assert not await store.is_lease_lost(session)
    await store.acquire_lease(session)
    assert not await store.is_lease_lost(session) and not await other_store.is_lease_lost(session)
    lease = await other_store.acquire_lease(session, take_over=True)
    assert await store.is_lease_lost(session) and not await other_store.is_lease_lost(session)
    holder = await store.get_lease_holder(session)
    assert holder is not None and holder.since == lease.since
    await other_store.release_lease(session)
    assert await store.is_lease_lost(session)
    assert await store.get_lease_holder(session) is None
    await store.acquire_lease(session)
    assert not await store.is_lease_lost(session)


async def test_who_has_it_is_told_while_the_file_comes_and_goes(
    store: ConversationStore, other_store: ConversationStore, session: str
) -> None:
    leases = Leases(store.path.parent / "leases")
    with closing(connect(store.path)) as connection:
        leases.acquire(connection, session, take_over=False)
        await other_store.acquire_lease(session, take_over=True)
        file, done = store.path.parent / "leases" / f"{session}.lease", threading.Event()

        def come_and_go() -> None:
            while not done.is_set():
                file.touch()
                file.unlink()

        thread = threading.Thread(target=come_and_go)
        thread.start()
        try:
            told = [leases.holder(session) for _ in range(5_000)]
        finally:
            done.set()
            thread.join()
            leases.release_all()
        assert all(holder is None or holder.pid == os.getpid() for holder in told)


async def test_a_holder_that_has_not_said_who_it_is_holds_it_all_the_same(
    store: ConversationStore, other_store: ConversationStore, session: str
) -> None:
    await other_store.acquire_lease(session)
    file = store.path.parent / "leases" / f"{session}.lease"
    file.write_bytes(b"")
    with pytest.raises(LeaseHeld) as refused:
        await store.acquire_lease(session)
    assert refused.value.pid == 0
    assert (await store.get_lease_holders())[session].pid == 0


async def test_who_holds_it_is_told_whatever_stood_in_the_file_before(
    store: ConversationStore, other_store: ConversationStore, session: str
) -> None:
    await other_store.acquire_lease(session)
    file = store.path.parent / "leases" / f"{session}.lease"
    await other_store.release_lease(session)
    file.write_text('{"pid": 1, "host": "' + "h" * 500 + '", "since": "long ago"}')
    await other_store.acquire_lease(session)
    assert (await store.get_lease_holders())[session].pid == os.getpid()


async def test_who_holds_it_is_told_where_nothing_can_be_written(other_store: ConversationStore, session: str) -> None:
    await other_store.acquire_lease(session)
    folder = other_store.path.parent / "leases"
    with sealed(folder):
        assert list(Leases(folder).holders()) == [session]
        assert Leases(folder).holder(session) is not None
