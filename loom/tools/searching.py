"""What both search engines are asked and what they find."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from loom.tools.glob import Glob
from loom.tools.paths import Place, shown_name

MAX_MATCHES = 200
"""Lines in one answer."""

MAX_LINE = 300
"""Characters of a line that are shown, around the match."""

MAX_FILE = 50_000_000
"""Bytes of a file that is searched; larger ones are left out."""

PATIENCE = 30.0
"""Seconds after which what was found so far is the answer."""


@dataclass(frozen=True, slots=True)
class Search:
    """One search."""

    pattern: str
    start: str
    """Relative to the workspace; `.` is all of it."""
    glob: str = ""
    """Only files whose path, from the workspace or from `start`, matches; empty is all."""
    ignore_case: bool = False
    literal: bool = False


def wanted(search: Search) -> Callable[[Place], bool]:
    """Tells whether a file is one of those that the search's glob means."""
    if not search.glob:
        return lambda place: True
    glob = Glob(search.glob)
    depth = 0 if search.start == "." else search.start.count("/") + 1
    return lambda place: glob.matches(place.parts) or glob.matches(place.parts[depth:])


@dataclass(frozen=True, slots=True)
class Match:
    """A line that matches."""

    path: str
    """Relative to the workspace."""
    line: int
    text: str
    """The line, clipped around the match."""


@dataclass(slots=True)
class Matches:
    """What a search gave."""

    found: list[Match] = field(default_factory=list)
    more: bool = False
    """True when there are more than MAX_MATCHES."""
    late: bool = False
    """True when the time was up first."""

    def add(self, match: Match) -> bool:
        """False when there is room for no more."""
        if len(self.found) >= MAX_MATCHES:
            self.more = True
            return False
        self.found.append(match)
        return True


class BadPattern(ValueError):
    """A regular expression that the engine cannot read; the text says why."""


def clipped(line: str, start: int, end: int) -> str:
    """The line without its end, cut to MAX_LINE around the match at start:end (characters)."""
    line = line.rstrip("\r\n")
    if len(line) <= MAX_LINE:
        return line
    middle = (start + min(end, start + MAX_LINE)) // 2
    first = max(0, min(middle - MAX_LINE // 2, len(line) - MAX_LINE))
    last = first + MAX_LINE
    return ("…" if first else "") + line[first:last] + ("…" if last < len(line) else "")


_LINE_ENDS = re.compile("[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""What a file's line may hold that a reader may take for a line end."""


def grouped(matches: Sequence[Match]) -> str:
    """Matches under the name of their file, as `number: line`."""
    lines: list[str] = []
    path = None
    for match in matches:
        if match.path != path:
            path = match.path
            lines.append(shown_name(path))
        lines.append(f"  {match.line}: {_LINE_ENDS.sub(' ', match.text)}")
    return "\n".join(lines)
