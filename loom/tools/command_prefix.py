"""The beginning of a command that a person may allow together with whatever follows it: `git status …`, `pytest …`.

Offered for few commands, and only where the rest of the line cannot turn them into something else: programs that look
or that test. Of each only some options are let through, written exactly as here, and otherwise plain names and paths
inside the workspace, which no link leads out of. Options that are not known ask, and so do abbreviated ones: by them
programs load plugins, read another configuration and write files. A command that is dangerous, or that has anything in
it that a shell would expand, is asked about each time, also after such a yes.

What the workspace itself makes of such a program stays possible: `pytest` runs its tests, `cargo build` its build
script, and links that a program comes upon by itself, or that are put there after the question, it may follow. A
command that runs may read what the person may read, and the question says so.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

from loom.tools.danger import danger_of_command

MAX_LENGTH = 1_000
"""Characters of a command that a prefix may stand for; nobody reads more at a glance."""

_SHELL = re.compile(r"[;&|<>()`$\\\n\r~!#{}*?\[\]^]")
"""Operators, expansions, patterns and escapes; also inside of quotes, where some of them act and all of them hide
something. A pattern may stand for a file whose name is an option."""

_PYTEST = """
-q -qq --quiet -v -vv --verbose -x --exitfirst -s -l --showlocals -k -m -ra -rA -rf -rs --lf --last-failed --ff
--failed-first --sw --stepwise --co --collect-only --strict-markers --no-header --no-summary
--maxfail= --tb= --durations=
"""
_MYPY = "--strict --pretty --no-pretty --show-error-codes --show-error-context --no-error-summary --no-color-output"
_RUFF_CHECK = "-q --quiet -v --verbose --no-fix --statistics --no-cache"
_GIT_DIFF = """
-- -p --patch --stat --shortstat --numstat --summary --name-only --name-status --cached --staged --no-color
--no-ext-diff --no-textconv
"""
_GIT_LOG = f"{_GIT_DIFF} --oneline --graph --decorate --all --reverse --no-merges --first-parent -n --max-count="
_CARGO = "-q --quiet -v --verbose --release --workspace --all-targets --lib --bins --tests --locked --offline"
_GO = "-v -race -short -failfast -count= -run="

_OPTIONS: dict[tuple[str, ...], str] = {
    ("ls",): "-l -a -A -h -1 -R -t -la -al -lh -lah -lt --all --color=",
    ("git", "status"): "-- -s -b -sb --short --branch --long --porcelain --ignored",
    ("git", "diff"): _GIT_DIFF,
    ("git", "log"): _GIT_LOG,
    ("git", "show"): _GIT_LOG,
    ("pytest",): _PYTEST,
    ("python", "-m", "pytest"): _PYTEST,
    ("python3", "-m", "pytest"): _PYTEST,
    ("mypy",): _MYPY,
    ("python", "-m", "mypy"): _MYPY,
    ("python3", "-m", "mypy"): _MYPY,
    ("pyright",): "",
    ("flake8",): "",
    ("ruff", "check"): _RUFF_CHECK,
    ("eslint",): "--quiet",
    ("jest",): "",
    ("vitest", "run"): "",
    ("npm", "test"): "",
    ("pnpm", "test"): "",
    ("yarn", "test"): "",
    ("cargo", "check"): _CARGO,
    ("cargo", "build"): _CARGO,
    ("cargo", "clippy"): _CARGO,
    ("cargo", "test"): f"{_CARGO} --no-run --no-fail-fast --doc",
    ("go", "build"): "-v -race",
    ("go", "vet"): "-v",
    ("go", "test"): _GO,
}
"""The prefixes, and the options that may follow. One that ends in `=` has a plain word behind that; where others take
the next word, that one is looked at like each other, so it does no harm."""

_WRAPPERS = (("uv", "run"), ("poetry", "run"))
"""What runs the command behind it, and is as good as that."""

_PLAIN = re.compile(r"[\w.][\w./:-]*")
"""A name, a relative path, a revision, a test in a file. Not `@file`, which stands for the arguments in a file."""


def prefix_of(command: str, root: Path) -> str:
    """The prefix that may be offered for this command; empty when none may. Two commands with the same prefix are
    allowed together. Looks at the workspace's links: not for the event loop."""
    if len(command) > MAX_LENGTH or _SHELL.search(command) or danger_of_command(command, root):
        return ""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    return " ".join(_prefix(words, root))


def _prefix(words: list[str], root: Path) -> list[str]:
    if tuple(words[:2]) in _WRAPPERS:
        behind = _prefix(words[2:], root)
        return [*words[:2], *behind] if behind else []
    for count in (1, 2, 3):
        options = _OPTIONS.get(tuple(words[:count]))
        if options is not None:
            allowed = frozenset(options.split())
            free = all(_is_free(word, allowed, words[0], root) for word in words[count:])
            return words[:count] if free else []
    return []


def _is_free(word: str, options: frozenset[str], program: str, root: Path) -> bool:
    if word.startswith("-"):
        name, equals, value = word.partition("=")
        return name + equals in options and (not equals or re.fullmatch(r"\w+", value) is not None)
    # Other packages of go's than these are anybody's, and testing them runs their code.
    is_own = program != "go" or word == "." or word.startswith("./")
    return is_own and _PLAIN.fullmatch(word) is not None and ".." not in re.split("[/:]", word) and _stays(word, root)


def _stays(word: str, root: Path) -> bool:
    """Whether the word, and each piece of it that a program may take for a path, lies in the workspace when every link
    is followed. A word that is no path is a file that is not there."""
    real = os.path.realpath(root)
    pieces = (word, *word.split(":"))
    try:
        return all(Path(os.path.realpath(root / piece)).is_relative_to(real) for piece in pieces)
    except (OSError, ValueError):
        return False
