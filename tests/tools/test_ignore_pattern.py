"""A line of a .gitignore means what it means to git."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from loom.tools.ignore import Ignoring
from loom.tools.ignore_pattern import parse_ignore_line

_PATHS = [
    "a",
    "b",
    "ab",
    "abc",
    "a/b",
    "a/b/c",
    "ab/a",
    "b/a/b",
    "a-b",
    "[a]",
    "!a",
    "#a",
    "a b",
    "a ",
    "c/ab",
    "^",
    "]",
    "\\a",
]


def ignored(ignoring: Ignoring, path: str) -> bool:
    """By the rules for the path and the folders above it, from the top down, as the walk asks."""
    parts = tuple(path.split("/"))
    return any(ignoring.ignores(parts[:depth], folder=depth < len(parts)) for depth in range(1, len(parts) + 1))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.text(alphabet="ab*?[]!^\\\\/-# :", max_size=8), min_size=1, max_size=3))
@example(["[[:alpha:]]*"])
@example(["[[:nonsense:]]"])
@example(["a\\\\ "])
@example(["**/b", "!a/**"])
def test_lines_mean_what_they_mean_to_git(lines: list[str]) -> None:
    text = "\n".join(lines) + "\n"
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        (root / ".gitignore").write_text(text)
        for path in _PATHS:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
        asked = ["git", "-c", "core.excludesFile=/dev/null", "check-ignore", "--no-index", "-z", "--stdin"]
        files = "\0".join(path for path in _PATHS if not (root / path).is_dir())
        said = subprocess.run(asked, cwd=root, input=files, capture_output=True, text=True, check=False).stdout
        by_git = set(filter(None, said.split("\0")))
        ignoring = Ignoring().below(text, 0)
        assert {path for path in files.split("\0") if ignored(ignoring, path)} == by_git


@pytest.mark.parametrize("line", ["", "   ", "# a", "/", "[", "a\\", "[[:nonsense:]]"])
def test_a_line_that_means_nothing_is_left_out(line: str) -> None:
    assert parse_ignore_line(line) is None


def test_an_escaped_space_at_the_end_belongs_to_the_name() -> None:
    pattern = parse_ignore_line("a\\ ")
    assert pattern is not None
    assert pattern.matches(("a ",), folder=False)
    assert not pattern.matches(("a",), folder=False)


def test_a_hostile_line_is_answered() -> None:
    pattern = parse_ignore_line("*a" * 60 + "b")
    assert pattern is not None
    assert not pattern.matches(("a" * 250,), folder=False)
