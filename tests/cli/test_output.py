"""What a command has to say when standard output is full, closed, or without a reader."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from loom.archive import ConversationStore

SEARCH = ("search", "--all", "words", "--json")
EXPORT = ("export", "0")
CHECK = ("check",)
COWORK = ("cowork", "-m", "offline", "-p", "list .")
HELP = ("export", "--help")
COMMANDS = [
    ("sessions", "--all"),
    SEARCH,
    EXPORT,
    CHECK,
    ("backup",),
    COWORK,
    (*COWORK, "--output", "json"),
    HELP,
]


@pytest.fixture
async def home(tmp_path: Path) -> Path:
    """A home with one session, too long for a pipe's buffer."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    store = await ConversationStore.open(home / "archive.db")
    session = await store.create_session(tmp_path, "offline", "")
    await store.append_turn(session, "user", "the words that were stored " + "é日 and more " * 20_000)
    await store.close()
    return home


def run(home: Path, command: tuple[str, ...], redirection: str) -> subprocess.CompletedProcess[str]:
    """The command in a shell, in its workspace, its streams redirected as a person would."""
    python = [sys.executable, "-m", "loom", *command]
    return subprocess.run(
        ["bash", "-c", f'set -o pipefail; "$@" {redirection}', "bash", *python],
        # As a person has it: what is printed is held until there is enough, or the end.
        env={**{k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}, "LOOM_HOME": str(home)},
        cwd=home.parent,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_output_that_is_full_is_one_line_and_exit_code_2(home: Path, command: tuple[str, ...]) -> None:
    done = run(home, command, ">/dev/full")
    assert done.returncode == 2, done
    assert "Standard output cannot be written: No space left on device." in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


@pytest.mark.parametrize("command", [SEARCH, EXPORT, CHECK, COWORK], ids=" ".join)
def test_output_that_is_closed_is_one_line_and_exit_code_2(home: Path, command: tuple[str, ...]) -> None:
    done = run(home, command, ">&-")
    assert done.returncode == 2, done
    assert "Standard output cannot be written: Bad file descriptor." in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


@pytest.mark.parametrize("command", [EXPORT, CHECK, COWORK, HELP], ids=" ".join)
def test_a_reader_that_goes_away_is_no_error(home: Path, command: tuple[str, ...]) -> None:
    done = run(home, command, "| true")
    assert (done.returncode, done.stderr) == (0, ""), done


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
@pytest.mark.parametrize("command", [SEARCH, CHECK, COWORK], ids=" ".join)
def test_errors_that_nobody_can_read_change_nothing(home: Path, command: tuple[str, ...], redirection: str) -> None:
    done = run(home, command, redirection)
    assert (done.returncode, done.stderr) == (0, ""), done
    assert done.stdout


def test_without_any_stream_no_file_of_looms_becomes_one(home: Path) -> None:
    done = run(home, ("cowork", "-m", "offline", "-p", "say something"), "<&- >&- 2>&-")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")
    assert run(home, ("check",), "").stdout.endswith("Everything is in order.\n")
    assert "say something" in run(home, ("search", "say something"), "").stdout


def test_an_export_into_a_pipe_is_utf8_whatever_the_terminal_spells(home: Path, tmp_path: Path) -> None:
    target = tmp_path / "whole.json"
    done = run(home, ("export", "0", "--format", "json"), f">{target}")
    assert done.returncode == 0
    ascii_only = subprocess.run(
        [sys.executable, "-m", "loom", "export", "0", "--format", "json"],
        env={**os.environ, "LOOM_HOME": str(home), "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    assert ascii_only.stdout == target.read_bytes()


def test_other_commands_show_what_a_terminal_cannot_spell_by_its_number(home: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "loom", "search", "stored"],
        env={**os.environ, "LOOM_HOME": str(home), "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    assert b"\\u65e5" in done.stdout
