"""What goes along with a message: files, and turns of the archive. The form in which it stands behind the words.

Each is a block: a line that says what it is, and its text in a fence, so that nothing in it is taken for the person's
own words.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from loom.text import storable

HEAD = "[attached: "
"""What the line begins with that says what a block is."""
_TURN = f"{HEAD}turn "
_IS_TURN = re.compile(rf"{re.escape(_TURN)}(\S+ T\d+), ")
_ATTACHED = re.compile(r"\n\n\[with files ([0-9a-f]{16})\]\n\n")
MOST_LINES = 50
"""Lines of that form that are looked at in one message: for each, all that follows it is read. A pasted text may have
tens of thousands, and would keep the screen waiting for half a minute at each look."""


def with_attached(message: str, attached: str) -> str:
    """A person's message with the text of files behind it. The line between them has a checksum of what follows it, so
    that nothing that the person or a file says is ever taken for that line."""
    attached = storable(attached)
    return f"{message}\n\n[with files {_checksum(attached)}]\n\n{attached}"


def split_attached(message: str) -> tuple[str, str]:
    """The person's own words, and what was attached to them; empty if nothing was, or if the words have MOST_LINES of
    lines that look like the one before it."""
    for line in islice(_ATTACHED.finditer(message), MOST_LINES):
        attached = message[line.end() :]
        if _checksum(attached) == line[1]:
            return message[: line.start()], attached
    return message, ""


def turn_attached(block: str) -> str:
    """The name of the turn that a block is of; empty when it is of a file."""
    found = _IS_TURN.match(block)
    return found[1] if found is not None else ""


def blocks_of(attached: str) -> list[str]:
    """What was attached, each by itself."""
    lines = attached.split("\n")
    heads = [number for number, line in _unfenced(lines) if line.startswith(HEAD)]
    return ["\n".join(lines[head:end]).rstrip("\n") for head, end in pairwise([*heads, len(lines)])]


def without_turns(message: str) -> str:
    """The message, and of the turns that go along with it only what they are: their words are those of other turns."""
    if _TURN not in message:
        return message
    words, attached = split_attached(message)
    blocks = (block.partition("\n")[0] if turn_attached(block) else block for block in blocks_of(attached))
    return "\n\n".join([words, *blocks])


def _unfenced(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The lines that stand in no fence, with their places."""
    fence = ""
    for number, line in enumerate(lines):
        if fence:
            fence = "" if line == fence else fence
        elif re.fullmatch(r"`{3,}", line):
            fence = line
        else:
            yield number, line


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
