"""What stands in the composer as a short name: long pastes, and turns of the archive that go along."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from loom.attached import blocks_of, split_attached, turn_attached, with_attached
from loom.text import show_line

MAX_PASTE_LINES = 30
"""A longer paste stands in the composer as a short name, so that the words around it stay in view. The whole text is
sent."""
MAX_PASTE_CHARS = 50_000
"""So does one of more characters, or with a very long line, also where it is put back: wrapping megabytes at every key
press would make typing wait."""
MAX_PASTE_LINE = 10_000
MOST_NAMES = 50
"""Names whose text is known; undo and history bring back names of long ago."""
_TITLE = 60
"""Characters of a turn's first line that a message which says nothing of its own begins with."""


class BehindNames:
    """The texts that the composer shows by name. A paste's text stands where its name does; a turn goes along behind
    the message, as data, so that nothing in it is taken for the person's own words."""

    def __init__(self) -> None:
        self._pastes: dict[str, str] = {}
        self._turns: dict[str, str] = {}
        self._pasted = 0

    def fold(self, text: str) -> str:
        """A short name for a long text."""
        self._pasted += 1
        lines = text.removesuffix("\n").count("\n") + 1
        size = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
        name = f"[pasted text {self._pasted}: {size}]"
        _keep(self._pastes, name, text)
        return name

    def attach(self, block: str) -> str:
        """The name of a turn, of which `block` goes along."""
        name = f"[{turn_attached(block)}]"
        _keep(self._turns, name, block)
        return name

    def taken(self, text: str) -> str:
        """What was to be sent, as it is written: its turns and pastes by name again, and a long text, too."""
        words, attached = split_attached(text)
        blocks = {self.attach(block): block for block in blocks_of(attached) if turn_attached(block)}
        if not blocks:
            words = text
        elif words == _about(blocks.values()):
            words = ""
        for name, paste in self._pastes.items():
            # What was sent has no white space at its ends.
            words = words.replace(paste if paste in words else paste.strip(), name, 1) if paste.strip() else words
        if slow_to_wrap(words):
            words = self.fold(words)
        return " ".join([*(name for name in blocks if name not in words), words]) if blocks else words

    def whole(self, text: str, *, alone: bool = False) -> str:
        """What is sent for what is written; `alone` without turns behind it."""
        blocks = {} if alone else {name: block for name, block in self._turns.items() if name in text}
        words = _without_ends(text, blocks) if blocks else text
        if self._pastes:
            words = re.sub("|".join(map(re.escape, self._pastes)), lambda name: self._pastes[name[0]], words)
        if not blocks:
            return words
        return with_attached(words or _about(blocks.values()), "\n\n".join(blocks.values()))


def slow_to_wrap(text: str) -> bool:
    return len(text) > MAX_PASTE_CHARS or max(map(len, text.split("\n"))) > MAX_PASTE_LINE


def _keep(known: dict[str, str], name: str, text: str) -> None:
    known[name] = text
    while len(known) > MOST_NAMES:
        del known[next(iter(known))]


def _without_ends(text: str, names: Collection[str]) -> str:
    """The words without the names before and behind them: what is attached says which turn it is. One between words
    stays, and one that keeps a message from being a command."""
    words = text.strip()
    while name := next((name for name in names if words.endswith(name)), ""):
        words = words.removesuffix(name).rstrip()
    bare = words
    while name := next((name for name in names if bare.startswith(name)), ""):
        bare = bare.removeprefix(name).lstrip()
    return words if bare.startswith(("/", "!")) else bare


def _about(blocks: Iterable[str]) -> str:
    """What a message without words of its own says: it is the session's title if it is the first."""
    lines = (line.strip() for block in blocks for line in block.split("\n")[2:-1])
    first = next((line for line in lines if any(map(str.isalnum, line))), "")
    return f"About “{show_line(first, _TITLE)}”" if first else "About this"
