"""The beginning of a command that a person may allow together with whatever follows it: `git status …`, `pytest …`.

Offered for few commands, and only where the rest of the line cannot turn them into something else: programs that look
or that test, told from those that run what their arguments say. A command that is dangerous, that has a shell operator,
an expansion or an option known to start another program is asked about each time, also after such a yes.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from loom.tools.danger import danger_of_command

MAX_LENGTH = 1_000
"""Characters of a command that a prefix may stand for; nobody reads more at a glance."""

_SHELL = re.compile(r"[;&|<>()`$\\\n\r~!#{}]")
"""Operators, expansions and escapes; also inside of quotes, where some of them act and all of them hide something."""

_ALONE = {
    *("ls", "cat", "head", "tail", "wc", "grep", "rg", "stat", "du", "df", "diff"),
    *("pytest", "mypy", "pyright", "ruff", "black", "isort", "flake8", "pylint", "lint-imports"),
    *("eslint", "tsc", "prettier", "jest", "vitest"),
}
"""Programs whose name alone is a prefix."""
_WITH_COMMAND = {
    "git": "status diff log show blame ls-files rev-parse describe shortlog branch add commit stash switch fetch",
    "cargo": "build check test clippy fmt doc tree bench",
    "go": "build test vet fmt list doc",
    "npm": "test ls outdated audit",
    "pnpm": "test ls outdated audit",
    "yarn": "test list outdated audit",
    "pip": "list show check freeze",
    "dotnet": "build test",
    "docker": "ps images logs inspect",
    "kubectl": "get describe logs",
}
"""Programs that are a prefix with one of these commands."""
_WITH_NAME = frozenset({("npm", "run"), ("pnpm", "run"), ("yarn", "run")})
"""What is a prefix with the one script that follows. Not make: each further word is a target of its own."""
_MODULES = frozenset({"pytest", "unittest", "mypy", "ruff", "black", "isort", "flake8", "pylint", "compileall"})
"""Modules that are a prefix behind `python -m`."""
_WRAPPERS = frozenset(
    {("uv", "run"), ("poetry", "run"), ("pdm", "run"), ("pipenv", "run"), ("hatch", "run"), ("bundle", "exec")}
)
"""What runs the command behind it, and is as good as that."""
_STARTS_ANOTHER = (
    "--exec",
    "-exec",
    "--pre",
    "--hostname-bin",
    "--output",
    "--ext-diff",
    "--textconv",
    "--open-files-in-pager",
    "--upload-pack",
    "--receive-pack",
    "--config",
    "--eval",
    "-toolexec",
    "-vettool",
    "--rootdir",
)
"""Options by which a program that looks runs or writes something after all."""


def prefix_of(command: str, root: Path) -> str:
    """The prefix that may be offered for this command; empty when none may. Two commands with the same prefix are
    allowed together."""
    if len(command) > MAX_LENGTH or _SHELL.search(command) or danger_of_command(command, root):
        return ""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    if any(word.startswith(_STARTS_ANOTHER) for word in words):
        return ""
    return " ".join(_prefix(words))


def _prefix(words: list[str]) -> list[str]:
    count = 0
    match words:
        case [first, second, *rest] if (first, second) in _WRAPPERS:
            behind = len(_prefix(rest))
            count = behind + 2 if behind else 0
        case [first, second, third, *_] if (first, second) in _WITH_NAME and _is_name(third):
            count = 3
        case ["python" | "python3", "-m", module, *_] if module in _MODULES:
            count = 3
        case [first, second, *_] if second in _WITH_COMMAND.get(first, "").split():
            count = 2
        case [first, *_] if first in _ALONE:
            count = 1
    return words[:count]


def _is_name(word: str) -> bool:
    return re.fullmatch(r"[\w][\w.:-]*", word) is not None
