"""A fork is there whole or not at all, however long the session is, and keeps nobody waiting for long."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from loom.archive import ConversationStore, LeaseHeld, NewTurn, UnknownSession, forks
from loom.archive.backups import create_backup
from loom.archive.check import check
from loom.archive.database import connect
from loom.archive.guard import ours
from loom.archive.leases import Leases
from loom.archive.purge import purge
from loom.archive.records import Lease
from loom.archive.removal import Share, take_away, take_row, unfinished
from loom.archive.salvage import recover
from loom.archive.search.index import is_sound
from tests.archive.test_appends import check_chain

FORK = """
import asyncio, sys
from loom.archive import ConversationStore, forks

path, session, at = sys.argv[1], sys.argv[2], int(sys.argv[3])
end_of_part = forks._end_of_part

def stop_half_way(connection, fork, after):
    if after >= at:
        print("half way", flush=True)
        sys.stdin.readline()
    return end_of_part(connection, fork, after)

forks.PART_TURNS, forks._end_of_part = 3, stop_half_way

async def main():
    store = await ConversationStore.open(path)
    await store.fork_session(session)
    await store.close()

asyncio.run(main())
"""


async def _talk(store: ConversationStore, session: str, turns: int) -> None:
    """A conversation in exchanges of four turns, with words that its index has in rows of several turns."""
    for first in range(1, turns + 1, 4):
        await store.append_turns(
            session,
            [
                NewTurn(
                    role="user" if n == first else "assistant",
                    content=f"the harbour of walnut{n} lies behind a lighthouse\0" + "é" * n,
                    token_count=n,
                    append_key=f"key {n}",
                )
                for n in range(first, min(first + 4, turns + 1))
            ],
        )


async def _read(path: Path, question: str) -> list[sqlite3.Row]:
    with closing(connect(path, readonly=True)) as connection:
        return connection.execute(question).fetchall()


def _halves(path: Path) -> list[tuple[str, int]]:
    """The forks that are not whole, and how many turns they have."""
    with closing(connect(path, readonly=True)) as connection:
        counts = dict(connection.execute("SELECT id, turn_count FROM cowork_sessions").fetchall())
        return [(half, counts[half]) for half in unfinished(connection)]


@contextmanager
def _cut_off(store: ConversationStore, session: str, at: int) -> Iterator[str]:
    """A fork in another process that has so many turns, or somewhat more, and gets no further; gives its id. In the end
    its process is killed."""
    with subprocess.Popen(
        [sys.executable, "-c", FORK, str(store.path), session, str(at)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "half way\n"
            ((half, count),) = _halves(store.path)
            assert at <= count < at + 3
            yield half
        finally:
            child.kill()


@pytest.fixture
async def long(store: ConversationStore, session: str) -> str:
    """A session of many parts."""
    await _talk(store, session, 600)
    return session


async def test_a_fork_in_parts_is_the_session_itself(
    store: ConversationStore, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _talk(store, session, 40)
    await store.append_turn(session, "tool", "\0" + "x" * 5_000, tool_name="read_file", tool_call_id="c1")
    await store.append_turn(
        session, "assistant", "the end", usage={"input_tokens": 7, "output_tokens": 2}, cost_usd=0.5
    )
    monkeypatch.setattr(forks, "PART_TURNS", 7)
    monkeypatch.setattr(forks, "PART_BYTES", 500)
    fork = await store.fork_session(session)
    source, copy = await store.get_session(session), await store.get_session(fork)
    assert source is not None
    assert copy is not None
    for name in ("turn_count", "exchange_count", "total_tokens", "cost_usd", "title", "focus", "session_state"):
        assert getattr(copy, name) == getattr(source, name), name
    assert (copy.is_active, copy.parent_id, copy.fork_turn) == (True, session, 42)
    assert await store.resolve_reference(copy.reference) == (await store.list_sessions())[0]
    turns = await store.get_turns(fork, limit=100)
    assert [(t.content, t.digest, t.exchange) for t in turns] == [
        (t.content, t.digest, t.exchange) for t in await store.get_turns(session, limit=100)
    ]
    report = check(store.path)
    assert report.sound, report.findings
    assert await store.append_turn(fork, "user", "on") == 43
    with closing(connect(store.path, readonly=True)) as connection:
        check_chain(await store.get_turns(fork, limit=100), connection, fork)


async def test_others_write_while_a_fork_is_made(
    store: ConversationStore, other_store: ConversationStore, long: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forks, "PART_TURNS", 2)
    other = await other_store.create_session(".", "offline", "")
    fork = asyncio.ensure_future(store.fork_session(long))
    for n in range(20):
        await other_store.append_turn(other, "user", f"meanwhile {n}")
        await store.append_turn(other, "user", f"and here {n}")
    assert not fork.done()
    assert [s.id for s in await other_store.list_sessions(include_inactive=True)] == [other, long]
    await store.append_turn(long, "user", "not in the fork")
    assert await store.get_turn_count(await fork) == 600


async def test_a_fork_is_carried_through_whoever_waits_for_it(
    store: ConversationStore, long: str, archive_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forks, "PART_TURNS", 10)
    waiting = asyncio.ensure_future(store.fork_session(long))
    while not _halves(archive_path):
        await store.get_turn_count(long)
    waiting.cancel()
    await store.close()
    assert await _read(archive_path, "SELECT turn_count, is_active FROM cowork_sessions") == [(600, 1), (600, 1)]


async def test_a_store_takes_nothing_away_that_it_has_just_begun(
    store: ConversationStore, long: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, looked = threading.Event(), threading.Event()
    begin = Leases.acquire

    def held_up(leases: Leases, connection: sqlite3.Connection, session_id: str, *, take_over: bool) -> Lease:
        # The fork is in the archive, and its lease is not taken yet.
        began.set()
        looked.wait()
        return begin(leases, connection, session_id, take_over=take_over)

    monkeypatch.setattr(Leases, "acquire", held_up)
    fork = asyncio.ensure_future(store.fork_session(long))
    await asyncio.to_thread(began.wait)
    store._leftovers.tidy()
    assert store._leftovers.tidying is not None
    while not store._access._writer._tx.qsize():  # type: ignore[union-attr]
        await store.get_turn_count(long)
    looked.set()
    assert await store.get_turn_count(await fork) == 600


async def test_a_fork_that_was_cut_off_is_never_seen_and_goes_at_the_next_start(
    store: ConversationStore, long: str, archive_path: Path
) -> None:
    await store.search_turns(long, "harbour")
    with _cut_off(store, long, 200) as half:
        # Half of the copy is indexed, and in the rows that it shares.
        await store.search_turns(long, "lighthouse")
        assert [s.id for s in await store.list_sessions(include_inactive=True)] == [long]
        assert {hit.session_id for hit in (await store.search("walnut7 harbour")).hits} == {long}
        report = check(archive_path)
        assert report.sound, report.findings
        assert report.sessions == 1
        assert any("is making a fork" in remark for remark in report.remarks)
        # Stopped, it may go on: nobody takes anything from it.
        other = await ConversationStore.open(archive_path)
        await other.close()
        assert [found for found, _ in _halves(archive_path)] == [half]
    report = check(archive_path)
    assert report.sound, report.findings
    assert any("cut off" in remark for remark in report.remarks)
    other = await ConversationStore.open(archive_path)
    while _halves(archive_path):
        await other.get_turn_count(long)
    await other.close()
    (turns,) = await _read(archive_path, "SELECT count(*) FROM conversation_turns")
    assert turns == (600,)
    report = check(archive_path)
    assert report.sound, report.findings
    assert not any("fork" in remark for remark in report.remarks)
    assert not list((archive_path.parent / "leases").glob("*.lease"))


async def test_what_was_indexed_of_a_half_leaves_the_index_in_order(
    store: ConversationStore, long: str, archive_path: Path
) -> None:
    with _cut_off(store, long, 150):
        pass
    with closing(connect(archive_path)) as connection:
        from loom.archive.search.index import index_batch

        while index_batch(connection):
            pass
        ((half, count),) = _halves(archive_path)
        key = connection.execute("SELECT turns FROM search_sessions WHERE session_id = ?", (half,)).fetchone()
        assert key == (count,)
        parts = []

        def look(turns: int) -> None:
            parts.append(turns)
            assert is_sound(connection)

        take_away(connection, half, Share(turns=37, bytes=1_000_000), look)
        assert parts == [37] * (count // 37) + [count % 37]
        take_row(connection, half)
        assert is_sound(connection)
        assert connection.execute("SELECT count(*) FROM search_sessions").fetchone() == (1,)
    assert len((await store.search("walnut7 harbour")).hits) > 0


async def test_a_purge_takes_the_halves_of_the_session_too(
    store: ConversationStore, long: str, archive_path: Path
) -> None:
    with _cut_off(store, long, 100) as half:
        backup = create_backup(archive_path)
        assert backup.sessions == 1
        with pytest.raises(LeaseHeld), closing(connect(archive_path)) as connection:
            Leases(archive_path.parent / "leases").acquire(connection, half, take_over=False)
    await store.close()
    purged = purge(archive_path, long, archive_path.parent)
    assert purged.left == ()
    assert purged.backups == (backup.path,)
    with ours():
        for file in archive_path.parent.rglob("*"):
            assert not file.is_file() or b"lighthouse" not in file.read_bytes(), file


async def test_nothing_comes_back_of_a_session_that_is_purged_while_it_is_forked(
    store: ConversationStore, long: str, archive_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    half_way, purged = threading.Event(), threading.Event()
    end_of_part = forks._end_of_part

    def held_up(connection: sqlite3.Connection, fork: forks._Fork, after: int) -> int:
        if after:
            half_way.set()
            purged.wait()
        return end_of_part(connection, fork, after)

    monkeypatch.setattr(forks, "_end_of_part", held_up)
    fork = asyncio.ensure_future(store.fork_session(long))
    await asyncio.to_thread(half_way.wait)
    assert [count for _, count in _halves(archive_path)] == [forks.PART_TURNS]
    await asyncio.to_thread(purge, archive_path, long, archive_path.parent)
    purged.set()
    with pytest.raises(UnknownSession):
        await fork
    assert await store.list_sessions(include_inactive=True) == []
    assert await _read(archive_path, "SELECT count(*) FROM conversation_turns") == [(0,)]


async def test_a_recovered_archive_has_no_half(store: ConversationStore, long: str, tmp_path: Path) -> None:
    with _cut_off(store, long, 100):
        pass
    await store.close()
    with ours():
        recovered = recover(store.path, tmp_path / "recovered.db")
    assert (recovered.sessions, recovered.turns, recovered.whole) == (1, 600, True)
    assert recovered.read_by_database == 600


async def test_what_only_a_half_has_is_recovered(store: ConversationStore, long: str, tmp_path: Path) -> None:
    with _cut_off(store, long, 100):
        pass
    await store.close()
    with closing(sqlite3.connect(store.path)) as other:
        other.execute("INSERT INTO purging VALUES (?)", (long,))
        other.execute("DELETE FROM conversation_turns WHERE session_id = ? AND turn_number = 50", (long,))
        other.execute("DELETE FROM purging")
        other.commit()
    with ours():
        recovered = recover(store.path, tmp_path / "recovered.db")
    assert recovered.sessions == 2
    saved = await ConversationStore.open(recovered.path)
    assert len(await saved.list_sessions()) == 2
    kept = [await saved.get_turn(s.id, 50) for s in await saved.list_sessions()]
    assert sorted("walnut50" in (turn.content or "") for turn in kept if turn is not None) == [False, True]
    await saved.close()
