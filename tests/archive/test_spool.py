"""What the archive could not take is on the disk all the same, and comes back once."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from loom.archive import ConversationStore, NewTurn, TurnKind, TurnStatus, WriteFailed
from loom.archive.records import NewSession
from loom.archive.rows import storable_turn
from loom.archive.spool import Spool, by_message

CALL = NewTurn(
    role="assistant",
    content="a\nb\0é日😀\u2028",
    kind=TurnKind.TOOL_CALL,
    status=TurnStatus.PARTIAL,
    tool_calls=[{"id": "c", "name": "n", "arguments": {"path": "x"}}],
    usage={"input_tokens": 3},
    part_json='{"a": 1}',
)

PUT = """
import os, sys
from pathlib import Path
from loom.archive import NewTurn
from loom.archive.spool import Spool
Spool(Path(sys.argv[1])).put("s", [NewTurn(role="user", content="left behind")])
os._exit(9)
"""


def test_turns_come_back_as_they_were_put(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    put = spool.put("s", [CALL]) + spool.put("s", [NewTurn(role="user", content="next")])
    spool.close()
    (found,) = Spool(tmp_path / "spool").waiting()
    assert (found.session_id, list(found.turns), found.unreadable) == ("s", put, 0)
    assert all(turn.append_key and turn.created_at for turn in put)
    assert (put[0].content, put[0].tool_calls) == (CALL.content, CALL.tool_calls)


def test_files_are_private_under_any_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        Spool(tmp_path / "spool").put("s", [CALL])
    finally:
        os.umask(before)
    (file,) = (tmp_path / "spool").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_what_a_killed_process_left_is_offered(tmp_path: Path) -> None:
    assert subprocess.run([sys.executable, "-c", PUT, str(tmp_path / "spool")], check=False).returncode == 9
    (found,) = Spool(tmp_path / "spool").waiting()
    assert [turn.content for turn in found.turns] == ["left behind"]


def test_what_a_living_process_retries_is_not_offered(tmp_path: Path) -> None:
    first, second = Spool(tmp_path / "spool"), Spool(tmp_path / "spool")
    first.put("s", [CALL])
    assert second.waiting() == []
    first.drop("s")
    first.close()
    assert list((tmp_path / "spool").iterdir()) == []


def test_a_line_that_was_cut_costs_no_other(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    spool.put("s", [CALL, CALL])
    spool.close()
    (file,) = (tmp_path / "spool").iterdir()
    os.truncate(file, file.stat().st_size - 20)
    later = Spool(tmp_path / "spool")
    (found,) = later.waiting()
    assert (found.session_id, len(found.turns), found.unreadable) == ("s", 1, 1)
    held = file.read_bytes()
    kept = later.remove(found)
    assert kept is not None
    assert kept.read_bytes() == held
    assert later.waiting() == []
    later.forget("s")
    assert list((tmp_path / "spool").iterdir()) == []


def test_a_line_that_is_damaged_anywhere_costs_no_other(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    kept = spool.put("s", [CALL, NewTurn(role="user", content="whole")])
    spool.close()
    (file,) = (tmp_path / "spool").iterdir()
    lines = file.read_bytes().splitlines(keepends=True)
    first = lines[0].removesuffix(b"\n")
    flipped = [first[:at] + bytes([first[at] ^ 1 << at % 7]) + first[at + 1 :] + b"\n" for at in range(len(first))]
    for line in (*flipped, b"5\n", b"null\n", b'"x"\n', b"[" * 100_000 + b"\n", b'{"session_id": "s", "session": 5}\n'):
        file.write_bytes(line + lines[1])
        (found,) = Spool(tmp_path / "spool").waiting()
        assert (found.session_id, found.turns[-1]) == ("s", kept[1]), line
        assert len(found.turns) + found.unreadable >= 2, line
        for turn in found.turns:
            storable_turn(turn)


NEW = NewSession(
    id="s",
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


@pytest.mark.parametrize(
    "damage",
    [
        *({name: None} for name in ("id", "reference", "title", "workspace_path", "model_name", "system_prompt")),
        *({name: [1]} for name in ("title", "workspace_commit", "parent_id", "fork_turn", "copied")),
        {"reference": "FORK 1"},
        {"reference": ""},
        {"started_at": "yesterday"},
        {"started_at": None},
        {"fork_turn": -1},
        {"copied": 2**63},
        {"copied": True},
    ],
    ids=str,
)
async def test_a_session_that_is_none_keeps_nobody_from_starting(
    store: ConversationStore, tmp_path: Path, damage: dict[str, object]
) -> None:
    spool = Spool(tmp_path / "spool")
    spool.put("s", [CALL], replace(NEW, **damage))  # type: ignore[arg-type]
    spool.close()
    (found,) = Spool(tmp_path / "spool").waiting()
    assert (len(found.turns), found.session, found.unreadable) == (1, None, 1)
    assert not await store.adopt(found)


async def test_a_session_comes_back_as_it_was_put(store: ConversationStore, tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    spool.put("s", [CALL], NEW)
    spool.close()
    (found,) = Spool(tmp_path / "spool").waiting()
    assert found.session == NEW
    assert await store.adopt(found)
    (kept,) = await store.list_sessions()
    assert (kept.id, kept.reference, kept.started_at, kept.turn_count) == ("s", "k3f9", NEW.started_at, 1)


def test_what_is_no_file_keeps_nothing_from_coming_back(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    spool.put("s", [CALL])
    spool.close()
    (tmp_path / "spool" / "folder.jsonl").mkdir()
    os.mkfifo(tmp_path / "spool" / "pipe.jsonl")
    (tmp_path / "spool" / "nowhere.jsonl").symlink_to("nowhere.jsonl")
    (found,) = Spool(tmp_path / "spool").waiting()
    assert (found.session_id, len(found.turns)) == ("s", 1)


def test_a_spool_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "spool").write_text("a file")
    with pytest.raises(WriteFailed, match="memory only"):
        Spool(tmp_path / "spool").put("s", [CALL])


async def test_storing_what_was_spooled_twice_stores_it_once(
    store: ConversationStore, session: str, tmp_path: Path
) -> None:
    spool = Spool(tmp_path / "spool")
    kept = spool.put(session, [NewTurn(role="user", content="once")])
    await store.append_turns(session, kept)
    spool.close()
    later = Spool(tmp_path / "spool")
    (found,) = later.waiting()
    await store.append_turns(session, found.turns)
    later.remove(found)
    assert await store.get_turn_count(session) == 1
    assert later.waiting() == []


def test_a_purge_takes_every_file_of_the_session(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    spool.put("s", [CALL])
    spool.put("other", [CALL])
    Spool(tmp_path / "spool").forget("s")
    assert [file.name.split("-")[0] for file in (tmp_path / "spool").iterdir()] == ["other"]


HALF = """
import resource, signal, sys
from pathlib import Path
from loom.archive import NewTurn, WriteFailed
from loom.archive.spool import Spool

spool = Spool(Path(sys.argv[1]))
spool.put("s", [NewTurn(role="user", content="before")])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
try:
    spool.put("s", [NewTurn(role="user", content="half " * 1_000)])
except WriteFailed as error:
    print(error.what)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
spool.put("s", [NewTurn(role="user", content="behind")])
"""


def test_a_disk_that_fills_up_in_the_middle_of_a_line_spoils_none_behind_it(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", HALF, str(tmp_path / "spool")], capture_output=True, text=True, check=True
    )
    assert "in memory only" in done.stdout
    (found,) = Spool(tmp_path / "spool").waiting()
    assert ([turn.content for turn in found.turns], found.unreadable) == (["before", "behind"], 0)


def test_a_file_of_which_no_line_can_be_read_is_still_its_sessions(tmp_path: Path) -> None:
    (tmp_path / "1b9d-6bcd-0123456789ab.jsonl").write_bytes(b"{cut off\n")
    (found,) = Spool(tmp_path).waiting()
    assert (found.session_id, found.turns, found.unreadable) == ("1b9d-6bcd", (), 1)


def test_what_was_left_earlier_comes_first(tmp_path: Path) -> None:
    for text in ("one", "two"):
        spool = Spool(tmp_path)
        spool.put("s", [NewTurn(role="user", content=text)])
        spool.close()
    first, second = Spool(tmp_path).waiting()
    for earlier, later in ((first, second), (second, first)):
        os.utime(earlier.path, ns=(1, 1))
        os.utime(later.path, ns=(2, 2))
        assert [found.path for found in Spool(tmp_path).waiting()] == [earlier.path, later.path]


def test_what_a_person_sent_in_a_row_is_one_beginning() -> None:
    turns = [NewTurn(role=role, content=str(n)) for n, role in enumerate(("tool", "user", "user", "assistant", "user"))]
    assert [[turn.content for turn in group] for group in by_message(turns)] == [["0"], ["1", "2", "3"], ["4"]]
