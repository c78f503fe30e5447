"""What the filters of a search may become while they are typed: `ro` `role:`, `tool:` and the tools there are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from loom.text import show_line
from loom.tui.readers import SearchReader

MOST = 20
"""Entries that are offered at a time."""
_TITLES = 60
"""Characters of a session's title beside its reference."""

FILTERS = {
    "role": "whose turn: user, assistant, tool, system",
    "tool": "what a tool was asked and gave back",
    "file": "turns that speak of a file",
    "before": "older than a day",
    "after": "since a day",
    "session": "one session, by reference or title",
}
"""Every filter, and what it leaves."""
_ROLES = {
    "user": "what you said",
    "assistant": "what the model said",
    "tool": "what tools gave back",
    "system": "receipts and summaries",
}
_LISTS = ("role", "tool")
"""Filters that take several values, with commas between."""
_FREE = ("file", "before", "after")
"""Filters whose value may be anything typed."""

_VALUE = re.compile(rf'(?:^|\s)({"|".join(FILTERS)}):("[^"]*|[^\s"]*)$', re.IGNORECASE)
_NAME = re.compile(r"(?:^|\s)([a-z]{2,7})$", re.IGNORECASE)
_WORDS = frozenset(("to", "be"))
"""English before they are the beginning of a filter."""


@dataclass(frozen=True, slots=True)
class Typed:
    """The part of a query at the cursor that may be completed."""

    start: int
    """Where it begins; it ends at the cursor."""
    name: str | None
    """The filter whose value it is; None when it is the beginning of a filter's name."""
    fragment: str

    @property
    def is_bare(self) -> bool:
        """Whether it is a filter without a value so far."""
        return self.name is not None and not self.fragment

    @property
    def is_free(self) -> bool:
        """Whether it is a value as it stands."""
        return self.name in _FREE and bool(self.fragment)


@dataclass(frozen=True, slots=True)
class Choice:
    """One entry of the list."""

    usage: str
    help: str
    written: str
    """What stands in the query in the place of what was typed."""


def typed_at(text: str, cursor: int) -> Typed | None:
    """What is being typed at the cursor; None when it is no filter, or the cursor is inside a word."""
    if cursor < len(text) and not text[cursor].isspace():
        return None
    if match := _VALUE.search(text, 0, cursor):
        name, value = match[1].lower(), match[2]
        skipped = value.rfind(",") + 1 if name in _LISTS else int(value.startswith('"'))
        # The opening quotation mark is written anew where it is needed.
        start = match.start(2) + (skipped if name in _LISTS else 0)
        return Typed(start, name, value[skipped:])
    match = _NAME.search(text, 0, cursor)
    if match and match[1].lower() not in _WORDS and any(name.startswith(match[1].lower()) for name in FILTERS):
        return Typed(match.start(1), None, match[1])
    return None


async def choices_for(
    typed: Typed, reader: SearchReader, *, session_id: str | None, workspace: str | None, now: datetime
) -> tuple[Choice, ...]:
    """What may stand there, the likeliest first. Raises an ArchiveError."""
    wanted = typed.fragment.lower()
    match typed.name:
        case None:
            return tuple(Choice(f"{n}:", help, f"{n}:") for n, help in FILTERS.items() if n.startswith(wanted))
        case "role":
            return tuple(_choice(role, help) for role, help in _ROLES.items() if role.startswith(wanted))
        case "tool":
            tools = await reader.find_tools(session_id=session_id, workspace=workspace)
            return tuple(_choice(tool) for tool in _matching(tools, wanted))
        case "file":
            files = await reader.find_files(wanted, session_id=session_id, workspace=workspace, limit=MOST)
            return tuple(_choice(path) for path in files)
        case "session":
            sessions = await reader.list_sessions(workspace, limit=500)
            found = [s for s in sessions if s.reference.startswith(wanted) or wanted in s.title.lower()]
            return tuple(_choice(s.reference, show_line(s.title, _TITLES) or "untitled") for s in found[:MOST])
    return tuple(_dates(wanted, now))


def _matching(values: Iterable[str], wanted: str) -> list[str]:
    """Those that begin so, then those that have it inside."""
    found = [value for value in values if wanted in value]
    return sorted(found, key=lambda value: not value.startswith(wanted))[:MOST]


def _choice(value: str, help: str = "") -> Choice:
    written = f'"{value}"' if re.search(r"\s", value) else value
    return Choice(show_line(value, 80), help, f"{written} ")


def _dates(wanted: str, now: datetime) -> Iterable[Choice]:
    means = _meaning(now.astimezone())
    number = wanted.rstrip("hdw") if wanted[:1].isdigit() and len(wanted) <= 3 else ""
    spans = [f"{number}{unit}" for unit in "hdw"] if number else ["12h", "7d", "2w"]
    days = [f"{now.astimezone():{form}}" for form in ("%Y-%m-%d", "%Y-%m", "%Y")]
    for value in ("today", "yesterday", *spans, *days):
        if value.startswith(wanted) and (meaning := means(value)):
            yield _choice(value, meaning)


def _meaning(now: datetime) -> Callable[[str], str]:
    from loom.archive.search.dates import date_bound  # all of search: not needed to paint

    def means(value: str) -> str:
        moment = date_bound(value, now)
        return "" if moment is None else f"{datetime.fromtimestamp(moment, now.tzinfo):%Y-%m-%d %H:%M}"

    return means


@dataclass(frozen=True, slots=True)
class Asked:
    """What the browser itself has to know of a query."""

    names_session: bool
    """It says which session it is about."""
    only_filters: bool
    """It has no words: whatever passes is meant."""


def asked_by(query: str) -> Asked:
    """What a query asks for beside its words."""
    from loom.archive.search.query import parse  # all of search: not needed to paint

    parsed = parse(query)
    return Asked(parsed.filters.session is not None, parsed.is_empty)
