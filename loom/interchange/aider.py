"""A history of Aider's, `.aider.chat.history.md`: all sessions of a folder in one file that is made to be looked at.

It is ambiguous by nature: a heading or a quotation in an answer looks like a message or like a tool's words, no message
has a time, and a call of a tool is not told from what it says. What is read is the best guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from loom.archive.records import NewTurn
from loom.interchange.foreign import Gathered, moment_of, note, read_with, said
from loom.interchange.reading import ReadSession
from loom.interchange.source import ImportFailed, Source

_BEGINS = re.compile(r"# aider chat started at (?P<when>.+)")
GUESSED = "Aider's file does not tell messages from headings and quotations: some may be taken for another's."
_MOST_LINES = 100_000
"""A message ends at the latest here."""


@dataclass(frozen=True, slots=True)
class Chat:
    """One of the sessions in the file."""

    when: str
    """As the file has it."""
    first: int
    """Its first line, and the one behind its last."""
    end: int
    words: str
    """The person's first line."""
    same: int
    """How many sessions before it began in the same second."""


def is_aider(line: str) -> bool:
    """Whether a line begins a session of Aider's."""
    return _BEGINS.fullmatch(line.strip()) is not None


def chats_in(source: Source) -> list[Chat]:
    """The sessions in the file."""
    begins: list[list[object]] = []
    number = -1
    for number, line in enumerate(source.lines()):
        found = _BEGINS.fullmatch((line or "").strip())
        if found:
            begins.append([found["when"], number, ""])
        elif begins and not begins[-1][2] and (line or "").startswith("#### "):
            begins[-1][2] = (line or "")[5:205].strip()
    ends = [int(str(begin[1])) for begin in begins[1:]] + [number + 1]
    chats: list[Chat] = []
    for (when, first, words), end in zip(begins, ends, strict=True):
        same = sum(chat.when == when for chat in chats[-10:])
        chats.append(Chat(str(when), int(str(first)), end, str(words), same))
    return chats


def read_aider(source: Source, *, only: str = "") -> Iterator[ReadSession | ImportFailed]:
    """Its sessions in which the person said something, or the one of which the place (from 1) is given."""
    chats = chats_in(source)
    for place, chat in enumerate(chats, 1):
        if only == str(place) or (not only and chat.words):
            try:
                yield _read(source, chat)
            except ImportFailed as error:
                yield error
    if only and not (only.isdecimal() and 1 <= int(only) <= len(chats)):
        yield ImportFailed(f"There are {len(chats):,} sessions in that file.")


def _read(source: Source, chat: Chat) -> ReadSession:
    folder = str(source.path.parent) if source.path is not None else ""

    def walk(gathered: Gathered) -> Iterator[tuple[str, NewTurn]]:
        gathered.session_id = f"{folder}/{chat.when}/{chat.same}"
        gathered.folder = folder
        gathered.at(moment_of(chat.when))
        number, kind, lines = 0, "", list[str]()
        for line in _lines_of(source, chat):
            now, words = _kind_of(line, kind)
            if now != kind or len(lines) >= _MOST_LINES:
                yield from _turn(number, kind, lines)
                number, kind, lines = number + 1, now, []
            lines.append(words)
        yield from _turn(number, kind, lines)

    return read_with("Aider", walk, remark=GUESSED)


def _lines_of(source: Source, chat: Chat) -> Iterator[str]:
    for number, line in enumerate(source.lines()):
        if number >= chat.end:
            return
        if number > chat.first:
            yield (line or "").rstrip("\n\r")


def _kind_of(line: str, before: str) -> tuple[str, str]:
    """Whose line it is, and its words. An empty one is of whoever spoke before."""
    if line.startswith("####"):
        return "user", line[4:].strip()
    if line.startswith(">"):
        return "tool", line[1:].strip()
    if not line.strip() and before == "tool":
        return before, ""
    if not line.strip() and before == "user":
        return "assistant", ""
    return "assistant", line


def _turn(number: int, kind: str, lines: list[str]) -> Iterator[tuple[str, NewTurn]]:
    words = "\n".join(lines).strip()
    if words and kind == "tool":
        yield str(number), note(f"Aider: {words}")
    elif words:
        yield str(number), said(kind, words)
