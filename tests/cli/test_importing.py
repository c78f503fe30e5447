"""`loom import` as a person runs it: a session goes from one home to another, word for word."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loom.archive import ConversationStore
from loom.interchange.reading import read_document
from tests.cli.test_main import loom
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
    read = read_document(talk.read_text())
    store = await ConversationStore.open(here / "archive.db")
    assert await store.adopt_session(read.session)
    await store.append_turns(read.session.id, next(read.behind(0)))
    assert 0 < await store.get_turn_count(read.session.id) < len(read.turns)
    await store.close()
    assert loom("import", str(talk), home=here).returncode == 0
    store = await ConversationStore.open(here / "archive.db", readonly=True)
    stored = await store.get_range(read.session.id, 1, 100)
    assert tuple(turn.digest for turn in stored) == read.digests
    await store.close()


def test_a_file_that_somebody_changed_is_told_from_where_on(talk: Path, tmp_path: Path) -> None:
    made = json.loads(talk.read_text())
    made["turns"][1]["content"] = "what nobody said"
    talk.write_text(json.dumps(made))
    done = loom("import", str(talk), home=tmp_path / "here")
    assert done.returncode == 1
    assert "from T2 on" in done.stderr


@pytest.mark.parametrize(("file", "words"), [("nothing.json", "cannot be read"), ("work", "cannot be read")])
def test_what_cannot_be_read_is_one_line_and_exit_code_2(talk: Path, tmp_path: Path, file: str, words: str) -> None:
    done = loom("import", str(tmp_path / file), home=tmp_path / "here")
    assert done.returncode == 2
    assert words in done.stderr and len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "here").exists()


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
    file.write_text(lines + text_of({**TALK[-2], "uuid": "u9", "message": {"content": "One more thing."}}))
    assert loom("import", str(file), home=here).returncode == 0
    turns = json.loads(loom("export", "c001", "-w", str(folder), "--format", "json", home=here).stdout)["turns"]
    assert [turn["content"] for turn in turns][-2:] == ["Nothing.", "One more thing."]
    assert len(turns) == 8 and all(turn["token_count"] > 0 for turn in turns)
    done = loom("cowork", "-w", str(folder), "-m", "offline", "--resume", "-p", "what was turn 1", home=here)
    assert done.returncode == 0 and "What is here?" in done.stdout
