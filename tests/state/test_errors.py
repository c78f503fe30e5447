from __future__ import annotations

import pytest

from loom.state.errors import telling_line

PYTHON = "Traceback (most recent call last):\n  File \"a\"\nKeyError: 'x'\n\nDuring\nValueError: bad\n"
RUST = "   Compiling x\nerror[E0433]: failed to resolve: use of undeclared\nerror: aborting"
TYPESCRIPT = "src/a.ts:3:5 - error TS2304: Cannot find name 'foo'.\nmore"
C = "main.c:3:1: error: expected ';'\nmake: *** [all] Error 1"
PYTEST = ">   assert f() == 2\nE   assert 1 == 2\nFAILED tests/test_a.py::test_f - assert 1 == 2"


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (PYTHON, "ValueError: bad"),
        (RUST, "error[E0433]: failed to resolve: use of undeclared"),
        (TYPESCRIPT, "src/a.ts:3:5 - error TS2304: Cannot find name 'foo'."),
        (C, "main.c:3:1: error: expected ';'"),
        (PYTEST, "assert 1 == 2"),
        ("fatal: not a git repository\n", "fatal: not a git repository"),
        ("bash: foo: command not found\n", "bash: foo: command not found"),
        ("\x1b[31mError: no\x1b[0m", "Error: no"),
        ("some words\nlast words\nExit code: 1", "last words"),
        ("", ""),
    ],
)
def test_the_line_that_says_why(output: str, line: str) -> None:
    assert telling_line(output) == line


def test_a_huge_output_gives_one_short_line() -> None:
    assert len(telling_line("x" * 10_000_000)) <= 200
