"""A session with damage in it can be purged like any other, and the damage is named."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from loom.archive import ConversationStore, Draft, NewTurn, WriteFailed
from loom.archive.backups import create_backup
from loom.archive.check import check
from loom.archive.database import connect
from loom.archive.purge import Left, purge
from loom.archive.reindex import reindex
from tests.support.damage import files_with, find_bytes, overwrite
from tests.support.purging import manifest_of

SECRET = "the passphrase is Quetzalcoatl-Vermilion-7731"
TRACES = (b"Quetzalcoatl", b"quetzalcoatl", b"Vermilion", b"vermilion")
KEPT = b"what stays is this, 3"


async def _fill(path: Path) -> tuple[str, str]:
    """Two sessions, every turn in the index; the first is about to be damaged and purged. T4, T7, ... call a tool."""
    store = await ConversationStore.open(path)
    try:
        doomed = await store.create_session(path.parent, "offline", "You are loom.")
        kept = await store.create_session(path.parent, "offline", "You are loom.")
        for n in range(10):
            await store.append_turn(doomed, "user", f"{SECRET} said for the {n}th time " + f"filler {n} " * 40)
            call = {"id": f"call-{n}", "name": "write_memory", "arguments": {"content": f"vermilion-{n}.txt"}}
            await store.append_turn(doomed, "assistant", None, tool_calls=[call])
            await store.append_turn(
                doomed, "tool", f"wrote vermilion-{n}.txt", tool_call_id=f"call-{n}", tool_name="write_memory"
            )
            await store.append_turn(kept, "user", f"what stays is this, {n}")
        await store.update_session_state(doomed, {"current_focus": SECRET})
        await store.add_manifest(manifest_of(doomed, 1, f"focus: {SECRET} in the state"))
        draft = NewTurn(role="assistant", content=f"{SECRET} half said")
        await store.save_draft(Draft(session_id=doomed, exchange=10, turns=(draft,)))
    finally:
        await store.close()
    reindex(path)
    return doomed, kept


def _damage(path: Path, at: bytes, put: bytes) -> None:
    place = find_bytes(path, at)
    assert place >= 0, at
    overwrite(path, place, put)


NINTH = b"the passphrase is Quetzalcoatl-Vermilion-7731 said for the 3th"
"""How T10 begins: a word of it, and the call and the answer behind it, are T10, T11 and T12."""
DAMAGE = {
    "other words": (NINTH, b"another", (10,)),
    "no UTF-8": (NINTH, b"the pass\xff\xfe", (10,)),
    "a role that there is not": (b"usertextcomplete" + NINTH, b"uzer", (10,)),
    "a role that is no text": (b"usertextcomplete" + NINTH, b"\xff\xfe", (10,)),
    "calls that are no JSON": (b'[{"id":"call-3"', b'[{{{"id', (11,)),
    "calls that are no UTF-8": (b'"content":"vermilion-3.txt"', b'"con\xff\xfe', (11,)),
    "calls that are a list of something else": (b'[{"id":"call-3","name":"write_memory"', b'[1234567,"name', (11,)),
    "the name of a tool, which an index has": (b"call-3write_memory", b"call-3write_memori", (12,)),
    "the id of a call, which an index has": (b"call-3write_memory", b"call-4", (12,)),
    "the state": (b'{"current_focus"', b'{"\xff\xfe', ()),
    "the draft": (b'[{"role":"assistant"', b"[[[[\xff\xfe", ()),
    "what a request was made of": (b'{"state":"focus: ', b"{{{{", ()),
}


@pytest.mark.parametrize("what", DAMAGE)
async def test_bytes_that_are_not_what_was_stored_keep_nobody_from_purging_them(archive_path: Path, what: str) -> None:
    at, put, turns = DAMAGE[what]
    doomed, kept = await _fill(archive_path)
    _damage(archive_path, at, put)
    assert await _purged(archive_path, doomed, kept) == (30, turns, ())


async def _purged(path: Path, doomed: str, kept: str) -> tuple[int, tuple[int, ...], tuple[Left, ...]]:
    """Purge, and see that nothing is left of the one session and nothing is missing of the other; gives how many turns
    went, which of them were damaged, and what could not be reached."""
    purged = purge(path, doomed, path.parent)
    assert files_with(path.parent, *TRACES, doomed.encode()) == []
    assert find_bytes(path, KEPT) > 0
    reindex(path)
    report = check(path)
    assert report.sound, report.findings
    store = await ConversationStore.open(path)
    try:
        assert await store.get_turn_count(kept) == 10
        assert len(await store.search_turns(kept, "stays", limit=50)) == 10
    finally:
        await store.close()
    return purged.turns, purged.damaged, purged.left


@pytest.mark.parametrize(("number", "role"), [(10, b"user"), (11, b"assistant"), (12, b"tool")])
async def test_a_turn_that_names_another_session_goes_with_its_own(
    archive_path: Path, number: int, role: bytes
) -> None:
    doomed, kept = await _fill(archive_path)
    # The row and not an index: numbers of turn and exchange, and the role, stand behind the id.
    _damage(archive_path, doomed.encode() + bytes([number, 4]) + role, b"\xff")
    assert await _purged(archive_path, doomed, kept) == (30, (number,), ())


@pytest.mark.parametrize("behind", [b"You are loom.", b"10[{"])
async def test_what_belongs_to_a_session_and_names_another_goes_with_it(archive_path: Path, behind: bytes) -> None:
    doomed, kept = await _fill(archive_path)
    place = find_bytes(archive_path, doomed.encode() + behind)
    if place < 0:
        place = find_bytes(archive_path, b'[{"role":"assistant"') - len(doomed) - 1
    overwrite(archive_path, place, b"\xff")
    assert await _purged(archive_path, doomed, kept) == (30, (), ())


@pytest.mark.parametrize("table", ["search_terms_data", "search_name_pieces_data"])
async def test_a_damaged_index_is_made_anew(archive_path: Path, table: str) -> None:
    doomed, kept = await _fill(archive_path)
    with closing(connect(archive_path)) as connection:
        connection.execute(f"UPDATE {table} SET block = zeroblob(length(block)) WHERE id > 10")
    purged = purge(archive_path, doomed, archive_path.parent)
    assert (purged.left, purged.damaged, purged.indexed_anew) == ((), (), True)
    assert files_with(archive_path.parent, *TRACES) == []
    reindex(archive_path)
    assert check(archive_path).sound
    with closing(connect(archive_path)) as connection:
        assert connection.execute("SELECT turn_count FROM cowork_sessions WHERE id = ?", (kept,)).fetchone() == (10,)


async def test_damage_in_a_backup_keeps_nothing_there_either(archive_path: Path) -> None:
    doomed, _ = await _fill(archive_path)
    backup = create_backup(archive_path).path
    _damage(backup, NINTH, b"another")
    purged = purge(archive_path, doomed, archive_path.parent)
    assert (purged.backups, purged.left, purged.damaged) == ((backup,), (), ())
    assert files_with(archive_path.parent, *TRACES) == []


async def test_a_page_that_cannot_be_read_stops_the_purge_in_words(archive_path: Path) -> None:
    doomed, kept = await _fill(archive_path)
    place = find_bytes(archive_path, NINTH)
    overwrite(archive_path, place - place % 4096, b"\xff" * 8)
    with pytest.raises(WriteFailed) as said:
        purge(archive_path, doomed, archive_path.parent)
    assert "nothing of it was purged" in said.value.what
    assert "loom recover" in said.value.remedy
    with closing(connect(archive_path)) as connection:
        found = connection.execute("SELECT id FROM cowork_sessions ORDER BY id").fetchall()
    assert found == sorted([(doomed,), (kept,)])
