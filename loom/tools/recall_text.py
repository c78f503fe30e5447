"""A recalled turn as text: the head that cites it, and as much of what it says as is wanted."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from loom.archive.records import SearchHit, Turn, TurnStatus
from loom.text import storable
from loom.times import local_time

MAX_NAME = 80
MAX_ARGUMENT = 120
MAX_ARGUMENTS = 300
"""Characters of a tool's name, of one argument, and of all arguments of a call, in a head."""
SHORT_HEAD = 40
"""Characters of a head where there is room for no more."""

_STRAIGHT = str.maketrans("“”", '""')
_NAME = re.compile(r"([\w.-]+)\(")
_ARGUMENT = re.compile(r"([^\s=,()]+)=")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Recalled:
    """One turn in an answer."""

    turn_number: int
    head: str
    """`[Turn 12] user: (2026-01-15 14:30)`."""
    text: str
    """All that the turn says."""
    match: tuple[int, int] | None = None
    """Where in `text` what was looked for is; None for turns that are only shown beside."""
    rank: int = 0
    """Of a match: 1 is the best."""
    related: bool = False
    """Of a match: whether it only stands near such as have what was looked for."""
    from_tool: bool = False
    start: int = 0
    stop: int | None = None
    """The part of `text` that is shown; None is its end."""
    session: str = ""
    """Reference of another session than the one that asks."""
    rewound: bool = False
    """Whether the person rewound past it, which the head says."""
    is_brief: bool = False
    """Of a match: whether it has a few lines at most, where there is room for them."""
    note: str = ""
    """One line of our own below the text, such as where it was taken back later."""

    @property
    def is_cut(self) -> bool:
        return self.start > 0 or (self.stop is not None and self.stop < len(self.text))

    def around_match(self, chars: int) -> "Recalled":
        """Cut to about `chars` characters: with the match in their middle, or from the beginning."""
        if chars >= len(self.text):
            return replace(self, start=0, stop=None)
        first, last = self.match or (0, 0)
        # Of a match larger than the room its beginning is shown.
        middle = (first + min(last, first + chars)) // 2 if self.match else 0
        start = max(0, min(middle - chars // 2, len(self.text) - chars))
        return replace(self, start=start, stop=start + chars)

    def with_short_head(self) -> "Recalled":
        """With no more of its head than the turn and how it begins: a tool may have any name."""
        return self if len(self.head) <= SHORT_HEAD else replace(self, head=self.head[:SHORT_HEAD] + "…")

    def written(self) -> str:
        """The head, and the shown part indented below it: no line of it can be taken for another turn's head, nor for
        what we say of it, which is not indented."""
        stop = len(self.text) if self.stop is None else min(self.stop, len(self.text))
        shown = self.text[self.start : stop]
        lines = [f"  {line}" for line in shown.splitlines()]
        if not self.text:
            lines = ["  (nothing)"]
        elif lines:
            lines[0] = f"  {'…' if self.start else ''}{lines[0][2:]}"
            lines[-1] += "…" if stop < len(self.text) else ""
        if self.is_cut:
            lines.append(self._how_cut(stop))
        if self.note:
            lines.append(self.note)
        return "\n".join([self.head, *lines])

    def _how_cut(self, stop: int) -> str:
        whole = f"{len(self.text):,}"
        return f"[{whole} characters]" if stop <= self.start else f"[characters {self.start:,}–{stop:,} of {whole}]"

    def rest(self) -> str:
        """The call that gives what is not shown of it: what comes behind the shown part, or all."""
        offset = 0 if self.stop is None or self.stop >= len(self.text) else self.stop
        where = f" session={self.session}" if self.session else ""
        return f"action=range{where} start_turn={self.turn_number} offset={offset}"


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Another session than the one that asks, as it is cited."""

    reference: str
    title: str = ""

    def __str__(self) -> str:
        # What is said of a turn stands behind the title: it must not end where the title says so.
        title = " ".join(self.title.translate(_STRAIGHT).split())
        return f"session {self.reference} “{title[:60]}”" if title else f"session {self.reference}"


def recalled(
    turn: Turn, arguments: Mapping[str, Any] | str | None = None, elsewhere: Elsewhere | None = None
) -> Recalled:
    """A turn, whole. `arguments` are those of the call that a tool turn answers, where they are known."""
    return Recalled(
        turn.turn_number,
        head_of(turn, arguments, elsewhere),
        text_of(turn),
        from_tool=turn.role == "tool",
        session=elsewhere.reference if elsewhere else "",
    )


def text_of(turn: Turn) -> str:
    """What a turn says; a call says its name and arguments."""
    parts = [turn.content] if turn.content else []
    parts += [call_text(call) for call in calls_of(turn)]
    return storable("\n".join(parts))


def calls_of(turn: Turn) -> list[Mapping[str, Any]]:
    """The calls of a turn, whatever an archive that was tampered with has in their place."""
    calls: object = turn.tool_calls
    return [call for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []


def call_text(call: Mapping[str, Any], limit: int | None = None) -> str:
    """`read_file(path="src/auth.py")`, its arguments clipped when there is a limit."""
    return f"{_clipped(str(call.get('name', '?')), limit and MAX_NAME)}({_arguments(call.get('arguments'), limit)})"


@dataclass(frozen=True, slots=True)
class ReadCall:
    """A call that `call_text` wrote, read again."""

    name: str
    arguments: dict[str, Any]
    end: int
    """Behind its closing bracket."""


def read_call(text: str, start: int = 0) -> ReadCall | None:
    """The call that is written whole at this place; None if none is."""
    name = _NAME.match(text, start)
    if name is None:
        return None
    arguments: dict[str, Any] = {}
    at = name.end()
    while not text.startswith(")", at):
        argument = _ARGUMENT.match(text, at)
        if argument is None:
            return None
        try:
            arguments[argument[1]], at = _DECODER.raw_decode(text, argument.end())
        except (ValueError, RecursionError):
            return None
        if text.startswith(", ", at):
            at += 2
        elif not text.startswith(")", at):
            return None
    return ReadCall(name[1], arguments, at + 1)


def head_of(turn: Turn, arguments: Mapping[str, Any] | str | None = None, elsewhere: Elsewhere | None = None) -> str:
    if turn.role == "tool":
        who = "tool:" + call_text({"name": turn.tool_name or "?", "arguments": arguments or {}}, MAX_ARGUMENTS)
    else:
        who = "pin:" if turn.is_pin else f"{turn.role}:"
    return made_head(turn.turn_number, who, turn.created_at, status_of(turn), str(elsewhere or ""))


def status_of(turn: Turn | SearchHit) -> str:
    """How a turn ended, where it is not just over: a head says it."""
    return "" if turn.status == TurnStatus.COMPLETE else turn.status.value


def made_head(number: int, who: str, created_at: str, *notes: str) -> str:
    when = local_time(created_at)[:16]
    # A tool's name, an argument's or a title may hold line breaks; a head is one line.
    return " ".join(f"[Turn {number}] {who} ({', '.join([when, *filter(None, notes)])})".split())


def _arguments(arguments: Any, limit: int | None) -> str:
    if isinstance(arguments, str):
        return _clipped(json.dumps(arguments, ensure_ascii=False), limit)
    if not isinstance(arguments, Mapping):
        return ""
    each = None if limit is None else MAX_ARGUMENT
    words = (f"{name}={_clipped(json.dumps(value, ensure_ascii=False), each)}" for name, value in arguments.items())
    return _clipped(storable(", ".join(words)), limit)


def _clipped(text: str, limit: int | None) -> str:
    return text if limit is None or len(text) <= limit else text[:limit] + "…"


Counter = Callable[[str], int]
"""Tokens of a text."""
