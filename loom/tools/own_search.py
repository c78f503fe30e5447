"""Searching without ripgrep: a Python process of our own.

A process, as a regular expression can take for ever and holds the interpreter while it does: a thread could be
neither stopped nor worked beside.
"""

import json
import os
import re
import stat
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from loom.tools.environment import environment_for_commands
from loom.tools.file_kinds import SAMPLE, encoding_of
from loom.tools.outcome import ToolFailure
from loom.tools.paths import Place, Workspace
from loom.tools.process import run_program
from loom.tools.searching import MAX_FILE, PATIENCE, BadPattern, Match, Matches, Search, clipped, wanted
from loom.tools.walk import walk

# Isolated (-I), so that no module of the workspace is imported in place of Python's own.
_BOOT = "import sys; sys.path.append(sys.argv[1]); from loom.tools.own_search import main; main()"


async def search_with_python(workspace: Workspace, search: Search) -> Matches:
    """What our own search finds. Raises BadPattern, and ToolFailure when it cannot be run."""
    _compiled(search)
    lines = _Lines()
    package = str(Path(__file__).parents[2])
    asked = {"root": str(workspace.root), "forbidden": [str(folder) for folder in workspace.forbidden]}
    asked_for = json.dumps({**asked, "search": asdict(search)})
    try:
        ended = await run_program(
            [sys.executable, "-I", "-c", _BOOT, package, asked_for],
            folder=workspace.root,
            environment=environment_for_commands(os.environ),
            seconds=PATIENCE,
            take=lines.take,
        )
    except OSError as error:
        raise ToolFailure(f"The search cannot be started: {error.strerror}.") from error
    if ended.exit_code:
        raise ToolFailure(f"The search failed: {lines.complaint.strip()[-500:]}")
    lines.matches.late = ended.timed_out
    return lines.matches


class _Lines:
    """One JSON array a match: path, line, text."""

    def __init__(self) -> None:
        self._partial = b""
        self.matches = Matches()
        self.complaint = ""

    def take(self, data: bytes) -> bool:
        """False when there are enough."""
        *whole, self._partial = (self._partial + data).split(b"\n")
        for line in whole:
            if not line.startswith(b"["):
                self.complaint = (self.complaint + line.decode("utf-8", "replace") + "\n")[-2_000:]
            elif not self.matches.add(Match(*json.loads(line))):
                return False
        return True


def _compiled(search: Search) -> re.Pattern[str]:
    flags = re.IGNORECASE if search.ignore_case else re.NOFLAG
    try:
        return re.compile(re.escape(search.pattern) if search.literal else search.pattern, flags)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadPattern(str(error)) from error


def main() -> None:
    """The other process: reads its one argument, writes matches, ends."""
    asked = json.loads(sys.argv[2])
    workspace = Workspace(Path(asked["root"]), [Path(folder) for folder in asked["forbidden"]])
    for match in find(workspace, Search(**asked["search"])):
        sys.stdout.write(json.dumps([match.path, match.line, match.text]) + "\n")
        sys.stdout.flush()


def find(workspace: Workspace, search: Search) -> Iterator[Match]:
    """The matches, file by file in the order of paths."""
    expression = _compiled(search)
    is_wanted = wanted(search)
    for place in _files(workspace, workspace.place(search.start)):
        if is_wanted(place):
            yield from _matches_in(workspace, place, expression)


def _files(workspace: Workspace, start: Place) -> Iterator[Place]:
    status = workspace.stat(start)
    if status is not None and stat.S_ISREG(status.st_mode):
        yield start
        return
    for found in walk(workspace, start):
        if found.size <= MAX_FILE:
            yield found.place


def _matches_in(workspace: Workspace, place: Place, expression: re.Pattern[str]) -> Iterator[Match]:
    try:
        with workspace.open(place) as file:
            encoding = encoding_of(file.read(SAMPLE))
            if encoding is None:
                return
            file.seek(0)
            text = file.read(MAX_FILE).decode(encoding, "replace")
    except ToolFailure:
        return
    for number, ended in enumerate(text.split("\n"), 1):
        line = ended.removesuffix("\r")
        if found := expression.search(line):
            yield Match(place.relative, number, clipped(line, *found.span()))
