"""A prefix is offered where the rest of a line cannot make something else of it, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from loom.tools.command_prefix import prefix_of

ROOT = Path("/work space")


@pytest.mark.parametrize(
    ("command", "prefix"),
    [
        ("git status -sb", "git status"),
        ("git  status", "git status"),
        ('git commit -m "Say why"', "git commit"),
        ("pytest -q tests/test_login.py", "pytest"),
        ("python -m pytest -x", "python -m pytest"),
        ("uv run pytest -x", "uv run pytest"),
        ("uv run python -m mypy .", "uv run python -m mypy"),
        ("npm run lint -- --fix", "npm run lint"),
        ("cargo test login", "cargo test"),
        ("ls -la src", "ls"),
        ('rg "time out" src', "rg"),
    ],
)
def test_what_looks_or_tests_has_one(command: str, prefix: str) -> None:
    assert prefix_of(command, ROOT) == prefix


@pytest.mark.parametrize(
    "command",
    [
        # operators and expansions, in quotes too
        "git status; rm x",
        "git status && make",
        "ls | sh",
        "ls > out",
        "ls $(touch x)",
        'git commit -m "`id`"',
        "ls $HOME",
        "ls ~",
        "git status\nrm x",
        "ls \\\nx",
        "cat {a,b}",
        # what runs its arguments
        "python script.py",
        "python -c pass",
        "python -m http.server",
        "bash x.sh",
        "env ls",
        "xargs ls",
        "find . -name x",
        "sudo ls",
        "uv run python x.py",
        "uv run",
        "npm install x",
        "npx cowsay",
        "make test",
        "make test deploy",
        "go test -exec ./x ./...",
        "git",
        "git push",
        "git -c core.pager=x status",
        "git config a b",
        "FOO=bar git status",
        "./pytest",
        "/tmp/git status",
        # options that start something else
        "rg --pre ./x word",
        "rg --pre=./x word",
        "git diff --ext-diff",
        "git log --output=x",
        "git fetch --upload-pack=x",
        "pytest --rootdir=/ x",
        # danger, and nonsense
        "git branch -D main",
        "git stash drop",
        "cat .ssh/id_rsa",
        "ls 'open",
        "",
        "ls " + "x" * 2_000,
    ],
)
def test_everything_else_has_none(command: str) -> None:
    assert prefix_of(command, ROOT) == ""
