"""Sessions of agents that keep them as folders, in databases, or in a file for all."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import struct
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from loom.archive.foreign_databases import ForeignUnreadable, opened_foreign
from loom.archive.records import TurnKind
from loom.interchange.session_file import sessions_in
from loom.interchange.source import ImportFailed
from tests.interchange import homes, test_codex
from tests.interchange.reading_text import Whole, read_session, whole

Home = Callable[[Path, Path], Path]

SAID = ["What is here?", "I look.", None, "a.py", "One file.", "And now?", "Nothing."]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    return made


def read(path: Path, only: str = "") -> list[Whole]:
    return [whole(_good(each)) for each in sessions_in(path, only=only)]


def _good(each: object) -> object:
    assert not isinstance(each, ImportFailed), each
    return each


WHOLE = [homes.gemini_home, homes.opencode_home, homes.crush_home, homes.goose_home, homes.kimi_home, homes.vibe_home]


@pytest.mark.parametrize("home", WHOLE)
def test_a_talk_is_read_in_its_order(home: Home, tmp_path: Path, folder: Path) -> None:
    (session,) = read(home(tmp_path, folder))
    turns = [turn for turn in session.turns if turn.kind is not TurnKind.NOTE]
    assert [turn.content for turn in turns] == SAID
    assert [turn.role for turn in turns] == ["user", "assistant", "assistant", "tool", "assistant", "user", "assistant"]
    assert turns[1].kind is TurnKind.THINKING
    (call,) = turns[2].tool_calls or []
    assert call == {"id": "c1", "name": "ls", "arguments": {"path": "."}}
    assert (turns[3].tool_call_id, turns[3].tool_name) == ("c1", "ls")
    assert session.exchanges[0] == 1 and session.exchanges[-1] == 2
    assert session.session.workspace_path == str(folder)
    assert session.session.started_at.startswith("2026-03-01T10:00:0")
    assert session.session.title == ("What is here?" if home is homes.gemini_home else "Looking around")
    assert len({turn.append_key for turn in session.turns}) == len(session.turns)
    (again,) = read(home(tmp_path / "again", folder) if home is not homes.crush_home else folder)
    assert again.session.id == session.session.id and again.turns == session.turns


@pytest.mark.parametrize(
    ("home", "skipped"),
    [
        (homes.gemini_home, {"a message that was rewound": 1, "a window that Gemini CLI made shorter": 1}),
        (homes.opencode_home, {"what OpenCode wrote by itself": 1}),
        (homes.crush_home, {"an image or a document": 1}),
        (homes.goose_home, {"what Goose wrote by itself": 1}),
        (homes.kimi_home, {}),
        (
            homes.vibe_home,
            {"a message of the role system": 2, "what Mistral Vibe wrote by itself": 1, "a line that is not whole": 1},
        ),
    ],
)
def test_what_is_left_out_is_counted(home: Home, skipped: dict[str, int], tmp_path: Path, folder: Path) -> None:
    (session,) = read(home(tmp_path, folder))
    assert session.skipped == skipped


def test_what_was_taken_back_in_vibe_is_left_out_and_nothing_comes_twice(tmp_path: Path, folder: Path) -> None:
    (session,) = read(homes.vibe_rewound(tmp_path, folder))
    assert [turn.content for turn in session.turns] == SAID
    assert session.skipped["a message that was rewound"] == 1


def test_what_was_reverted_in_opencode_is_left_out(tmp_path: Path, folder: Path) -> None:
    path = homes.opencode_home(tmp_path, folder)
    connection = sqlite3.connect(path)
    connection.execute("ALTER TABLE session ADD COLUMN revert")
    connection.execute("UPDATE session SET revert = '{\"messageID\": \"msg_002\"}' WHERE id = 'ses_1'")
    connection.commit()
    connection.close()
    (session,) = read(path)
    assert [turn.content for turn in session.turns] == SAID[:5]
    assert session.skipped["a message that was reverted"] == 2


def test_a_file_in_the_folder_of_a_session_means_the_folder(tmp_path: Path, folder: Path) -> None:
    (session,) = read(homes.vibe_home(tmp_path, folder) / "messages.jsonl")
    assert len(session.turns) == 8


def test_an_older_session_of_opencode_is_read_from_its_files(tmp_path: Path, folder: Path) -> None:
    (session,) = read(homes.opencode_files(tmp_path, folder))
    assert [turn.content for turn in session.turns] == ["What is here?", "One file."]
    assert (session.session.title, session.session.workspace_path) == ("An old one", str(folder))


def test_what_sub_agents_said_in_a_database_is_a_session_by_itself(tmp_path: Path, folder: Path) -> None:
    path = homes.opencode_home(tmp_path, folder)
    assert [whole(_good(each)).session.title for each in sessions_in(path, sub_agents=True)] == [
        "Looking around",
        "A child",
    ]
    (child,) = read(path, "ses_2")
    assert child.turns[0].content == "Look there."
    (missing,) = sessions_in(path, only="ses_3")
    assert isinstance(missing, ImportFailed)


def test_what_sub_agents_of_gemini_said_is_beside_the_file(tmp_path: Path, folder: Path) -> None:
    path = homes.gemini_home(tmp_path, folder)
    agents = path.parent / "0b7e51a2-3c44-4f0e-9a51-2d6c8a4be0a1"
    agents.mkdir()
    (agents / "a7.jsonl").write_text(path.read_text())
    parent, agent = (whole(_good(each)) for each in sessions_in(path, sub_agents=True))
    assert agent.session.title == "Sub-agent: What is here?" and agent.session.id != parent.session.id
    assert agent.session.workspace_path == str(folder)
    assert len(list(sessions_in(path))) == 1


def test_kimi_without_a_wire_is_read_from_what_the_model_was_sent(tmp_path: Path, folder: Path) -> None:
    path = homes.kimi_context(tmp_path, folder)
    for file in path.iterdir():
        os.utime(file, (homes.WHEN, homes.WHEN))
    (session,) = read(path)
    assert session.session.started_at == "2026-03-01T10:00:00.000000Z"
    assert [turn.content for turn in session.turns] == ["What is here?", "One file.", "And now?"]
    assert session.skipped == {"what Kimi CLI wrote by itself": 1}


def test_what_kimi_took_over_into_another_file_is_read_once_and_what_was_said_twice_is_not_lost(
    tmp_path: Path, folder: Path
) -> None:
    def user(words: str) -> dict[str, object]:
        return {"role": "user", "content": words}

    def model(words: str) -> dict[str, object]:
        return {"role": "assistant", "content": words}

    path = homes.kimi_context(tmp_path, folder)
    begun = [user("Go on."), model("Done."), user("Go on."), model("Done.")]
    # Rewound to the first answer, then compacted: a summary and the last two messages are taken over.
    rewound = [*begun[:2], user("Go on."), model("Otherwise."), user("yes"), model("Well.")]
    compacted = [user("They went on."), *rewound[-2:], user("yes"), model("Well.")]
    for name, lines in (("context_1", begun), ("context_2", rewound), ("context", compacted)):
        (path / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (session,) = read(path)
    assert [turn.content for turn in session.turns] == [
        *("Go on.", "Done.", "Go on.", "Done."),
        *("Otherwise.", "yes", "Well."),
        *("They went on.", "yes", "Well."),
    ]


def test_names_and_ids_that_no_provider_takes_are_respelled_and_still_belong_together(tmp_path: Path) -> None:
    long = "x" * 100
    talk = [
        *test_codex.TALK,
        test_codex.item("function_call", name="fs.read file", arguments="{}", call_id="functions.ls:0"),
        test_codex.item("function_call_output", call_id="functions.ls:0", output="one"),
        test_codex.item("function_call", name=long, arguments="{}", call_id=long),
        test_codex.item("function_call_output", call_id=long, output="two"),
    ]
    *_, dotted, one, cut, two = read_session(test_codex.text_of(*talk)).turns
    (call,) = dotted.tool_calls or []
    assert (call["id"], call["name"]) == ("functions_ls_0", "fs_read_file") == (one.tool_call_id, one.tool_name)
    (call,) = cut.tool_calls or []
    assert (call["id"], call["name"]) == (two.tool_call_id, two.tool_name)
    assert len(call["id"]) == len(call["name"]) == 64


def test_aider_is_read_as_best_it_goes_and_says_so(tmp_path: Path, folder: Path) -> None:
    (session,) = read(homes.aider_home(tmp_path, folder))
    assert [(turn.role, turn.content) for turn in session.turns] == [
        ("system", "Aider: Aider v0.86\nMain model: m-x"),
        ("user", "What is here?\nLook."),
        ("assistant", "One file."),
        ("system", "Aider: a.py"),
        ("user", "And now?"),
        ("assistant", "# Nothing"),
        ("user", "`x`"),
        ("assistant", "Nothing."),
    ]
    (told,) = sessions_in(folder / ".aider.chat.history.md")
    assert not isinstance(told, ImportFailed) and "does not tell messages from headings" in told.remark
    assert session.session.workspace_path == str(folder)


def _states(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {str(each): (each.read_bytes(), each.stat().st_mtime_ns) for each in folder.rglob("*") if each.is_file()}


@pytest.mark.parametrize("is_open", [False, True])
def test_nothing_is_written_beside_a_database_and_what_is_in_its_log_is_read(
    tmp_path: Path, folder: Path, is_open: bool
) -> None:
    path = homes.opencode_home(tmp_path, folder)
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("UPDATE session SET title = 'Named in the log' WHERE id = 'ses_1'")
    writer.commit()
    if not is_open:
        # As its agent leaves it when it is killed.
        for file in path.parent.glob("opencode.db*"):
            shutil.copy(file, tmp_path / file.name)
        path = tmp_path / path.name
        path.with_name(f"{path.name}-shm").unlink()
    before = _states(path.parent)
    (session,) = read(path)
    assert session.session.title == "Named in the log"
    assert _states(path.parent) == before
    writer.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_database_in_a_folder_that_cannot_be_written_is_read(tmp_path: Path, folder: Path) -> None:
    path = homes.opencode_home(tmp_path, folder)
    path.parent.chmod(0o500)
    assert len(read(path)) == 1
    path.parent.chmod(0o700)


@pytest.mark.parametrize(
    "harm",
    [
        "DROP TABLE part",
        "DROP TABLE session",
        "UPDATE session SET title = x'ff00', directory = 7, time_created = 'soon'",
        "UPDATE message SET data = '[', time_created = 1e300",
        "UPDATE part SET data = '{\"type\": []}'",
        "UPDATE part SET data = zeroblob(70000000)",
        "DROP TABLE part; CREATE VIEW part AS WITH RECURSIVE n(data) AS (SELECT 1 UNION ALL SELECT data + 1 FROM n)"
        " SELECT data, data AS id, data AS message_id FROM n",
    ],
)
def test_a_database_that_is_not_as_it_should_be_is_refused_in_words(harm: str, tmp_path: Path, folder: Path) -> None:
    path = homes.opencode_home(tmp_path, folder)
    connection = sqlite3.connect(path)
    connection.executescript(harm)
    connection.close()
    for each in sessions_in(path):
        if not isinstance(each, ImportFailed):
            assert whole(each).turns


@pytest.mark.parametrize("damage", [b"SQLite format 3\x00", b"SQLite format 3\x00" + b"\xff" * 5_000])
def test_a_damaged_database_is_refused(damage: bytes, tmp_path: Path) -> None:
    path = tmp_path / "crush.db"
    path.write_bytes(damage)
    (refused,) = sessions_in(path)
    assert isinstance(refused, ImportFailed)


def _many(path: Path) -> None:
    """Make a table of a few pages hold more rows than can be counted: each page names the next one many times."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA page_size = 4096")
    connection.executescript(
        "CREATE TABLE sessions (id, created_at); CREATE TABLE messages (parts); CREATE TABLE rest (x)"
    )
    connection.executemany("INSERT INTO sessions VALUES (?, 1)", [(f"s{number}",) for number in range(2_000)])
    connection.executemany("INSERT INTO rest VALUES (?)", [("x" * 3_000,) for _ in range(20)])
    connection.commit()
    ((root,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'sessions'")
    ((last,),) = connection.execute("PRAGMA page_count")
    connection.close()
    data = bytearray(path.read_bytes())
    (leaf,) = struct.unpack_from(">I", data, (root - 1) * 4096 + 8)
    chain = [root, *range(last - 6, last + 1), leaf]
    for page, child in pairwise(chain):
        made = bytearray(4096)
        for place in range(400):
            struct.pack_into(">IB", made, 4096 - 6 * (place + 1), child, place // 4)
            struct.pack_into(">H", made, 12 + 2 * place, 4096 - 6 * (place + 1))
        struct.pack_into(">BHHHBI", made, 0, 5, 0, 400, 4096 - 6 * 400, 0, child)
        data[(page - 1) * 4096 : page * 4096] = made
    path.write_bytes(data)


def test_a_database_with_more_rows_than_there_is_room_for_is_read_no_further(tmp_path: Path) -> None:
    path = tmp_path / "crush.db"
    _many(path)
    (refused,) = sessions_in(path)
    assert isinstance(refused, ImportFailed)
    with opened_foreign(path) as database, pytest.raises(ForeignUnreadable):
        for _ in database.rows("sessions", ("id",)):
            pass


def test_a_database_of_something_else_is_refused(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "a.db").execute("CREATE TABLE t (x)").connection.close()
    (refused,) = sessions_in(tmp_path / "a.db")
    assert isinstance(refused, ImportFailed) and "none of an agent" in str(refused)
