"""Look-ups of identifiers made from a real repository: python -m tests.bench.identifiers [CHECKOUT] [--commits N].

Every commit of the log becomes turns as a coworker's archive has them: the message is what the user said, each file of
the diff a tool's output. From their text come the look-ups, each with the turns that have what is looked for:
identifiers whole, cut out of the middle, as plain words, in a question and mistyped; path tails, flags, codes and
hashes, lines of code. Chosen by a fixed seed, so that one checkout gives one set. Measured like `tests.bench.recall`,
beside LIKE and FTS5.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.bench.recall import heading, measure

EACH = 60
"""Look-ups of a kind, at most."""
MOST_TURNS = 6
"""What stands in more turns than this has no few right answers."""
MOST_CHARACTERS = 12_000
"""Of a file's diff: a longer one is cut, as a tool's output is."""

_IDENTIFIER = re.compile(r"\b(?:[a-zA-Z]+(?:_[a-zA-Z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,})\b")
_PATH = re.compile(r"\b[\w.-]+(?:/[\w.-]+)+\.\w{1,5}\b")
_FLAG = re.compile(r"(?<![\w-])--[a-z]+(?:-[a-z]+)+\b")
_CODE = re.compile(r"\b(?:[A-Z]{1,4}\d{3,5}|(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,12})\b")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")

Turn = dict[str, Any]
Query = dict[str, Any]


def turns_of(checkout: Path, commits: int) -> list[Turn]:
    """The turns that the newest commits make, oldest first. Raises CalledProcessError where there is no repository."""
    command = f"git log -p --reverse --no-merges --no-color --no-ext-diff -n{commits} --format=%x00%aI%x01%B%x01"
    log = subprocess.run(command.split(), cwd=checkout, capture_output=True, check=True).stdout
    turns: list[Turn] = []
    for commit in log.decode("utf-8", "replace").split("\0")[1:]:
        at, message, diff = commit.split("\1", 2)
        _add(turns, "user", message.strip(), at, None)
        for file in re.split(r"(?m)^(?=diff --git )", diff):
            if file.startswith("diff --git ") and "\nBinary files " not in file:
                _add(turns, "tool", file[:MOST_CHARACTERS], at, "edit_file")
    return turns


def _add(turns: list[Turn], role: str, content: str, at: str, tool: str | None) -> None:
    turns.append({"turn_number": len(turns) + 1, "role": role, "content": content, "created_at": at, "tool_name": tool})


class Lookups:
    """Makes look-ups whose answers are known from the text itself."""

    def __init__(self, turns: list[Turn], seed: int) -> None:
        self._texts = [(turn["turn_number"], turn["content"].lower()) for turn in turns]
        self._whole = "\n".join(text for _, text in self._texts)
        self._originals = [turn["content"] for turn in turns]
        self._random = random.Random(seed)
        self.queries: list[Query] = []

    def make(self) -> list[Query]:
        """Every kind of look-up that the text gives."""
        identifiers = self._found(_IDENTIFIER, 7)
        self._take("identifier", ((name, name) for name in identifiers), whole=True)
        self._take("substring", ((piece, piece) for piece in map(self._inner, identifiers) if piece))
        self._take("parts", ((_spoken(name), name) for name in identifiers), whole=True)
        self._take("question", ((f"where did we use {name}?", name) for name in identifiers), whole=True)
        self._take("mistyped", ((typed, name) for name in identifiers if (typed := self._mistyped(name))), whole=True)
        paths = self._found(_PATH, 8)
        self._take("path", ((path, path) for path in paths))
        self._take("path tail", ((path.rsplit("/", 1)[1],) * 2 for path in paths))
        self._take("flag", ((flag, flag) for flag in self._found(_FLAG, 6)))
        self._take("code or hash", ((code, code) for code in self._found(_CODE, 4)), whole=True)
        self._take("line", ((line, line) for line in self._lines()))
        return self.queries

    def _found(self, pattern: re.Pattern[str], least: int) -> list[str]:
        found = sorted({match[0] for text in self._originals for match in pattern.finditer(text)})
        found = [name for name in found if least <= len(name) <= 60]
        self._random.shuffle(found)
        return found

    def _take(self, kind: str, pairs: Iterable[tuple[str, str]], *, whole: bool = False) -> None:
        """Look-ups from pairs of what is typed and what is meant."""
        taken = 0
        for typed, meant in pairs:
            evidence = self._turns_with(meant.lower(), whole=whole)
            if not 1 <= len(evidence) <= MOST_TURNS:
                continue
            self.queries.append(
                {"qid": f"{kind}/{taken}", "session": "log", "query": typed, "evidence": evidence, "category": kind}
            )
            taken += 1
            if taken == EACH:
                return

    def _turns_with(self, meant: str, *, whole: bool) -> list[int]:
        found = [(number, text) for number, text in self._texts if meant in text]
        if whole:
            standing = re.compile(rf"(?<![a-z0-9_]){re.escape(meant)}(?![a-z0-9_])")
            found = [(number, text) for number, text in found if standing.search(text)]
        return [number for number, _ in found]

    def _inner(self, name: str) -> str | None:
        """A piece out of the middle, cut without regard to words."""
        if len(name) < 10:
            return None
        length = self._random.randint(6, len(name) - 3)
        start = self._random.randint(1, len(name) - length - 1)
        return name[start : start + length].strip("_") or None

    def _mistyped(self, name: str) -> str | None:
        """Two neighbours swapped, a letter lost or doubled; None where that is a name of the text, too."""
        at = self._random.randint(1, len(name) - 3)
        ways: tuple[Callable[[], str], ...] = (
            lambda: name[:at] + name[at + 1] + name[at] + name[at + 2 :],
            lambda: name[:at] + name[at + 1 :],
            lambda: name[:at] + name[at] + name[at:],
        )
        typed = self._random.choice(ways)()
        return None if typed.lower() in self._whole or typed == name else typed

    def _lines(self) -> Iterator[str]:
        lines = sorted({line[1:].strip() for text in self._originals for line in text.splitlines() if line[:1] == "+"})
        self._random.shuffle(lines)
        return (line for line in lines if 30 <= len(line) <= 120 and sum(map(str.isalpha, line)) > len(line) / 2)


def _spoken(name: str) -> str:
    return " ".join(part.lower() for part in _PART.findall(name))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path, nargs="?", default=Path.cwd())
    parser.add_argument("--commits", type=int, default=400, help="how many of the newest are read")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--misses", action="store_true", help="list the look-ups that were not fully answered")
    parser.add_argument("--alone", action="store_true", help="without the baselines")
    parsed = parser.parse_args()
    turns = turns_of(parsed.checkout, parsed.commits)
    data = {"name": "identifiers", "sessions": {"log": turns}, "queries": Lookups(turns, parsed.seed).make()}
    print(f"{len(turns):,} turns of {parsed.checkout.resolve().name}")
    heading()
    asyncio.run(measure(data, misses=parsed.misses, alone=parsed.alone, categories=True))


if __name__ == "__main__":
    main()
