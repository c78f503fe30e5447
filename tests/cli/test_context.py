"""`loom context` as a person and a pipe run it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.test_main import loom

WILD = "\x1b]0;owned\x07\x1b[2J rtl \u202e"
"""Would give a terminal another title, empty it, and turn what follows around."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one session of two exchanges in the folder `work` beside it."""
    home = tmp_path_factory.mktemp("context") / "home"
    work = home.parent / "work"
    work.mkdir()
    (work / "notes.txt").write_text(f"the words in the file, {WILD}\n")
    for at, prompt in enumerate(("read notes.txt", "list the files; never touch notes.txt")):
        again = ("--resume", "0") if at else ()
        done = loom("cowork", "-w", str(work), "-m", "offline", "-p", prompt, *again, home=home)
        assert done.returncode == 0, done
    return home


def context(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return loom("context", "0", "-w", str(home.parent / "work"), *arguments, home=home)


def test_alone_it_shows_course_segments_and_requests(home: Path) -> None:
    done = context(home)
    assert (done.returncode, done.stderr) == (0, "")
    assert "read notes.txt" in done.stdout and "█" in done.stdout and "instructions" in done.stdout
    assert "  T1\n" in done.stdout


def test_a_request_is_shown_part_by_part_and_vouched_for(home: Path) -> None:
    done = context(home, "--at", "2")
    assert "as it was sent" in done.stdout and "read_file" in done.stdout
    assert "\x1b" not in done.stdout and "\u202e" not in done.stdout
    assert "conversation_recall (search" not in done.stdout


def test_in_full_every_word_is_there(home: Path) -> None:
    done = context(home, "--at", "T1", "--full")
    assert (
        "request 1 " in done.stdout and "conversation_recall (search" in done.stdout and "<loom-state>" in done.stdout
    )
    assert "the words in the file" not in done.stdout
    answered = context(home, "--at", "2", "--full").stdout
    assert "the words in the file" in answered
    assert "\x1b" not in answered and "\u202e" not in answered


def test_two_requests_are_compared(home: Path) -> None:
    done = context(home, "--diff", "1", "2")
    assert "request 1 -> 2" in done.stdout and any(line.startswith("+ T") for line in done.stdout.splitlines())
    later = context(home, "--diff", "2", "3").stdout
    assert any(line.startswith("~ ") and "state" in line for line in later.splitlines())


def test_the_json_forms_hold_everything(home: Path) -> None:
    lines = [json.loads(line) for line in context(home, "--json").stdout.splitlines()]
    assert [line["request"] for line in lines] == list(range(1, len(lines) + 1))
    seen = json.loads(context(home, "--at", "2", "--json").stdout)
    assert seen["standing"] == "same" and any("the words in the file" in part["text"] for part in seen["parts"])
    found = json.loads(context(home, "--diff", "1", "2", "--json").stdout)
    assert found["came"] and 0 < found["prefix_share"] < 1


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--at", "99"), "from 1 to"),
        (("--at", "T999"), "T999"),
        (("--at", "yesterday"), "no request"),
        (("--at", "0"), "no request"),
        (("--diff", "1", "-3"), "no request"),
        (("--full",), "--at"),
    ],
)
def test_what_cannot_be_shown_is_one_line_and_exit_code_2(home: Path, arguments: tuple[str, ...], word: str) -> None:
    done = context(home, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert word in done.stderr


def test_without_an_archive_it_says_so(tmp_path: Path) -> None:
    done = loom("context", "0", home=tmp_path)
    assert done.returncode == 2 and len(done.stderr.strip().splitlines()) == 1
