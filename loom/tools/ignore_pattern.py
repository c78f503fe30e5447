"""One line of a `.gitignore`, as gitignore(5) describes it.

pathspec is not used: its patterns match what lies below a folder as well, so that a `!folder/` in one file would take
back what a file above leaves out inside that folder, which git does not.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from loom.tools.glob import Segment, match_segments

_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": " \\t\\n\\r\\f\\v",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
_STAR = "*"


class _Unmatchable(ValueError):
    """A pattern that git accepts and that matches nothing."""


@dataclass(frozen=True, slots=True)
class IgnorePattern:
    """A pattern and what it decides."""

    ignores: bool
    """False for a line with `!`."""
    folders_only: bool
    segments: tuple[Segment, ...]

    def matches(self, parts: tuple[str, ...], *, folder: bool) -> bool:
        """Whether it means exactly this path (from the folder of its file), not one below."""
        return (folder or not self.folders_only) and match_segments(self.segments, parts)


def parse_ignore_line(line: str) -> IgnorePattern | None:
    """The line's pattern; None for an empty line, a comment and what can match nothing."""
    line = re.sub(r"(?<!\\)((?:\\\\)*) +$", r"\1", line.removesuffix("\r"))
    if not line or line.startswith("#"):
        return None
    ignores = not line.startswith("!")
    pattern = line.removeprefix("!") if not ignores else line
    folders_only = pattern.endswith("/")
    anchored = "/" in pattern.removesuffix("/")
    try:
        names = list(_names(pattern.removesuffix("/").removeprefix("/")))
        segments: list[Segment] = [None if name == "**" and anchored else _compiled(name) for name in names]
    except _Unmatchable:
        return None
    if not anchored:
        segments.insert(0, None)
    elif segments[-1] is None:
        # `folder/**` is everything in the folder, not the folder.
        segments.append(re.compile("(?s:.*)"))
    return IgnorePattern(ignores, folders_only, tuple(segments))


def _names(pattern: str) -> Iterator[str]:
    """The names that the pattern is for. A slash in brackets parts none; an escaped one does."""
    start = at = 0
    while at <= len(pattern):
        sign = pattern[at : at + 1]
        escaped = pattern.startswith("\\/", at)
        if escaped or sign in ("", "/"):
            if at == start:
                raise _Unmatchable(pattern)
            yield pattern[start:at]
            at += escaped
            start = at + 1
        elif sign == "\\":
            at += 1
            if at == len(pattern):
                raise _Unmatchable(pattern)
        elif sign == "[":
            _, at = _bracket(pattern, at + 1)
            continue
        at += 1


def _compiled(name: str) -> re.Pattern[str]:
    """The expression for one name. Each star takes as little as it can and is not asked again (an atomic group), which
    finds every match and takes no time to tell that there is none."""
    pieces: list[str] = [""]
    for token in _tokens(name):
        if token == _STAR:
            pieces.append("")
        else:
            pieces[-1] += token
    first, *rest = pieces
    if not rest:
        return re.compile(rf"(?s:{first})\Z")
    middle = "".join(f"(?>.*?{piece})" for piece in rest[:-1] if piece)
    return re.compile(rf"(?s:{first}{middle}.*{rest[-1]})\Z")


def _tokens(name: str) -> Iterator[str]:
    """Expressions for single characters, and _STAR."""
    at = 0
    while at < len(name):
        sign = name[at]
        at += 1
        if sign == "*":
            yield _STAR
        elif sign == "?":
            yield "."
        elif sign == "[":
            expression, at = _bracket(name, at)
            yield expression
        elif sign == "\\":
            if at == len(name):
                raise _Unmatchable(name)
            yield re.escape(name[at])
            at += 1
        else:
            yield re.escape(sign)


def _bracket(name: str, at: int) -> tuple[str, int]:
    """The expression for `[…]`, given what follows the bracket, and where it ends."""
    negated = name[at : at + 1] in ("!", "^")
    at += negated
    inside = ""
    first = True
    while first or name[at : at + 1] != "]":
        if at >= len(name):
            raise _Unmatchable(name)
        if found := re.compile(r"\[:(\w*):\]").match(name, at):
            if found[1] not in _CLASSES:
                raise _Unmatchable(name)
            inside += _CLASSES[found[1]]
            at = found.end()
        else:
            low, at = _character(name, at)
            inside += re.escape(low)
            if name[at : at + 1] == "-" and name[at + 1 : at + 2] not in ("", "]"):
                high, at = _character(name, at + 1)
                # A range that runs backwards holds nothing but its first character, as in git.
                inside += f"-{re.escape(high)}" if low <= high else ""
        first = False
    return f"[{'^' if negated else ''}{inside}]", at + 1


def _character(name: str, at: int) -> tuple[str, int]:
    if name[at] == "\\":
        at += 1
        if at == len(name):
            raise _Unmatchable(name)
    return name[at], at + 1
