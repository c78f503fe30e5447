"""A purge leaves nothing of a session in any file, touches nothing else, and says what it cannot reach."""

from __future__ import annotations

from pathlib import Path

import pytest

from loom.archive import ConversationStore, Draft, LeaseHeld, NewTurn, UnknownSession
from loom.archive.backups import create_backup
from loom.archive.check import check
from loom.archive.purge import purge
from loom.archive.spool import Spool
from loom.archive.unsent import Unsent
from tests.support.damage import find_bytes
from tests.support.unsent import put_unsent

SECRET = "the passphrase is Quetzalcoatl-Vermilion-7731"


async def _fill(path: Path) -> tuple[str, str]:
    """Two sessions; the first is about to be purged."""
    store = await ConversationStore.open(path)
    try:
        doomed = await store.create_session(path.parent, "offline", "You are loom.")
        kept = await store.create_session(path.parent, "offline", "You are loom.")
        for n in range(30):
            await store.append_turn(doomed, "user", f"{SECRET} said for the {n}th time " + f"filler {n} " * 200)
            await store.append_turn(kept, "user", f"what stays is this, {n}")
            call = {"id": f"c{n}", "name": "write_file", "arguments": {"path": "vermilion_quetzal.txt"}}
            await store.append_turn(doomed, "assistant", None, tool_calls=[call])
        await store.update_session_state(doomed, {"current_focus": SECRET})
        await store.save_draft(
            Draft(session_id=doomed, exchange=30, turns=(NewTurn(role="assistant", content=SECRET * 3),))
        )
        assert await store.search_turns(doomed, "Quetzalcoatl")
        return doomed, kept
    finally:
        await store.close()


def _files_with(home: Path, data: bytes) -> list[str]:
    return [file.name for file in home.rglob("*") if file.is_file() and find_bytes(file, data) >= 0]


async def test_nothing_is_left_of_a_purged_session(archive_path: Path, tmp_path: Path) -> None:
    doomed, kept = await _fill(archive_path)
    home = archive_path.parent
    inside = create_backup(archive_path).path
    outside = create_backup(archive_path, tmp_path / "stick" / "copy.db").path
    spool = Spool(home / "spool")
    spool.put(doomed, [NewTurn(role="user", content=SECRET)])
    spool.close()
    put_unsent(Unsent(home / "unsent"), doomed, f"and by the way, {SECRET}")
    Unsent(home / "unsent").at(doomed).keep(f"{SECRET}, wrote somebody who only read it")
    assert len(_files_with(tmp_path, b"Quetzalcoatl")) == 6

    purged = purge(archive_path, doomed, home)
    assert purged.left == ()
    assert purged.turns == 60
    assert purged.backups == (inside, outside)
    assert purged.samples > 30
    for trace in (b"Quetzalcoatl", b"quetzalcoatl", b"vermilion_quetzal", doomed.encode()):
        assert _files_with(tmp_path, trace) == []
    assert check(archive_path).sound, check(archive_path).findings
    store = await ConversationStore.open(archive_path)
    try:
        assert await store.get_session(doomed) is None
        assert await store.get_turn_count(kept) == 30
        assert len(await store.search_turns(kept, "stays", limit=50)) == 30
        assert (await store.search("Quetzalcoatl")).hits == ()
    finally:
        await store.close()


async def test_a_purge_goes_through_beside_an_open_store(archive_path: Path) -> None:
    doomed, kept = await _fill(archive_path)
    store = await ConversationStore.open(archive_path)
    try:
        purged = purge(archive_path, doomed, archive_path.parent)
        assert purged.left == ()
        assert await store.append_turn(kept, "assistant", "goes on") == 31
    finally:
        await store.close()
    assert _files_with(archive_path.parent, b"Quetzalcoatl") == []


async def test_a_fork_keeps_the_words_and_the_purge_says_so(archive_path: Path) -> None:
    doomed, _ = await _fill(archive_path)
    store = await ConversationStore.open(archive_path)
    fork = await store.fork_session(doomed, 3)
    await store.close()
    purged = purge(archive_path, doomed, archive_path.parent)
    assert [left.path for left in purged.left] == [archive_path]
    assert "other sessions" in purged.left[0].why
    store = await ConversationStore.open(archive_path)
    detail = await store.get_session(fork)
    await store.close()
    assert detail is not None
    assert (detail.turn_count, detail.parent_id) == (3, None)


async def test_files_that_only_a_person_may_delete_are_named(archive_path: Path) -> None:
    doomed, _ = await _fill(archive_path)
    exports = archive_path.parent / "exports"
    exports.mkdir()
    (exports / "session.md").write_text(f"{SECRET} said for the 3th time filler 3 filler 3")
    broken = archive_path.parent / "backups" / "broken.db"
    broken.parent.mkdir()
    broken.write_bytes(b"garbage " * 1000)
    left = {left.path.name: left.why for left in purge(archive_path, doomed, archive_path.parent).left}
    assert "exported" in left["session.md"]
    assert "could not be reached" in left["broken.db"]


async def test_a_session_that_is_open_elsewhere_is_not_purged(archive_path: Path) -> None:
    doomed, _ = await _fill(archive_path)
    store = await ConversationStore.open(archive_path)
    try:
        await store.acquire_lease(doomed)
        with pytest.raises(LeaseHeld):
            purge(archive_path, doomed, archive_path.parent)
        assert await store.get_turn_count(doomed) == 60
    finally:
        await store.close()


async def test_an_unknown_session_is_told(archive_path: Path) -> None:
    await _fill(archive_path)
    with pytest.raises(UnknownSession):
        purge(archive_path, "none", archive_path.parent)
