"""Patterns match as people mean them, and never take long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom.tools.glob import Glob
from loom.tools.outcome import ToolFailure


def matches(pattern: str, path: str) -> bool:
    return Glob(pattern).matches(path.split("/"))


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.py", "a.py"),
        ("*.py", "src/deep/a.py"),
        ("src/*.py", "src/a.py"),
        ("src/**/*.py", "src/a.py"),
        ("src/**/*.py", "src/b/c/a.py"),
        ("**/test_*.py", "test_a.py"),
        ("**", "a/b"),
        ("src/**", "src/a/b"),
        ("a/**/**/b", "a/b"),
        ("*.{ts,tsx}", "web/a.tsx"),
        ("{src,lib}/*.[ch]", "lib/a.h"),
        ("{a,{b,c}}.txt", "c.txt"),
        ("file?.txt", "file1.txt"),
        (".*", ".gitignore"),
        ("./src/*.py", "src/a.py"),
        ("[!a]x", "bx"),
        ("*\n*", "a\nb"),
    ],
)
def test_a_pattern_matches(pattern: str, path: str) -> None:
    assert matches(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.py", "a.pyc"),
        ("src/*.py", "src/b/a.py"),
        ("src/*.py", "lib/src/a.py"),
        ("src/**", "lib/src/a"),
        ("a/**/b", "a/b/c"),
        ("*.PY", "a.py"),
        ("file?.txt", "file12.txt"),
        ("{a,b}", "{a,b}"),
    ],
)
def test_a_pattern_does_not_match(pattern: str, path: str) -> None:
    assert not matches(pattern, path)


@pytest.mark.parametrize("pattern", ["", "/", "/etc/*", "../*", "a/../b", "!a", "a\0b", "{a,b}" * 8])
def test_a_pattern_that_means_nothing_here_is_refused(pattern: str) -> None:
    with pytest.raises(ToolFailure):
        Glob(pattern)


def test_a_hostile_pattern_is_answered() -> None:
    assert not matches("*a" * 50 + "b", "a" * 250)
    assert not matches("/".join(["**", "a"] * 50) + "/b", "/".join(["a"] * 200))


@given(st.text(alphabet="ab*?[]{},/!.", max_size=12), st.text(alphabet="ab/.[]{}", min_size=1, max_size=12))
def test_any_pattern_answers_or_is_refused(pattern: str, path: str) -> None:
    try:
        glob = Glob(pattern)
    except ToolFailure:
        return
    assert glob.matches(path.split("/")) in (True, False)
