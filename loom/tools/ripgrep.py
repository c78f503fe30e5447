"""Searching with ripgrep."""

import base64
import json
import os
import re
import shutil
from collections.abc import Callable
from typing import Any

from loom.tools.environment import environment_for_commands
from loom.tools.outcome import ToolFailure
from loom.tools.paths import Place, Workspace
from loom.tools.process import run_program
from loom.tools.searching import MAX_FILE, PATIENCE, BadPattern, Match, Matches, Search, clipped, wanted

MAX_RECORD = 2_000_000
"""Bytes of one of ripgrep's records; a longer one (a line of megabytes) is named without its text."""


def find_ripgrep() -> str | None:
    return shutil.which("rg")


async def search_with_ripgrep(program: str, workspace: Workspace, search: Search) -> Matches:
    """What ripgrep finds. Raises BadPattern, and ToolFailure when it cannot be run."""
    records = _Records(workspace, wanted(search))
    try:
        ended = await run_program(
            _command(program, workspace, search),
            folder=workspace.root,
            environment=environment_for_commands(os.environ),
            seconds=PATIENCE,
            take=records.take,
        )
    except OSError as error:
        raise ToolFailure(f"ripgrep cannot be started: {error.strerror}.") from error
    if ended.exit_code == 2 and not records.matches.found:
        raise BadPattern(records.complaint.strip() or "unknown error")
    records.matches.late = ended.timed_out
    return records.matches


def _command(program: str, workspace: Workspace, search: Search) -> list[str]:
    command = [program, "--no-config", "--json", "--sort=path", "--no-messages", "--crlf", f"--max-filesize={MAX_FILE}"]
    # Hidden files are files; .git is not for reading. Ignore files count as git counts them, repository or not.
    command += ["--hidden", "--glob=!.git", "--no-require-git", "--no-ignore-global", "--no-ignore-dot"]
    if search.glob and "/" not in search.glob:
        # As a file type and not as --glob, which would search ignored files too. All globs are checked again by us.
        command += [f"--type-add=wanted:{search.glob}", "--type=wanted"]
    for folder in workspace.forbidden:
        if folder.is_relative_to(workspace.root):
            command.append(f"--glob=!/{_plain(folder.relative_to(workspace.root).as_posix())}")
    if search.ignore_case:
        command.append("--ignore-case")
    if search.literal:
        command.append("--fixed-strings")
    return [*command, f"--regexp={search.pattern}", "--", f"./{search.start}"]


def _plain(path: str) -> str:
    """The path as a glob that means itself."""
    return re.sub(r"([*?\[\]{}\\!])", r"\\\1", path)


class _Records:
    """ripgrep's JSON lines, read as they come."""

    def __init__(self, workspace: Workspace, is_wanted: Callable[[Place], bool]) -> None:
        self._workspace = workspace
        self._is_wanted = is_wanted
        self._partial = bytearray()
        self._skipping = False
        self.matches = Matches()
        self.complaint = ""

    def take(self, data: bytes) -> bool:
        """False when there are enough."""
        *whole, rest = data.split(b"\n")
        for line in whole:
            if not self._skipping:
                self._partial += line
                if not self._record(bytes(self._partial)):
                    return False
            self._skipping = False
            self._partial.clear()
        if not self._skipping:
            self._partial += rest
            if len(self._partial) > MAX_RECORD:
                self._skipping = True
                return self._too_long(bytes(self._partial[:10_000]))
        return True

    def _record(self, line: bytes) -> bool:
        if not line.startswith(b'{"type":'):
            self.complaint = (self.complaint + line.decode("utf-8", "replace") + "\n")[:2_000]
            return True
        record = json.loads(line)
        if record["type"] != "match":
            return True
        data = record["data"]
        text = _bytes(data["lines"])
        spans = data["submatches"]
        start, end = (spans[0]["start"], spans[0]["end"]) if spans else (0, 0)
        before = len(text[:start].decode("utf-8", "replace"))
        length = len(text[start:end].decode("utf-8", "replace"))
        shown = clipped(text.decode("utf-8", "replace"), before, before + length)
        return self._add(data["path"], data["line_number"] or 0, shown)

    def _too_long(self, beginning: bytes) -> bool:
        """A match in a line too long to take: its file at least."""
        found = re.match(rb'\{"type":"match","data":\{"path":(\{.*?\}),"lines"', beginning)
        return found is None or self._add(json.loads(found[1]), 0, "(in a line too long to show)")

    def _add(self, path: dict[str, str], number: int, text: str) -> bool:
        name = os.fsdecode(_bytes(path)).removeprefix("./").removeprefix("./")
        try:
            place = self._workspace.place(name)
        except ToolFailure:
            return True
        return not self._is_wanted(place) or self.matches.add(Match(place.relative, number, text))


def _bytes(data: dict[str, Any]) -> bytes:
    """ripgrep writes what is not UTF-8 as base64."""
    return data["text"].encode() if "text" in data else base64.b64decode(data["bytes"])
