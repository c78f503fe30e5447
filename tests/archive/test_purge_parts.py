"""A purge goes in parts: others write in between, and one that is cut off leaves nothing that looks whole."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from loom.archive import ConversationStore, NewTurn, UnknownReference, UnknownSession, WriteFailed, leftovers
from loom.archive.backups import create_backup
from loom.archive.check import check
from loom.archive.database import connect
from loom.archive.erasing import erase, leave_no_word
from loom.archive.guard import ours
from loom.archive.leases import Leases
from loom.archive.purge import purge
from loom.archive.references import free_reference
from loom.archive.removal import SHORT, Removal, Share, claim_half, half_purged, take_row
from loom.archive.salvage import recover
from loom.archive.search.index import index_batch, is_sound
from tests.support.damage import files_with, find_bytes, overwrite
from tests.support.purging import held_up, manifest_of
from tests.support.small_disk import fill_up, small_disk

TURNS = 6 * SHORT.turns + 20
SECRET = "Quetzalcoatl"
MANY = "".join(f" and src/vermilion/{n}.py" for n in range(2 * SHORT.names + 50))
TRACES = (b"Quetzalcoatl", b"quetzalcoatl", b"vermilion")


async def _fill(store: ConversationStore, turns: int = TURNS) -> tuple[str, str]:
    """Two sessions, of everything that a session has and all of it in the index; the first is to be purged."""
    doomed = await store.create_session(store.path.parent, "offline", f"You are {SECRET}.", title=f"{SECRET}, a title")
    kept = await store.create_session(store.path.parent, "offline", "You are loom.")
    for first in range(0, turns, 4):
        await store.append_turns(
            doomed,
            [
                NewTurn(
                    role="user" if n == first else "assistant",
                    content=f"{SECRET} said it {n} times, in src/vermilion_{n % 150}.py{MANY if n == 9 else ''}",
                    token_count=n,
                )
                for n in range(first, min(first + 4, turns))
            ],
        )
    for n in range(20):
        await store.append_turn(kept, "user", f"what stays is this, {n}")
    await store.update_session_state(doomed, {"current_focus": f"{SECRET} in the state"})
    for request in range(1, 3 * SHORT.turns):
        await store.add_manifest(manifest_of(doomed, request, f"focus: {SECRET} in request {request}"))
    assert len(await store.search_turns(kept, "stays", limit=50)) == 20
    return doomed, kept


def _count(path: Path, table: str, session: str) -> int:
    with closing(connect(path, readonly=True)) as connection:
        (count,) = connection.execute(
            f"SELECT count(*) FROM {table} WHERE session_id = ?",
            (session,),
        ).fetchone()
    return int(count)


async def _see_that_nobody_sees_it(store: ConversationStore, doomed: str, reference: str, kept: str) -> None:
    """By nothing that a front end could ask."""
    assert [s.id for s in await store.list_sessions(include_inactive=True)] == [kept]
    for name in (reference, doomed, f"PURGE {reference}", reference[:3]):
        with pytest.raises(UnknownReference):
            await store.resolve_reference(name)
    assert await store.get_session(doomed) is None
    assert (await store.search(SECRET)).hits == ()
    assert await store.search_turns(doomed, SECRET) == []
    refused: list[Callable[[], object]] = [
        lambda: store.resume_session(doomed),
        lambda: store.fork_session(doomed, 1),
        lambda: store.restore_session(doomed),
        lambda: store.acquire_lease(doomed, take_over=True),
        lambda: store.append_turn(doomed, "user", "more"),
        lambda: store.create_session(".", "offline", "", parent_id=doomed),
    ]
    for ask in refused:
        with pytest.raises(UnknownSession):
            await ask()  # type: ignore[misc]
    with pytest.raises(UnknownSession, match=f"{reference} is being purged"):
        await store.fork_session(doomed)
    found = await store.find_half_purged(reference)
    assert found is not None
    assert (found.id, found.reference, found.title, found.focus) == (doomed, reference, "", "")


async def test_others_write_between_the_parts_of_a_purge(
    store: ConversationStore, other_store: ConversationStore
) -> None:
    doomed, kept = await _fill(store)
    detail = await store.get_session(doomed)
    assert detail is not None
    loop = asyncio.get_running_loop()
    landed: list[tuple[str, int]] = []

    async def write() -> int:
        number = await other_store.append_turn(kept, "user", "what stays is src/vermilion_7.py, too")
        await _see_that_nobody_sees_it(other_store, doomed, detail.reference, kept)
        return number

    def between(what: str, done: int, total: int) -> None:
        # The index may be in order already: the others' indexers merge it as well.
        if done or what == "putting the index in order":
            # The purge's thread waits for it: a part that kept others outside would end the test.
            landed.append((what, asyncio.run_coroutine_threadsafe(write(), loop).result()))
            with closing(connect(store.path)) as connection:
                assert is_sound(connection)

    purged = await asyncio.to_thread(purge, store.path, doomed, store.path.parent, between)
    assert (purged.turns, purged.left, purged.went_before) == (TURNS, (), None)
    assert len([what for what, _ in landed if what == "erasing"]) > TURNS // SHORT.turns
    assert len(await store.search_turns(kept, "stays", limit=100)) == 20 + len(landed)
    assert [hit.session_id for hit in (await store.search("vermilion_7.py", limit=1)).hits] == [kept]
    assert await store.find_half_purged(detail.reference) is None
    await other_store.close()
    await store.close()
    assert files_with(store.path.parent, b"Quetzalcoatl", b"quetzalcoatl", b"vermilion_8", doomed.encode()) == []
    report = check(store.path)
    assert report.sound, report.findings


async def test_one_that_appends_without_a_pause_gets_its_turns(
    store: ConversationStore, other_store: ConversationStore
) -> None:
    doomed, kept = await _fill(store, TURNS)
    appended = 20
    one_more = threading.Event()
    at_parts: list[int] = []

    def between(what: str, done: int, total: int) -> None:
        if what == "erasing" and done:
            one_more.clear()
            one_more.wait()
            at_parts.append(appended)

    going = asyncio.ensure_future(asyncio.to_thread(purge, store.path, doomed, store.path.parent, between))
    while not going.done():
        appended = await other_store.append_turn(kept, "user", f"and this, {appended}")
        one_more.set()
    assert (await going).left == ()
    assert at_parts == sorted(set(at_parts)) and len(at_parts) >= TURNS // SHORT.turns
    assert await store.get_turn_count(kept) == appended
    report = check(store.path)
    assert report.sound, report.findings


@pytest.mark.parametrize(
    ("place", "at", "left"),
    [
        ("erasing", SHORT.turns, TURNS - SHORT.turns),
        ("erasing", TURNS, 0),
        ("putting the index in order", 0, 0),
        ("erasing in backups", 1, 0),
        ("searching every file", 0, 0),
        ("the end", 0, 0),
    ],
)
async def test_a_purge_that_was_cut_off_is_never_seen_and_goes_on(
    store: ConversationStore, archive_path: Path, place: str, at: int, left: int
) -> None:
    doomed, kept = await _fill(store)
    detail = await store.get_session(doomed)
    assert detail is not None
    reference = detail.reference
    backup = create_backup(archive_path)
    with held_up(archive_path, doomed, place, at):
        # While it is under way.
        await _see_that_nobody_sees_it(store, doomed, reference, kept)
        report = check(archive_path)
        assert report.sound, report.findings
        assert report.sessions == 1
        assert any(f"is purging session {reference}" in remark for remark in report.remarks)
        assert create_backup(archive_path).sessions == 1
    assert _count(archive_path, "conversation_turns", doomed) == left
    await _see_that_nobody_sees_it(store, doomed, reference, kept)
    await store.close()
    (finding,) = check(archive_path).findings
    assert "was cut off" in finding.what
    assert f"`loom purge {reference}`" in finding.remedy

    purged = purge(archive_path, doomed, archive_path.parent)
    assert (purged.turns, purged.left, purged.went_before) == (left, (), left)
    assert backup.path in purged.backups or place in ("searching every file", "the end")
    assert files_with(archive_path.parent, *TRACES, doomed.encode()) == []
    report = check(archive_path)
    assert report.sound, report.findings
    assert not list((archive_path.parent / "leases").glob("*.lease"))
    store = await ConversationStore.open(archive_path)
    assert await store.get_turn_count(kept) == 20
    assert len(await store.search_turns(kept, "stays", limit=50)) == 20
    await store.close()


async def test_what_a_purge_left_goes_at_the_next_start_but_for_its_name(
    store: ConversationStore, archive_path: Path
) -> None:
    doomed, kept = await _fill(store)
    detail = await store.get_session(doomed)
    assert detail is not None
    with held_up(archive_path, doomed, "erasing", 2 * SHORT.turns):
        # Stopped, it may go on: nobody takes anything from it.
        other = await ConversationStore.open(archive_path)
        assert other._leftovers.tidying is not None
        await other._leftovers.tidying
        await other.close()
        assert _count(archive_path, "conversation_turns", doomed) == TURNS - 2 * SHORT.turns
    other = await ConversationStore.open(archive_path)
    assert other._leftovers.tidying is not None
    await other._leftovers.tidying
    for table in ("conversation_turns", "manifests", "exchanges", "drafts", "session_texts"):
        assert _count(archive_path, table, doomed) == 0, table
    await _see_that_nobody_sees_it(other, doomed, detail.reference, kept)
    await other.close()
    await store.close()
    (finding,) = check(archive_path).findings
    assert "was cut off" in finding.what
    purged = purge(archive_path, doomed, archive_path.parent)
    assert (purged.turns, purged.left, purged.went_before) == (0, (), 0)
    assert files_with(archive_path.parent, *TRACES, doomed.encode()) == []
    assert check(archive_path).sound


async def test_a_fork_that_is_cut_off_during_a_purge_goes_with_it(store: ConversationStore, archive_path: Path) -> None:
    doomed, _ = await _fill(store)
    with closing(connect(archive_path)) as connection:
        connection.execute(
            "INSERT INTO cowork_sessions (id, reference, workspace_path, model_name, started_at, last_active_at,"
            " parent_id, is_active) VALUES ('half', 'FORK half', '', '', '', '', ?, 0)",
            (doomed,),
        )
        connection.execute(
            "INSERT INTO conversation_turns (session_id, turn_number, exchange, role, kind, status, content,"
            " created_at, digest) VALUES ('half', 1, 1, 'user', 'text', 'complete', 'Quetzalcoatl once more', '', '')"
        )
    await store.close()
    assert purge(archive_path, doomed, archive_path.parent).left == ()
    assert files_with(archive_path.parent, *TRACES) == []
    assert check(archive_path).sound


async def test_a_fork_that_became_whole_since_it_was_looked_for_is_not_taken_away(
    store: ConversationStore, other_store: ConversationStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    doomed, _ = await _fill(store, 20)
    fork = await store.fork_session(doomed)
    monkeypatch.setattr(leftovers, "unfinished", lambda connection: [fork])
    other_store._leftovers.tidy()
    assert other_store._leftovers.tidying is not None
    await other_store._leftovers.tidying
    assert await store.get_turn_count(fork) == 20
    with closing(connect(store.path)) as connection:
        leases = Leases(store.path.parent / "leases")
        assert not claim_half(connection, leases, fork)
        assert leases.epoch(fork) is None


async def test_a_session_that_is_taken_over_before_the_first_of_it_is_gone_is_not_purged(
    store: ConversationStore,
) -> None:
    doomed, kept = await _fill(store, 20)
    loop = asyncio.get_running_loop()

    def take_over(what: str, done: int, total: int) -> None:
        asyncio.run_coroutine_threadsafe(store.acquire_lease(doomed, take_over=True), loop).result()

    with pytest.raises(WriteFailed, match="nothing of it was purged"):
        await asyncio.to_thread(purge, store.path, doomed, store.path.parent, take_over)
    assert await store.append_turn(doomed, "user", "goes on") == 21
    assert {s.id for s in await store.list_sessions()} == {doomed, kept}


async def test_a_disk_that_is_full_in_the_middle_is_told_and_the_purge_goes_on(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with small_disk(home, 40_000_000):
        path = home / "archive.db"
        store = await ConversationStore.open(path)
        doomed, kept = await _fill(store)
        detail = await store.get_session(doomed)
        assert detail is not None
        await store.close()
        fillers: list[Path] = []

        def fill_in_the_middle(what: str, done: int, total: int) -> None:
            if done == SHORT.turns:
                fillers.append(fill_up(home))

        with pytest.raises(WriteFailed) as said:
            purge(path, doomed, home, fill_in_the_middle)
        assert "was cut off" in said.value.what
        assert f"`loom purge {detail.reference}` goes on" in said.value.remedy
        fillers.pop().unlink()
        count = _count(path, "conversation_turns", doomed)
        assert 0 < count < TURNS

        def fill_behind(what: str, done: int, total: int) -> None:
            if what == "writing the archive anew":
                fillers.append(fill_up(home))

        purged = purge(path, doomed, home, fill_behind)
        assert purged.went_before == count
        assert path in {left.path for left in purged.left}
        fillers.pop().unlink()
        purged = purge(path, doomed, home)
        assert (purged.left, purged.went_before) == ((), 0)
        assert files_with(home, *TRACES, doomed.encode()) == []
        assert {finding.part for finding in check(path).findings} == {"space"}
        store = await ConversationStore.open(path)
        assert await store.get_turn_count(kept) == 20
        await store.close()


async def test_damage_that_shows_in_the_middle_keeps_nothing_from_going(
    store: ConversationStore, archive_path: Path
) -> None:
    doomed, kept = await _fill(store, 60)
    await store.close()
    # The row of T10 names another session; numbers of turn and exchange, and the role, stand behind the id.
    place = find_bytes(archive_path, doomed.encode() + bytes([10, 3]) + b"assistant")
    assert place >= 0
    overwrite(archive_path, place, b"\xff")
    parts: list[int] = []
    with closing(connect(archive_path)) as connection:
        erased = erase(connection, doomed, share=Share(turns=7, bytes=1_000_000), gone=parts.append)
        assert [turns for turns in parts if turns] == [7] * 7
        assert (erased.turns, erased.damaged, erased.indexed_anew) == (60, (10,), True)
        assert half_purged(connection) == [doomed]
        assert not leave_no_word(connection)
        take_row(connection, doomed)
    assert _count(archive_path, "conversation_turns", kept) == 20
    report = check(archive_path)
    assert report.sound, report.findings


async def test_a_recovered_archive_has_nothing_of_a_session_that_was_being_purged(
    store: ConversationStore, archive_path: Path, tmp_path: Path
) -> None:
    doomed, _ = await _fill(store)
    with held_up(archive_path, doomed, "erasing", SHORT.turns):
        pass
    await store.close()
    with ours():
        recovered = recover(archive_path, tmp_path / "recovered.db")
    assert (recovered.sessions, recovered.turns, recovered.whole) == (1, 20, True)
    assert find_bytes(recovered.path, b"Quetzalcoatl") == -1


async def test_no_session_gets_the_reference_of_one_that_is_half_purged(
    store: ConversationStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    doomed, _ = await _fill(store, 4)
    detail = await store.get_session(doomed)
    assert detail is not None
    given = iter([detail.reference, "zzz9"])
    monkeypatch.setattr("loom.archive.references._random", lambda length: next(given))
    with closing(connect(store.path)) as connection:
        erase(connection, doomed)
        assert free_reference(connection) == "zzz9"


async def test_a_part_ends_at_its_bytes_too(store: ConversationStore) -> None:
    doomed, _ = await _fill(store, 20)
    parts: list[int] = []
    with closing(connect(store.path)) as connection:
        size = connection.execute(
            "SELECT length(content) FROM conversation_turns WHERE session_id = ? AND turn_number = 20", (doomed,)
        ).fetchone()[0]
        erase(connection, doomed, share=Share(turns=100, bytes=2 * size), gone=parts.append)
    assert [turns for turns in parts if turns][:3] == [2, 2, 2]
    assert sum(parts) == 20


async def test_very_many_names_go_in_steps_of_their_own(store: ConversationStore) -> None:
    doomed, kept = await _fill(store, 20)
    await store.append_turn(kept, "user", "what stays is src/vermilion/3.py")
    await store.search_turns(kept, "stays")
    share = Share(turns=100, bytes=1_000_000, names=200)
    names = "SELECT count(*) FROM search_names WHERE name GLOB 'src/vermilion/*'"
    with closing(connect(store.path)) as connection:
        while index_batch(connection):
            pass
        *steps, last = Removal(doomed, share).next(connection)
        assert len(steps) > 1
        for step in steps:
            assert step(connection) == 0
        assert connection.execute(names).fetchone()[0] < 2 * SHORT.names
        assert last(connection) == 20
        assert connection.execute(names).fetchone() == (1,)
        assert Removal(doomed, share).next(connection)  # manifests are left
        assert is_sound(connection)
