"""`loom import --list` as a person runs it, in a home folder where other agents have been."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interchange import homes, test_claude_code

EVERY = {
    "claude-code": homes.claude_code_home,
    "codex": homes.codex_home,
    "gemini": homes.gemini_home,
    "opencode": homes.opencode_home,
    "crush": homes.crush_home,
    "goose": homes.goose_home,
    "kimi": homes.kimi_home,
    "vibe": homes.vibe_home,
    "aider": homes.aider_home,
    "gptsh": homes.gptsh_home,
    "pydantic-deep": homes.pydantic_deep_home,
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder in which every agent has worked in `work`."""
    folder = tmp_path / "home" / "work"
    folder.mkdir(parents=True)
    for make in EVERY.values():
        make(tmp_path / "home", folder)
    return tmp_path / "home"


def loom(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    moved = ("XDG_", "CLAUDE_", "CODEX_", "VIBE_")
    env = {key: value for key, value in os.environ.items() if not key.startswith(moved)}
    return subprocess.run(
        [sys.executable, "-m", "loom", "import", *arguments],
        env={**env, "HOME": str(home), "LOOM_HOME": str(home / "loom")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_agent_is_found_and_what_is_printed_can_be_imported(home: Path) -> None:
    done = loom("--list", "--json", "-w", str(home / "work"), home=home)
    assert done.returncode == 0
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(each["agent"] for each in found) == sorted(set(EVERY) - {"gptsh"})
    assert {each["folder"] for each in found} == {str(home / "work")}
    titles = {each["agent"]: each["title"] for each in found}
    assert titles["codex"] == "The named talk" and titles["opencode"] == titles["vibe"] == "Looking around"
    assert [each["when"] for each in found] == sorted((each["when"] for each in found), reverse=True)
    assert "1 session worked in other folders, or nothing says where; --all" in done.stderr
    taken = loom(*(each["path"] for each in found), "-w", str(home / "work"), home=home)
    assert taken.returncode == 0, taken.stderr
    assert len(taken.stdout.splitlines()) == len(found)


def test_only_one_agent_and_only_this_folder_unless_asked(home: Path) -> None:
    (home / "other").mkdir()
    done = loom("--list", "-w", str(home / "other"), home=home)
    assert (done.returncode, done.stdout) == (0, "")
    assert "--all" in done.stderr
    done = loom("--list", "claude", "--all", "-w", str(home / "other"), home=home)
    (line,) = done.stdout.splitlines()
    assert line.startswith("claude-code  ") and "  ~/work  What is here? Look.  (" in line and line.endswith(".jsonl")
    done = loom("--list", "gptsh", "--all", home=home)
    assert "Feeling Fine Check" in done.stdout and "no folder" in done.stdout
    done = loom("--list", "cursor", home=home)
    assert done.returncode == 2 and "pydantic-deep" in done.stderr


def test_a_home_where_nobody_was_is_said_and_nothing_is_made(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    done = loom("--list", "-w", str(tmp_path), home=tmp_path / "home")
    assert (done.returncode, done.stdout) == (0, "")
    assert "no session of another agent was found" in done.stderr
    assert not list((tmp_path / "home").iterdir())


def test_what_cannot_be_read_is_said_and_hides_no_other(home: Path) -> None:
    broken = home / ".claude" / "projects" / "x" / "broken.jsonl"
    broken.parent.mkdir()
    broken.write_text('{"type": "user", "sessionId": 7, "uuid": "u", "message": {"content": "hello"}}\n')
    (home / ".local" / "share" / "opencode" / "opencode-dev.db").write_bytes(b"SQLite format 3\x00" + b"x" * 5_000)
    packed = home / ".codex" / "archived_sessions" / "rollout-x.jsonl.zst"
    packed.parent.mkdir()
    packed.write_bytes(b"\x28\xb5\x2f\xfd")
    (home / ".codex" / "sessions" / "2026" / "03" / "01" / "rollout-y.jsonl").mkdir()
    projects = home / ".local" / "share" / "crush" / "projects.json"
    known = json.loads(projects.read_text())["projects"]
    projects.write_text(json.dumps({"projects": [7, {"path": "\0"}, {"path": "/\ud800"}, *known]}))
    strange = broken.with_name("strange.jsonl")
    strange.write_text(test_claude_code.text_of(*({**line, "cwd": "/\0"} for line in test_claude_code.TALK)))
    done = loom("--list", "--all", "-w", str(home / "work"), home=home)
    assert done.returncode == 0 and len(done.stdout.splitlines()) == len(EVERY) + 1
    assert loom("--list", "-w", str(home / "work"), home=home).returncode == 0
    for words in ("broken.jsonl: That session of Claude Code has no id", "opencode-dev.db", "zstd -dc"):
        assert words in done.stderr


def test_a_title_that_stands_at_the_end_of_a_long_file_is_found(home: Path) -> None:
    (path,) = (home / ".claude" / "projects").glob("*/*.jsonl")
    filler = {"type": "progress", "sessionId": "x", "data": "x" * 400_000}
    named = {"type": "custom-title", "customTitle": "Mine \x1b[31m"}
    with path.open("a") as file:
        file.write(f"{json.dumps(filler)}\n{json.dumps(named)}\n")
    done = loom("--list", "claude-code", "-w", str(home / "work"), home=home)
    assert "Mine ␛[31m" in done.stdout and " kB)" in done.stdout


def test_a_command_without_a_file_says_what_there_is(home: Path) -> None:
    done = loom(home=home)
    assert done.returncode == 2 and "loom import --list" in done.stderr
    assert loom("--list", "codex", "file", home=home).returncode == 2
