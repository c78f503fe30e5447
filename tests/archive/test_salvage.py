"""What a damaged file still holds is saved: every whole turn, at its number, and a word where one is missing."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from loom.archive import (
    ArchiveUnavailable,
    ConversationStore,
    Draft,
    Manifest,
    NewTurn,
    NotAnArchive,
    Turn,
    WriteFailed,
)
from loom.archive.check import check
from loom.archive.salvage import recover
from tests.support.damage import copy_file, find_bytes, overwrite

TURNS = 200


def _text(n: int) -> str:
    chance = random.Random(n)
    return f"turn number {n} é日😀 " + "".join(
        chance.choice("abcdef ghij") for _ in range(chance.choice([20, 300, 12_000]))
    )


async def _archive(path: Path) -> str:
    store = await ConversationStore.open(path)
    try:
        session = await store.create_session(path.parent, "offline", "You are loom.", title="The long one")
        await store.update_session_state(session, {"current_focus": "salvage"})
        for n in range(1, TURNS + 1):
            usage = {"input_tokens": n, "output_tokens": 1} if n % 2 == 0 else None
            await store.append_turn(session, "user" if n % 2 else "assistant", _text(n), usage=usage, cost_usd=0.0)
        await store.add_manifest(_manifest(session))
        await store.fork_session(session, 10)
        draft = Draft(session_id=session, exchange=100, turns=(NewTurn(role="assistant", content="half an ans"),))
        await store.save_draft(draft)
        return session
    finally:
        await store.close()


def _manifest(session: str) -> Manifest:
    return Manifest(
        session_id=session,
        request=1,
        exchange=1,
        created_at="2026-03-04T10:00:00.000000Z",
        model_name="offline",
        window_tokens=1000,
        segments={"exchanges": 10},
        turns=((1, 2),),
        texts={"state": "{}"},
        estimated_tokens=10,
        reported_tokens=12,
        cache_read_tokens=8,
        recipe={"last_turn": 2, "digest": "0a"},
    )


async def _read(path: Path, session: str) -> list[Turn]:
    store = await ConversationStore.open(path)
    try:
        return await store.get_turns(session, limit=TURNS + 10)
    finally:
        await store.close()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """An archive that nobody opens, and the session in it."""
    path = tmp_path_factory.mktemp("whole") / "home" / "archive.db"
    return path, asyncio.run(_archive(path))


@pytest.fixture
def damaged(whole: tuple[Path, str], tmp_path: Path) -> tuple[Path, str]:
    """A copy that may be damaged freely, and the session in it."""
    path, session = whole
    copy = tmp_path / "damaged.db"
    copy_file(path, copy)
    return copy, session


def _overwrite(path: Path, place: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(place)
        file.write(data)


def _header(path: Path) -> None:
    _overwrite(path, 0, b"\xaa" * 100)


def _first_page(path: Path) -> None:
    _overwrite(path, 0, b"\0" * 4096)


def _all_trees(path: Path) -> None:
    """Every inner page of every tree."""
    data = path.read_bytes()
    for start in range(4096, len(data), 4096):
        if data[start] == 5:
            _overwrite(path, start, b"\0" * 4096)


def _page_headers(path: Path) -> None:
    """The first bytes of every leaf of a table: its cell pointers lead nowhere."""
    data = path.read_bytes()
    for start in range(4096, len(data), 4096):
        if data[start] == 0x0D:
            _overwrite(path, start, b"\0" * 8)


@pytest.mark.parametrize("harm", [_header, _first_page, _all_trees, _page_headers])
async def test_damage_beside_the_turns_costs_none(
    damaged: tuple[Path, str], tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    path, session = damaged
    harm(path)
    before = path.read_bytes()
    (tmp_path / "new").mkdir(mode=0o700)
    recovered = recover(path, tmp_path / "new" / "archive.db")
    assert recovered.turns == TURNS + 10
    assert recovered.whole, recovered.losses
    assert path.read_bytes() == before
    assert [turn.content for turn in await _read(recovered.path, session)] == [_text(n) for n in range(1, TURNS + 1)]
    assert check(recovered.path).sound, check(recovered.path).findings


async def test_a_whole_file_is_recovered_whole(damaged: tuple[Path, str], archive_path: Path, tmp_path: Path) -> None:
    path, session = damaged
    archive_path.parent.mkdir(mode=0o700)
    copy_file(path, archive_path)
    (tmp_path / "new").mkdir()
    # The name that `loom recover` gives when none is given begins with that of a file without an ending.
    recovered = recover(path.rename(tmp_path / "new" / "saved"), tmp_path / "new" / "saved-recovered.db")
    assert recovered.whole
    assert {file.name for file in (tmp_path / "new").iterdir()} == {"saved", "saved-recovered.db"}
    old, new = await ConversationStore.open(archive_path), await ConversationStore.open(recovered.path)
    try:
        assert await new.list_sessions() == await old.list_sessions()
        assert await new.get_session(session) == await old.get_session(session)
        assert await new.get_turns(session, limit=TURNS) == await old.get_turns(session, limit=TURNS)
        assert await new.get_draft(session) == await old.get_draft(session)
        assert await new.get_manifest(session, 1) == _manifest(session)
    finally:
        await old.close()
        await new.close()


@pytest.mark.parametrize("torn", [0, 2048], ids=["between pages", "inside a page"])
async def test_half_a_file_gives_the_turns_in_that_half(damaged: tuple[Path, str], tmp_path: Path, torn: int) -> None:
    path, session = damaged
    os.truncate(path, path.stat().st_size // 8192 * 4096 + torn)
    recovered = recover(path, tmp_path / "new.db")
    assert not recovered.whole
    assert recovered.turns > TURNS // 4
    turns = await _read(recovered.path, session)
    # What lay in the torn page may be there in part; then that is said, as far as it can be known.
    (loss,) = [loss for loss in recovered.losses if len(loss.lost) > 10]
    assert len(loss.altered) <= (1 if torn else 0)
    named = {*loss.altered, *loss.unproven}
    kept = [turn for turn in turns if turn.role != "system" and turn.turn_number not in named]
    assert all(turn.content == _text(turn.turn_number) for turn in kept)
    assert [turn.turn_number for turn in turns] == list(range(1, len(turns) + 1))
    assert check(recovered.path).sound


async def test_a_lost_turn_leaves_its_number_and_a_note(damaged: tuple[Path, str], tmp_path: Path) -> None:
    path, session = damaged
    place = find_bytes(path, b"turn number 57 ")
    _overwrite(path, place // 4096 * 4096, b"\0" * 4096)
    recovered = recover(path, tmp_path / "new.db")
    (loss,) = [loss for loss in recovered.losses if 57 in loss.lost]
    turns = await _read(recovered.path, session)
    assert (turns[56].role, turns[56].kind, turns[56].status) == ("system", "note", "failed")
    assert turns[56].content == "T57 could not be recovered from damaged.db."
    assert turns[90].content == _text(91)
    assert turns[-1].content is not None
    assert "T57" in turns[-1].content
    assert turns[-1].turn_number == TURNS + 1
    assert loss.altered == ()
    assert check(recovered.path).sound


async def test_a_text_whose_chain_is_lost_is_kept_and_named_too(damaged: tuple[Path, str], tmp_path: Path) -> None:
    path, session = damaged
    place = find_bytes(path, b"turn number 57 ")
    _overwrite(path, place // 4096 * 4096, b"\0" * 4096)
    lost = recover(path, tmp_path / "first.db").losses[0].lost
    behind = lost[-1] + 1
    _overwrite(path, find_bytes(path, b"turn number %d " % behind), b"TURN")
    recovered = recover(path, tmp_path / "new.db")
    loss = recovered.losses[0]
    assert (loss.lost, loss.altered, loss.unproven) == (lost, (), (behind,))
    turns = await _read(recovered.path, session)
    assert (turns[behind - 1].content or "").startswith(f"TURN number {behind} ")
    assert f"T{behind} perhaps changed" in (turns[-1].content or "")


async def test_a_changed_text_is_kept_and_named(damaged: tuple[Path, str], tmp_path: Path) -> None:
    path, session = damaged
    _overwrite(path, find_bytes(path, b"turn number 101 "), b"TURN")
    recovered = recover(path, tmp_path / "new.db")
    (loss,) = recovered.losses
    assert (loss.lost, loss.altered) == ((), (101,))
    assert (await _read(recovered.path, session))[100].content == _text(101).replace("turn", "TURN", 1)


async def test_turns_that_are_only_in_the_log_are_recovered(
    store: ConversationStore, session: str, tmp_path: Path
) -> None:
    for n in range(1, 31):
        await store.append_turn(session, "user", _text(n))
    for ending in ("", "-wal"):
        copy_file(Path(f"{store.path}{ending}"), tmp_path / f"damaged.db{ending}")
    _overwrite(tmp_path / "damaged.db", 0, b"\xaa" * 100)
    log = tmp_path / "damaged.db-wal"
    assert log.stat().st_size > 100_000
    before = log.read_bytes()
    recovered = recover(tmp_path / "damaged.db", tmp_path / "new.db")
    assert recovered.whole
    assert recovered.turns == 30
    assert log.read_bytes() == before


async def test_sessions_without_their_row_come_back_by_their_turns(damaged: tuple[Path, str], tmp_path: Path) -> None:
    path, session = damaged
    data = path.read_bytes()
    place = data.find(b"The long one")
    while place >= 0:
        _overwrite(path, place // 4096 * 4096, b"\0" * 4096)
        place = data.find(b"The long one", (place // 4096 + 1) * 4096)
    recovered = recover(path, tmp_path / "new.db")
    assert [turn.content for turn in await _read(recovered.path, session)][:5] == [_text(n) for n in range(1, 6)]


@pytest.mark.parametrize("content", [b"", b"\0" * 9000, b"nothing of the sort " * 1000])
def test_a_file_without_turns_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(NotAnArchive):
        recover(tmp_path / "file", tmp_path / "new.db")
    assert {path.name for path in tmp_path.iterdir()} == {"file"}


def test_noise_is_refused_and_not_tripped_over(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(random.Random(3).randbytes(300_000))
    with pytest.raises(NotAnArchive):
        recover(tmp_path / "file", tmp_path / "new.db")


async def test_nothing_is_overwritten(damaged: tuple[Path, str], tmp_path: Path) -> None:
    (tmp_path / "new.db").write_text("mine")
    with pytest.raises(WriteFailed):
        recover(damaged[0], tmp_path / "new.db")
    assert (tmp_path / "new.db").read_text() == "mine"
    with pytest.raises(ArchiveUnavailable):
        recover(tmp_path / "none.db", tmp_path / "other.db")


_RECOVER = """
import resource, signal, sys
from pathlib import Path
from loom.archive import WriteFailed
from loom.archive.salvage import recover

damaged, target = map(Path, sys.argv[1:3])
name, room = sys.argv[3], int(sys.argv[4])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

def fill(event, arguments):
    if event == "sqlite3.connect" and f"/{name}?" in str(arguments[0]):
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

sys.addaudithook(fill)
try:
    recover(damaged, target)
except WriteFailed as error:
    print(error.what)
"""


@pytest.mark.parametrize(
    ("name", "room"),
    [
        # A disk that takes the empty archive, and not what is to be in it; and one that does not take that.
        ("archive.db", 250_000),
        ("archive.db-new", 8_000),
    ],
)
def test_a_disk_that_fills_up_meanwhile_leaves_nothing_half_written(
    damaged: tuple[Path, str], tmp_path: Path, name: str, room: int
) -> None:
    target = tmp_path / "new" / "archive.db"
    target.parent.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", _RECOVER, str(damaged[0]), str(target), name, str(room)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "nothing was stored" in done.stdout, done
    assert list(target.parent.iterdir()) == []


async def test_a_number_that_no_turn_can_have_is_damage(damaged: tuple[Path, str], tmp_path: Path) -> None:
    copy, session = damaged
    # The row of the last turn: its number, 200, its exchange, 100, and its role stand behind the session's id.
    place = find_bytes(copy, session.encode() + b"\x00\xc8\x64assistant")
    overwrite(copy, place + len(session), b"\x7f\xff")
    recovered = recover(copy, tmp_path / "recovered.db")
    (loss,) = recovered.losses
    assert (loss.lost, loss.altered) == ((TURNS,), ())
    assert recovered.turns == TURNS - 1 + 10


def _replace_everywhere(path: Path, old: bytes, new: bytes) -> None:
    while (place := find_bytes(path, old)) >= 0:
        overwrite(path, place, new)


async def test_a_key_that_the_damage_gave_to_two_turns_costs_neither(archive_path: Path, tmp_path: Path) -> None:
    store = await ConversationStore.open(archive_path)
    session = await store.create_session(tmp_path, "offline", "")
    await store.append_turn(session, "user", "one", append_key="key-of-the-first")
    await store.append_turn(session, "user", "two", append_key="key-of-the-other")
    await store.close()
    copy = tmp_path / "damaged.db"
    copy_file(archive_path, copy)
    _replace_everywhere(copy, b"key-of-the-other", b"key-of-the-first")
    recovered = recover(copy, tmp_path / "new.db")
    assert [turn.content for turn in await _read(recovered.path, session)] == ["one", "two"]


async def test_a_reference_that_the_damage_gave_to_two_sessions_costs_neither(
    archive_path: Path, tmp_path: Path
) -> None:
    store = await ConversationStore.open(archive_path)
    sessions = [await store.create_session(tmp_path, "offline", "") for _ in range(2)]
    for session in sessions:
        await store.append_turn(session, "user", f"said in {session}")
    first, other = [(await store.get_session(session)).reference.encode() for session in sessions]  # type: ignore[union-attr]
    await store.close()
    copy = tmp_path / "damaged.db"
    copy_file(archive_path, copy)
    _replace_everywhere(copy, other, first)
    recovered = recover(copy, tmp_path / "new.db")
    for session in sessions:
        assert [turn.content for turn in await _read(recovered.path, session)] == [f"said in {session}"]
    assert check(recovered.path).sound
