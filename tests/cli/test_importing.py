"""`loom import` as a person runs it: a session goes from one home to another, word for word."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from loom.archive import ConversationStore
from loom.interchange.document_reading import read_document
from loom.interchange.source import opened
from tests.cli.test_main import loom
from tests.interchange import homes
from tests.interchange import test_claude_code as claude_code
from tests.interchange.test_claude_code import TALK, text_of
from tests.interchange.test_other_agents import GPTSH


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """What was exported of a session of two exchanges with a tool's call."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "README.md").write_text("words of the file\n")
    for words in (["-p", "read README.md"], ["--resume", "-p", "never use tabs"]):
        done = loom("cowork", "-w", str(tmp_path / "work"), "-m", "offline", *words, home=tmp_path / "there")
        assert done.returncode == 0, done.stderr
    file = tmp_path / "talk.json"
    assert loom("export", "0", str(file), "-w", str(tmp_path / "work"), home=tmp_path / "there").returncode == 0
    return file


async def test_a_session_is_in_another_home_as_it_was(talk: Path, tmp_path: Path) -> None:
    here = tmp_path / "here"
    done = loom("import", str(talk), home=here)
    assert (done.returncode, done.stderr) == (0, "")
    exported = json.loads(talk.read_text())
    assert done.stdout.startswith(f"{exported['session']['reference']}: ")
    again = json.loads(loom("export", "0", "-w", str(tmp_path / "work"), "--format", "json", home=here).stdout)
    assert again["turns"] == exported["turns"]
    for same in ("id", "reference", "title", "workspace_path", "started_at", "last_active_at", "turn_count"):
        assert again["session"][same] == exported["session"][same]
    assert loom("check", home=here).returncode == 0
    assert "words of the file" in loom("search", "words", "-w", str(tmp_path / "work"), home=here).stdout


def test_it_goes_on_in_another_folder_knowing_what_it_knew(talk: Path, tmp_path: Path) -> None:
    here, folder = tmp_path / "here", tmp_path / "elsewhere"
    folder.mkdir()
    assert loom("import", str(talk), "-w", str(folder), home=here).returncode == 0
    done = loom("cowork", "-w", str(folder), "-m", "offline", "--resume", "-p", "summary", home=here)
    assert done.returncode == 0, done.stderr
    assert "never use tabs" in done.stdout


def test_a_folder_that_is_not_here_is_said(talk: Path, tmp_path: Path) -> None:
    (tmp_path / "work").rename(tmp_path / "moved")
    done = loom("import", "-", home=tmp_path / "here", stdin=talk.read_text())
    assert done.returncode == 0
    assert "is not here; -w PATH" in done.stderr


async def test_one_that_is_there_is_not_stored_twice_and_one_that_went_on_is_left_alone(
    talk: Path, tmp_path: Path
) -> None:
    here = tmp_path / "here"
    assert loom("import", str(talk), home=here).returncode == 0
    done = loom("import", str(talk), home=here)
    assert (done.returncode, done.stdout) == (2, "")
    assert "already" in done.stderr and "whole" in done.stderr
    store = await ConversationStore.open(here / "archive.db")
    (session,) = await store.list_sessions()
    await store.append_turn(session.id, "user", "something else")
    await store.close()
    done = loom("import", str(talk), home=here)
    assert done.returncode == 2 and "gone on otherwise" in done.stderr


async def test_an_import_that_was_cut_off_goes_on(talk: Path, tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir(mode=0o700)
    with opened(talk) as source:
        read = read_document(source)
        store = await ConversationStore.open(here / "archive.db")
        assert await store.adopt_session(read.session)
        await store.append_turns(read.session.id, [each.turn for each in next(read.batches())])
        assert 0 < await store.get_turn_count(read.session.id) < read.turn_count
        await store.close()
        digests = [each.digest for each in read.walk()]
    assert loom("import", str(talk), home=here).returncode == 0
    store = await ConversationStore.open(here / "archive.db", readonly=True)
    stored = await store.get_range(read.session.id, 1, 100)
    assert [turn.digest for turn in stored] == digests
    await store.close()


def test_a_file_that_somebody_changed_is_told_from_where_on(talk: Path, tmp_path: Path) -> None:
    made = json.loads(talk.read_text())
    made["turns"][1]["content"] = "what nobody said"
    talk.write_text(json.dumps(made))
    done = loom("import", str(talk), home=tmp_path / "here")
    assert done.returncode == 1
    assert "from T2 on" in done.stderr


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("nothing.json", "cannot be read"),
        ("work", "is a folder that is no session"),
        ("x" * 3_000, "long"),
        (f"a#{'x' * 3_000}", "long"),
    ],
    ids=["none", "folder", "long", "long place"],
)
def test_what_cannot_be_read_is_one_line_and_exit_code_2(talk: Path, tmp_path: Path, file: str, words: str) -> None:
    done = loom("import", str(tmp_path / file), home=tmp_path / "here")
    assert done.returncode == 2
    assert words in done.stderr and len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "here").exists()


@pytest.mark.parametrize("folder", ["/x" * 3_000, "../..", "~", "C:\\work"], ids=["long", "up", "home", "other"])
def test_a_folder_that_can_be_none_here_is_said(folder: str, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(text_of(*({**each, "cwd": folder} for each in TALK)))
    done = loom("import", str(file), home=tmp_path / "here")
    assert done.returncode == 0 and "7 turns" in done.stdout
    assert "is not here; -w PATH" in done.stderr


def test_a_session_without_a_folder_wants_one(tmp_path: Path) -> None:
    file, folder, here = tmp_path / "7x2m.json", tmp_path / "work", tmp_path / "here"
    folder.mkdir()
    file.write_text(json.dumps(GPTSH))
    done = loom("import", str(file), home=here)
    assert done.returncode == 2 and "Name one with -w PATH." in done.stderr
    assert not here.exists()
    assert loom("import", str(file), "-w", str(folder), home=here).returncode == 0
    assert "Feeling Fine Check" in loom("sessions", "-w", str(folder), home=here).stdout


def test_a_session_of_claude_code_is_found_gone_on_with_and_taken_in_again_when_it_has_grown(tmp_path: Path) -> None:
    file, folder, here = tmp_path / "0b7e.jsonl", tmp_path / "work", tmp_path / "here"
    folder.mkdir()
    lines = text_of(*({**each, "cwd": str(folder)} for each in TALK))
    file.write_text(lines)
    done = loom("import", str(file), home=here)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "c001: 7 turns of What is here? Look.\n"
    assert "One file." in loom("search", "file", "-w", str(folder), home=here).stdout
    assert loom("import", str(file), home=here).stdout == "c001: 0 new turns of What is here? Look.\n"
    file.write_text(lines + text_of({**TALK[-2], "uuid": "u9", "message": {"content": "One more thing."}}))
    assert loom("import", str(file), home=here).stdout == "c001: 1 new turn of What is here? Look.\n"
    turns = json.loads(loom("export", "c001", "-w", str(folder), "--format", "json", home=here).stdout)["turns"]
    assert [turn["content"] for turn in turns][-2:] == ["Nothing.", "One more thing."]
    assert len(turns) == 8 and all(turn["token_count"] > 0 for turn in turns)
    done = loom("cowork", "-w", str(folder), "-m", "offline", "--resume", "-p", "what was turn 1", home=here)
    assert done.returncode == 0 and "What is here?" in done.stdout


def _contents(reference: str, folder: Path, here: Path) -> list[str | None]:
    exported = json.loads(loom("export", reference, "-w", str(folder), "--format", "json", home=here).stdout)
    return [turn["content"] or turn["tool_calls"][0]["name"] for turn in exported["turns"]]


def test_an_answer_that_was_being_written_when_it_was_imported_is_whole_after_the_next_time(tmp_path: Path) -> None:
    folder, here = tmp_path / "work", tmp_path / "here"
    folder.mkdir()
    wire = homes.kimi_home(tmp_path, folder) / "wire.jsonl"
    *before, last = wire.read_text().splitlines(keepends=True)
    wire.write_text("".join(before) + last.replace("Nothing.", "No"))
    first = loom("import", str(wire.parent), home=here)
    wire.write_text("".join(before) + last)
    done = loom("import", str(wire.parent), home=here)
    assert (first.returncode, done.returncode) == (0, 0)
    assert "1 new turn" in done.stdout and "1 turn is in the file otherwise" in done.stderr
    assert _contents("0", folder, here)[-3:] == ["And now?", "No", "Nothing."]
    done = loom("import", str(wire.parent), home=here)
    assert "0 new turns" in done.stdout and done.stderr == ""


def test_what_comes_in_front_of_a_call_of_gemini_takes_no_other_ones_place(tmp_path: Path) -> None:
    folder, here = tmp_path / "work", tmp_path / "here"
    folder.mkdir()
    file = homes.gemini_home(tmp_path, folder)
    head, asked, early, late, *_ = file.read_text().splitlines(keepends=True)
    file.write_text(head + asked + json.dumps({**json.loads(early), "thoughts": []}) + "\n")
    assert loom("import", str(file), home=here).returncode == 0
    with file.open("a") as more:
        more.write(json.dumps({**json.loads(late), "content": "I say."}) + "\n")
    done = loom("import", str(file), home=here)
    assert (done.returncode, done.stderr) == (0, "")
    assert _contents("0", folder, here) == ["What is here?", "ls", "I look.", "I say.", "a.py"]


async def test_calls_without_results_and_results_without_calls_break_no_window(tmp_path: Path) -> None:
    file, folder, here = tmp_path / "0b7e.jsonl", tmp_path / "work", tmp_path / "here"
    folder.mkdir()
    odd = [
        claude_code.answered("a5", {**claude_code.CALL, "id": "toolu_2"}, message="m4"),
        claude_code.answered("a6", {**claude_code.CALL, "id": "toolu_2"}, message="m5"),
        claude_code.asked("u4", [{**claude_code.RESULT, "tool_use_id": "toolu_9"}]),
        claude_code.asked("u5", [{**claude_code.RESULT, "tool_use_id": ""}, claude_code.RESULT]),
        claude_code.asked("u6", "And then?"),
        claude_code.answered("a7", {**claude_code.CALL, "id": "toolu_3"}, message="m6"),
    ]
    file.write_text(text_of(*({**each, "cwd": str(folder)} for each in [*TALK, *odd])))
    assert loom("import", str(file), home=here).returncode == 0
    done = loom("cowork", "-w", str(folder), "-m", "offline", "--resume", "-p", "what was turn 1", home=here)
    assert done.returncode == 0 and "What is here?" in done.stdout, done.stderr
    assert loom("export", "0", "-w", str(folder), home=here).returncode == 0
    assert loom("context", "0", "-w", str(folder), "--at", "1", "--full", home=here).returncode == 0
    assert loom("check", home=here).returncode == 0


def test_another_folder_for_one_that_is_there_already_is_said_to_change_nothing(tmp_path: Path) -> None:
    file, here, other = tmp_path / "a.jsonl", tmp_path / "here", tmp_path / "other"
    other.mkdir()
    file.write_text(text_of(*TALK))
    done = loom("import", str(file), "-w", str(tmp_path), home=here)
    assert (done.returncode, done.stderr) == (0, "")
    done = loom("import", str(file), "-w", str(other), home=here)
    assert done.returncode == 0 and f"it stays in {tmp_path}, where" in done.stderr


def test_sub_agents_and_outputs_that_were_too_large_come_from_beside_the_file(tmp_path: Path) -> None:
    file, here = tmp_path / f"{claude_code.SESSION}.jsonl", tmp_path / "here"
    beside = tmp_path / claude_code.SESSION
    for folder in ("subagents", "tool-results"):
        (beside / folder).mkdir(parents=True)
    (tmp_path / "secret").write_text("the secret")
    (beside / "tool-results" / "toolu_1.txt").write_text("the whole output, é")
    (beside / "tool-results" / "linked").symlink_to(tmp_path / "secret")
    talk = [*TALK]
    for number, saved in enumerate(["/home/ada/toolu_1.txt", str(tmp_path / "secret"), "/x/linked", "/x/none"]):
        words = (
            f"<persisted-output>\nOutput too large. Full output saved to: {saved}\n\nPreview:\nthe\n</persisted-output>"
        )
        talk.append(claude_code.asked(f"r{number}", [{**claude_code.RESULT, "content": words}]))
    file.write_text(text_of(*talk))
    agent = [{**each, "isSidechain": True, "agentId": "a7"} for each in TALK[1:5]]
    (beside / "subagents" / "agent-a7.jsonl").write_text(text_of(*agent))
    done = loom("import", str(file), "-w", str(tmp_path), home=here)
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 1
    assert "1 session; --sub-agents" in done.stderr and "whose file is not there (3)" in done.stderr
    exported = loom("export", "0", "-w", str(tmp_path), home=here).stdout
    assert "the whole output, é" in exported and "the secret" not in exported
    done = loom("import", str(file), "-w", str(tmp_path), "--sub-agents", home=here)
    assert done.returncode == 0
    assert done.stdout.splitlines()[1].endswith(": 4 turns of Sub-agent: What is here? Look.")


@pytest.mark.parametrize("linked", ["", "tool-results"])
def test_a_folder_that_leads_elsewhere_is_no_place_for_outputs(linked: str, tmp_path: Path) -> None:
    file, here, keys = tmp_path / f"{claude_code.SESSION}.jsonl", tmp_path / "here", tmp_path / "keys"
    (keys / "tool-results").mkdir(parents=True)
    for place in (keys, keys / "tool-results"):
        (place / "id").write_text("the secret")
    if linked:
        (tmp_path / claude_code.SESSION).mkdir()
    (tmp_path / claude_code.SESSION / linked).symlink_to(keys)
    words = "<persisted-output>\nOutput too large. Full output saved to: /x/id\n</persisted-output>"
    file.write_text(text_of(*TALK, claude_code.asked("r1", [{**claude_code.RESULT, "content": words}])))
    done = loom("import", str(file), "-w", str(tmp_path), home=here)
    assert done.returncode == 0 and "whose file is not there (1)" in done.stderr
    assert "the secret" not in loom("export", "0", "-w", str(tmp_path), home=here).stdout


def test_of_several_files_the_good_ones_are_taken_in(tmp_path: Path) -> None:
    (tmp_path / "bad").write_text("nothing")
    (tmp_path / "a.jsonl").write_text(text_of(*TALK))
    (tmp_path / "b.json").write_text(json.dumps(GPTSH))
    files = [str(tmp_path / name) for name in ("a.jsonl", "bad", "b.json")]
    done = loom("import", *files, "-w", str(tmp_path), home=tmp_path / "here")
    assert done.returncode == 2
    assert len(done.stdout.splitlines()) == 2 and f"{files[1]}: That is no JSON" in done.stderr


def test_a_database_gives_its_sessions_or_the_one_that_is_named(tmp_path: Path) -> None:
    folder, here = tmp_path / "work", tmp_path / "here"
    folder.mkdir()
    path = homes.opencode_home(tmp_path, folder)
    done = loom("import", f"{path}#ses_2", home=here)
    assert (done.returncode, done.stdout.partition(": ")[2]) == (0, "1 turn of A child\n"), done.stderr
    done = loom("import", str(path), home=here)
    assert (done.returncode, done.stdout.partition(": ")[2]) == (0, "7 turns of Looking around\n")
    assert "a.py" in loom("search", "a.py", "-w", str(folder), home=here).stdout
    assert loom("check", home=here).returncode == 0
    done = loom("import", str(here / "archive.db"), home=here)
    assert done.returncode == 2 and "none of an agent" in done.stderr


@pytest.mark.parametrize("home", [homes.vibe_home, homes.kimi_home, homes.crush_home, homes.goose_home])
def test_a_session_of_another_agent_goes_on(home: Callable[[Path, Path], Path], tmp_path: Path) -> None:
    folder, here = tmp_path / "work", tmp_path / "here"
    folder.mkdir()
    assert loom("import", str(home(tmp_path, folder)), home=here).returncode == 0
    done = loom("cowork", "-w", str(folder), "-m", "offline", "--resume", "-p", "what was turn 1", home=here)
    assert done.returncode == 0 and "What is here?" in done.stdout, done.stderr


def test_all_of_a_long_session_is_in_the_index_when_the_import_ends(tmp_path: Path) -> None:
    file, here = tmp_path / "long.jsonl", tmp_path / "here"
    words = " ".join(f"word{number}" for number in range(300))
    asked = (claude_code.asked(f"u{number}", f"question {number}: {words}") for number in range(2_000))
    file.write_text(text_of(*asked))
    assert loom("import", str(file), "-w", str(tmp_path), home=here).returncode == 0
    checked = loom("check", home=here).stdout
    assert "index ok" in checked and "Everything is in order" in checked


async def test_a_session_that_is_open_elsewhere_costs_none_of_the_others(tmp_path: Path) -> None:
    here = tmp_path / "here"
    (tmp_path / "a.jsonl").write_text(text_of(*TALK))
    (tmp_path / "b.json").write_text(json.dumps(GPTSH))
    assert loom("import", str(tmp_path / "a.jsonl"), "-w", str(tmp_path), home=here).returncode == 0
    store = await ConversationStore.open(here / "archive.db")
    await store.acquire_lease(claude_code.SESSION)
    files = [str(tmp_path / name) for name in ("a.jsonl", "b.json")]
    done = loom("import", *files, "-w", str(tmp_path), home=here)
    assert done.returncode == 2
    assert "Feeling Fine Check" in done.stdout and f"{files[0]}: " in done.stderr and "open" in done.stderr
    assert "Import it again when" in done.stderr and "Open it read-only" not in done.stderr
    await store.close()


def test_a_file_that_says_the_id_of_another_session_puts_nothing_behind_it(talk: Path, tmp_path: Path) -> None:
    here, file = tmp_path / "here", tmp_path / "a.jsonl"
    assert loom("import", str(talk), home=here).returncode == 0
    before = loom("export", "0", "-w", str(tmp_path / "work"), home=here).stdout
    mine = json.loads(talk.read_text())["session"]["id"]
    file.write_text(text_of(*({**each, "sessionId": mine} for each in TALK)))
    done = loom("import", str(file), "-w", str(tmp_path), home=here)
    assert (done.returncode, done.stdout) == (2, "") and "another session of this id" in done.stderr
    assert loom("export", "0", "-w", str(tmp_path / "work"), home=here).stdout == before


async def test_a_session_that_was_deleted_from_the_list_is_told_how_it_comes_back(tmp_path: Path) -> None:
    file, here = tmp_path / "a.jsonl", tmp_path / "here"
    file.write_text(text_of(*TALK))
    assert loom("import", str(file), "-w", str(tmp_path), home=here).returncode == 0
    store = await ConversationStore.open(here / "archive.db")
    await store.delete_session(claude_code.SESSION)
    await store.close()
    done = loom("import", str(file), "-w", str(tmp_path), home=here)
    assert done.returncode == 0 and "loom cowork --resume c001" in done.stderr
