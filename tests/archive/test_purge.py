"""A purge leaves nothing of a session in any file, touches nothing else, and says what it cannot reach."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest

from loom.archive import ConversationStore, Draft, LeaseHeld, NewTurn, UnknownSession, remains
from loom.archive.backups import create_backup
from loom.archive.check import check
from loom.archive.database import connect
from loom.archive.erasing import erase
from loom.archive.purge import purge
from loom.archive.reindex import reindex
from loom.archive.removal import take_row
from loom.archive.search.index import is_sound
from loom.archive.spool import Spool
from loom.archive.unsent import Unsent
from loom.tools.memory_file import MemoryFile
from tests.support.damage import copy_file, files_with, find_bytes, overwrite
from tests.support.keeper import Keeper
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


async def test_nothing_is_left_of_a_purged_session(archive_path: Path, tmp_path: Path) -> None:
    doomed, kept = await _fill(archive_path)
    home = archive_path.parent
    inside = create_backup(archive_path).path
    (tmp_path / "stick").mkdir()
    outside = create_backup(archive_path, tmp_path / "stick" / "copy.db").path
    spool = Spool(home / "spool")
    spool.put(doomed, [NewTurn(role="user", content=SECRET)])
    spool.close()
    put_unsent(Unsent(home / "unsent"), doomed, f"and by the way, {SECRET}")
    Unsent(home / "unsent").at(doomed).keep(f"{SECRET}, wrote somebody who only read it")
    assert len(files_with(tmp_path, b"Quetzalcoatl")) == 6

    purged = purge(archive_path, doomed, home)
    assert purged.left == ()
    assert purged.turns == 60
    assert purged.backups == (inside, outside)
    assert purged.samples > 30
    assert files_with(tmp_path, b"Quetzalcoatl", b"quetzalcoatl", b"vermilion_quetzal", doomed.encode()) == []
    assert check(archive_path).sound, check(archive_path).findings
    store = await ConversationStore.open(archive_path)
    try:
        assert await store.get_session(doomed) is None
        assert await store.get_turn_count(kept) == 30
        assert len(await store.search_turns(kept, "stays", limit=50)) == 30
        assert (await store.search("Quetzalcoatl")).hits == ()
    finally:
        await store.close()


@pytest.mark.parametrize("version", [1, 0], ids=["of an older loom", "half taken away"])
async def test_nothing_is_left_in_an_index_that_is_to_be_made_anew(
    archive_path: Path, tmp_path: Path, version: int
) -> None:
    doomed, kept = await _fill(archive_path)
    reindex(archive_path)
    backup = create_backup(archive_path).path
    assert files_with(tmp_path, b"vermilion_quetzal.txt", b"quetzalcoatl") == [archive_path.name, backup.name]
    for place in (archive_path, backup):
        with closing(sqlite3.connect(place)) as connection, connection:
            connection.execute("UPDATE search_progress SET version = ?", (version,))

    purged = purge(archive_path, doomed, archive_path.parent)
    assert purged.left == ()
    assert purged.backups == (backup,)
    assert files_with(tmp_path, b"quetzalcoatl", b"vermilion_quetzal") == []
    store = await ConversationStore.open(archive_path)
    try:
        assert len(await store.search_turns(kept, "stays", limit=50)) == 30
    finally:
        await store.close()


async def test_others_write_while_the_session_is_taken_apart(archive_path: Path) -> None:
    doomed, kept = await _fill(archive_path)
    reindex(archive_path)
    let_in = 0
    with closing(connect(archive_path)) as connection, closing(connect(archive_path)) as other:

        def write(statement: str) -> None:
            nonlocal let_in
            if f"session_id = '{doomed}'" in statement and "tool_name, created_at" in statement:
                with suppress(sqlite3.OperationalError), other.writing(patience=0.01):
                    let_in += 1

        connection.set_trace_callback(write)
        erase(connection, doomed)
        connection.set_trace_callback(None)
        assert let_in
        take_row(connection, doomed)
        assert is_sound(connection)
        assert connection.execute("SELECT session_id FROM search_sessions").fetchall() == [(kept,)]


async def test_a_purge_goes_through_beside_an_open_store(archive_path: Path) -> None:
    doomed, kept = await _fill(archive_path)
    store = await ConversationStore.open(archive_path)
    try:
        purged = purge(archive_path, doomed, archive_path.parent)
        assert purged.left == ()
        assert await store.append_turn(kept, "assistant", "goes on") == 31
    finally:
        await store.close()
    assert files_with(archive_path.parent, b"Quetzalcoatl") == []


def _set_a_log_aside(archive_path: Path, *texts: str) -> str:
    """An earlier copy of the log under the name that loom gives to one which was put in the log's place; gives the
    session whose words it has."""
    with Keeper(archive_path) as keeper:
        session: str = keeper.ask("begin")["session"]
        keeper.ask("append", session, texts)
        copy_file(archive_path.with_name("archive.db-wal"), archive_path.with_name("archive.db-wal-replaced-0123abcd"))
        keeper.ask("close")
    return session


@pytest.mark.parametrize("said", [SECRET, "ok"])
def test_a_log_that_was_set_aside_goes_with_the_session(archive_path: Path, said: str) -> None:
    """What is too short to be looked for is known by its session."""
    doomed = _set_a_log_aside(archive_path, said)
    assert len(files_with(archive_path.parent, doomed.encode())) == 2
    assert purge(archive_path, doomed, archive_path.parent).left == ()
    assert files_with(archive_path.parent, SECRET.encode(), doomed.encode()) == []
    assert list(archive_path.parent.glob("archive.db-wal-replaced-*")) == []


async def test_a_log_that_was_set_aside_stays_when_it_has_nothing_of_the_session(archive_path: Path) -> None:
    _set_a_log_aside(archive_path, "what stays is this")
    doomed, _ = await _fill(archive_path)
    assert purge(archive_path, doomed, archive_path.parent).left == ()
    assert list(archive_path.parent.glob("archive.db-wal-replaced-*"))


async def test_what_a_log_in_use_keeps_goes_when_every_loom_has_ended(
    archive_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loom.archive.purge._TRIES", 3)
    doomed, kept = await _fill(archive_path)
    reader = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN")
connection.execute("SELECT count(*) FROM conversation_turns").fetchone()
print("reads", flush=True)
sys.stdin.read()
connection.close()
"""
    store = await ConversationStore.open(archive_path)
    await store.append_turn(doomed, "user", SECRET)
    with subprocess.Popen(
        [sys.executable, "-c", reader, str(archive_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "reads\n"
        await store.close()
        left = purge(archive_path, doomed, archive_path.parent).left
        assert {entry.path.name for entry in left} == {"archive.db", "archive.db-wal"}
        assert all("when every loom has ended" in entry.why for entry in left), left
    assert files_with(archive_path.parent, b"Quetzalcoatl", b"vermilion_quetzal", doomed.encode()) == []
    assert check(archive_path).sound
    store = await ConversationStore.open(archive_path)
    assert await store.get_turn_count(kept) == 30
    await store.close()


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


async def test_a_text_that_was_kept_from_an_editor_is_named(
    archive_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    doomed, _ = await _fill(archive_path)
    kept = tmp_path / "loom-0123" / "message.md"
    kept.parent.mkdir()
    kept.write_text(f"{SECRET} said for the 3th time filler 3 filler 3")
    (left,) = purge(archive_path, doomed, archive_path.parent).left
    assert left.path == kept
    assert left.why == "1 piece of the text is in the file: delete it if it should go too"


async def _remember(path: Path, **arguments: str) -> str:
    """A session that noted something by a call, beside a user's words that say nothing of it."""
    store = await ConversationStore.open(path)
    try:
        session = await store.create_session(path.parent, "offline", "You are loom.")
        await store.append_turn(session, "user", "remember it")
        name = "update_memory" if "old_text" in arguments else "write_memory"
        call = {"id": "c", "name": name, "arguments": arguments}
        await store.append_turn(session, "assistant", None, tool_calls=[call])
        return session
    finally:
        await store.close()


async def test_notes_that_the_session_wrote_are_named_with_their_history(archive_path: Path) -> None:
    memory = MemoryFile(archive_path.parent / "memory" / "0123456789abcdef")
    memory_of_others = MemoryFile(archive_path.parent / "memory" / "fedcba9876543210")
    note = f"# Berlin\n- {SECRET}"
    session = await _remember(archive_path, content=note)
    memory.append("An earlier note of another session.")
    memory.append(note)
    memory.replace("# Berlin", "# Hamburg and all that is there")
    memory_of_others.append("What was noted about another workspace altogether.")
    left = {left.path: left.why for left in purge(archive_path, session, archive_path.parent).left}
    with_secret = {file for file in memory.folder.rglob("*") if file.is_file() and find_bytes(file, b"Quetz") >= 0}
    assert len(with_secret) == 3, "as it is, as it was before the last change, and as it was after"
    assert set(left) == with_secret
    assert "/memory" in left[memory.path]
    assert all("history" in left[path] for path in with_secret - {memory.path})


async def test_what_the_session_corrected_in_the_notes_is_named(archive_path: Path) -> None:
    memory = MemoryFile(archive_path.parent / "memory" / "0123456789abcdef")
    session = await _remember(archive_path, old_text="The depot is closed.", new_text=f"It opens with {SECRET}.")
    memory.append("Of the depots: The depot is closed.")
    memory.replace("The depot is closed.", f"It opens with {SECRET}.")
    left = [left.path for left in purge(archive_path, session, archive_path.parent).left]
    assert memory.path in left
    assert len(left) == 3


async def test_notes_too_short_to_be_looked_for_are_not_said_to_be_gone(archive_path: Path) -> None:
    memory = MemoryFile(archive_path.parent / "memory" / "0123456789abcdef")
    session = await _remember(archive_path, content="- PIN 7731")
    memory.append("- PIN 7731")
    (left,) = purge(archive_path, session, archive_path.parent).left
    assert left.path == archive_path.parent / "memory"
    assert "may" in left.why


@pytest.mark.parametrize("damaged", [False, True])
async def test_notes_of_an_answer_that_was_cut_off_are_named(archive_path: Path, damaged: bool) -> None:
    memory = MemoryFile(archive_path.parent / "memory" / "0123456789abcdef")
    memory.append(SECRET)
    store = await ConversationStore.open(archive_path)
    session = await store.create_session(archive_path.parent, "offline", "You are loom.")
    call = {"id": "c", "name": "write_memory", "arguments": {"content": SECRET}}
    cut_off = NewTurn(role="assistant", content=None, tool_calls=[call])
    await store.save_draft(Draft(session_id=session, exchange=1, turns=(cut_off,)))
    await store.close()
    if damaged:
        overwrite(archive_path, find_bytes(archive_path, b'[{"role":"assistant"'), b"[[[[")
    left = {left.path for left in purge(archive_path, session, archive_path.parent).left}
    assert (memory.path.parent.parent if damaged else memory.path) in left


async def test_notes_of_a_memory_that_is_gone_are_not_named(archive_path: Path) -> None:
    session = await _remember(archive_path, content=f"- {SECRET}")
    assert purge(archive_path, session, archive_path.parent).left == ()


async def test_a_session_that_is_open_elsewhere_is_not_purged(archive_path: Path) -> None:
    doomed, _ = await _fill(archive_path)
    store = await ConversationStore.open(archive_path)
    try:
        await store.acquire_lease(doomed)
        with pytest.raises(LeaseHeld, match="Leave it there"):
            purge(archive_path, doomed, archive_path.parent)
        assert await store.get_turn_count(doomed) == 60
    finally:
        await store.close()


async def test_words_that_cannot_be_removed_do_not_keep_it_from_the_backups(archive_path: Path) -> None:
    doomed, _ = await _fill(archive_path)
    home = archive_path.parent
    backup = create_backup(archive_path).path
    (home / "unsent" / f"{doomed}.odd").mkdir(parents=True)
    purged = purge(archive_path, doomed, home)
    assert [left.path for left in purged.left] == [home / "unsent"]
    assert purged.backups == (backup,)
    assert files_with(home, b"Quetzalcoatl") == []


async def test_files_that_go_while_they_are_searched_are_no_fault(
    archive_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    doomed, _ = await _fill(archive_path)
    lease = archive_path.parent / "leases" / "another.lease"
    lease.parent.mkdir(mode=0o700, exist_ok=True)
    lease.touch(mode=0o600)
    listed = remains._without_asides

    def ended(archive: Path, files: list[Path], samples: list[bytes], session_id: str) -> list[Path]:
        # Another loom ends just now, and takes what it had in the folder along.
        assert lease in files
        lease.unlink()
        return listed(archive, files, samples, session_id)

    monkeypatch.setattr(remains, "_without_asides", ended)
    purged = purge(archive_path, doomed, archive_path.parent)
    assert purged.turns == 60
    assert purged.left == ()


async def test_an_unknown_session_is_told(archive_path: Path) -> None:
    await _fill(archive_path)
    with pytest.raises(UnknownSession):
        purge(archive_path, "none", archive_path.parent)
