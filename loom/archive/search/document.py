"""What a turn is searched and shown by: its decoded text, and whether it may be found at all."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from loom.archive.faults import is_damage
from loom.archive.search.marks import facets_of, is_said, marks_of, one_term, time_facets, tool_marks
from loom.archive.search.meaning import sketch_of
from loom.archive.search.words import Terms, terms_of
from loom.attached import without_turns
from loom.text import storable

RECALL_TOOL = "conversation_recall"
COLUMNS = "id, session_id, turn_number, exchange, role, kind, status, content, tool_calls, tool_name, created_at"
"""What `TurnRow` is made of, for the SELECTs of this package."""

_PINNED_WORDS = (
    "kind = 'note' AND CASE WHEN json_valid(message_meta) THEN json_type(message_meta, '$.pin.text') = 'text'"
    " AND json_type(message_meta, '$.pin.turn') IS NULL AND json_extract(message_meta, '$.pin.by') IS NOT 'model' END"
)
"""SQL: a note that holds what a person pinned as words. A turn that was pinned is found itself, and what the model
pinned is found as the call that did it."""
FINDABLE = (
    f"(kind NOT IN ('receipt', 'note') OR {_PINNED_WORDS})"
    f" AND NOT (role = 'tool' AND coalesce(tool_name, '') = '{RECALL_TOOL}')"
)
"""SQL: which turns may be found; recall calls, whose query would match itself, are left out of `TurnRow.calls`."""

PART_MARK = "~"
"""Before a term of the column `parts`, where no other column's term has it: FTS5 keeps one list for a term, whatever
its column, and would read through all turns with a common word for the few that have it inside an identifier."""

MOST_NESTED = 100
"""Lists and objects within each other, from which on JSON is taken as it is written."""

TURN_BITS = 26
_SECOND = (1 << TURN_BITS) - 1


class UnreadableTurn(sqlite3.DatabaseError):
    """What SQLite says of a turn on a damaged page. The index is not to blame, and making it anew is no remedy."""


@contextmanager
def reading_turns() -> Iterator[None]:
    """Raises UnreadableTurn where what is read of the turns meanwhile is damaged."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        unreadable = UnreadableTurn(*error.args)
        unreadable.sqlite_errorcode, unreadable.sqlite_errorname = error.sqlite_errorcode, error.sqlite_errorname
        raise unreadable from error


@dataclass(frozen=True, slots=True)
class TurnRow:
    """The columns of a turn that searching reads."""

    id: int
    session_id: str
    turn_number: int
    exchange: int
    role: str
    kind: str
    status: str
    content: str | None
    tool_calls: str | None
    tool_name: str | None
    created_at: str

    @property
    def text(self) -> str:
        """See `text_of`."""
        return text_of(self.content, self.tool_calls)

    @property
    def whole(self) -> str:
        """The whole decoded text: content, then each call's name and arguments."""
        return _joined(self.content or "", self.tool_calls)

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The calls that may be found."""
        return _calls_of(self.tool_calls)

    @property
    def tools(self) -> frozenset[str]:
        """The tools that the turn calls or is a result of, as `one_term` gives their names."""
        called = (call.get("name") for call in self.calls)
        return frozenset(one_term(name) for name in (self.tool_name, *called) if isinstance(name, str) and name.strip())


@dataclass(frozen=True, slots=True)
class FoundBy:
    """What one turn is found by."""

    terms: Terms
    facets: frozenset[str]


@dataclass(frozen=True, slots=True)
class Entry(FoundBy):
    """What the index keeps of one turn."""

    place: int
    at: int
    characters: int
    marks: int
    sketch: bytes | None
    """What it means, if it is the person's or the model's words (and the calls of the same turn): see
    `meaning.sketch_of`."""


def place_of(key: int, turn_number: int) -> int:
    """One number for a turn: places of a session follow each other, as its turns do."""
    return key << TURN_BITS | turn_number


def key_of(place: int) -> int:
    return place >> TURN_BITS


def turn_of(place: int) -> int:
    return place & _SECOND


def found_by(row: TurnRow) -> FoundBy | None:
    """What a turn is found by, None if it has no text: a part of the work of `entry_of`."""
    text = row.text
    return _found_by(row, text, row.tools) if text else None


def entry_of(row: TurnRow, key: int) -> Entry | None:
    """What the index keeps of a turn, None if it has no text."""
    text = row.text
    if not text:
        return None
    tools = row.tools
    found = _found_by(row, text, tools)
    marks = marks_of(row.role, row.kind, text)
    return Entry(
        place=place_of(key, row.turn_number),
        at=seconds(row.created_at),
        characters=len(text),
        marks=marks | tool_marks(tools),
        terms=found.terms,
        facets=found.facets,
        sketch=sketch_of(text) if is_said(marks) else None,
    )


def facets_in(row: TurnRow) -> frozenset[str]:
    """The facets that a turn is found by."""
    return facets_of(row.role, row.tools, row.text) | time_facets(seconds(row.created_at))


def _found_by(row: TurnRow, text: str, tools: frozenset[str]) -> FoundBy:
    named = f"{text}\n{row.tool_name}" if row.tool_name else text
    return FoundBy(terms_of(named), facets_of(row.role, tools, text) | time_facets(seconds(row.created_at)))


def text_of(content: str | None, tool_calls: str | None) -> str:
    """What of a turn's whole text is searched; empty if it may not be found. Turns that went along with a message are
    not: what they say is found where they stand."""
    return _joined(without_turns(content) if content else "", tool_calls)


def _joined(said: str, tool_calls: str | None) -> str:
    if tool_calls is None:
        return said
    # Half of an emoji, which a model may leave off at, stands in its call as an escape that says more than text may.
    return storable("\n".join([*([said] if said else []), *map(_call_text, _calls_of(tool_calls))]))


def seconds(timestamp: str) -> int:
    """Seconds since 1970 of an ISO timestamp; 0 of a text that is none."""
    try:
        return int(datetime.fromisoformat(timestamp).astimezone(UTC).timestamp())
    except (ValueError, OverflowError, OSError):
        return 0


def _calls_of(tool_calls: str | None) -> list[dict[str, Any]]:
    if tool_calls is None:
        return []
    return [call for call in _calls(tool_calls) if call.get("name") != RECALL_TOOL]


def _calls(tool_calls: str) -> list[dict[str, Any]]:
    try:
        calls = _parsed(tool_calls)
    except ValueError:
        return [{"name": "", "arguments": tool_calls}]
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def _call_text(call: dict[str, Any]) -> str:
    arguments = call.get("arguments", "")
    if isinstance(arguments, str):
        try:
            decoded = _parsed(arguments)
        except ValueError:
            decoded = arguments
        arguments = decoded
    name = str(call.get("name") or "")
    if not isinstance(arguments, dict):
        return f"{name} {_plain(arguments)}".strip()
    return "\n".join([name, *(f"{key}: {_plain(value)}" for key, value in arguments.items())])


def _parsed(text: str) -> Any:
    """What a JSON text says. Raises ValueError if it is none, or has so much within each other that Python may not be
    able to go through it: a model that stumbles writes brackets without an end."""
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise ValueError("too deep") from error
    # Not left to whether there is room on the stack just now: what is indexed must be the same each time.
    if text.count("[") + text.count("{") > MOST_NESTED and _is_deep(value):
        raise ValueError("too deep")
    return value


def _is_deep(value: object) -> bool:
    level: list[Any] = [value] if isinstance(value, dict | list) else []
    for _ in range(MOST_NESTED):
        inside = (outer.values() if isinstance(outer, dict) else outer for outer in level)
        level = [inner for inner in chain.from_iterable(inside) if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
