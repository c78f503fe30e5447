"""File patterns: `*.py`, `src/**/test_?.py`, `{src,lib}/*.[ch]`."""

import fnmatch
import re
from collections.abc import Iterator, Sequence

from loom.tools.outcome import ToolFailure

MAX_ALTERNATIVES = 64
"""What the braces of one pattern may come to."""


class Glob:
    """A pattern for paths given as parts. `*` and `?` stay inside one name, `**` is any number of folders, braces are
    alternatives; a pattern without `/` is for names at any depth. Upper and lower case differ.

    Matching takes time proportional to the path times the pattern, whatever either is.
    """

    def __init__(self, pattern: str) -> None:
        pattern = pattern.removeprefix("./").rstrip("/")
        if not pattern or pattern.startswith(("/", "!")) or "\0" in pattern or ".." in pattern.split("/"):
            raise ToolFailure(
                "The pattern is empty, absolute, negated or holds `..`.",
                "Give one like *.py or src/**/*.ts, inside path.",
            )
        self._alternatives = [_compiled(one) for one in _expanded(pattern)]

    def matches(self, parts: Sequence[str]) -> bool:
        return any(match_segments(alternative, parts) for alternative in self._alternatives)


Segment = re.Pattern[str] | None
"""One name's pattern; None is `**`."""


def _compiled(pattern: str) -> list[Segment]:
    segments = [segment for segment in pattern.split("/") if segment]
    if "/" not in pattern:
        segments.insert(0, "**")
    # fnmatch's expressions use atomic groups: no name makes them backtrack without end.
    return [None if segment == "**" else re.compile(fnmatch.translate(segment)) for segment in segments]


def match_segments(segments: Sequence[Segment], parts: Sequence[str]) -> bool:
    """Whether the segments, all of them, stand for the parts, all of them."""
    # Which prefixes of the segments can stand for the parts so far, one part at a time.
    reached = _through({0}, segments)
    for part in parts:
        following = set()
        for at in reached:
            if at == len(segments):
                continue
            segment = segments[at]
            if segment is None:
                following.add(at)
            elif segment.match(part):
                following.add(at + 1)
        reached = _through(following, segments)
        if not reached:
            return False
    return len(segments) in reached


def _through(reached: set[int], segments: Sequence[Segment]) -> set[int]:
    """`**` may also stand for no folder at all."""
    for at in sorted(reached):
        step = at
        while step < len(segments) and segments[step] is None:
            step += 1
            reached.add(step)
    return reached


def _expanded(pattern: str) -> list[str]:
    found = list(_alternatives(pattern, [MAX_ALTERNATIVES]))
    return found or [pattern]


def _alternatives(pattern: str, left: list[int]) -> Iterator[str]:
    innermost = re.search(r"\{([^{}]*,[^{}]*)\}", pattern)
    if innermost is None:
        left[0] -= 1
        if left[0] < 0:
            raise ToolFailure(f"The pattern's braces come to more than {MAX_ALTERNATIVES} alternatives.")
        yield pattern
        return
    for choice in innermost[1].split(","):
        yield from _alternatives(pattern[: innermost.start()] + choice + pattern[innermost.end() :], left)
