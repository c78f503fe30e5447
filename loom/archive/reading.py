"""Reading turns. Every function here is one query that an index answers, however long the session is."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from loom.archive.records import ExchangeSize, Turn
from loom.archive.rewound import rewound_after
from loom.archive.rows import TURN_COLUMNS, exchange_size_from_row, turn_from_row
from loom.turn_numbers import Ranges

MAX_BETWEEN = 1_000
"""Turns from a question to its answer, at most; for the search too, which is not loaded to read turns."""

_TURNS = f"SELECT {TURN_COLUMNS} FROM conversation_turns WHERE session_id = ?"  # noqa: S608 - constant names

_WORDS = "kind = 'text' AND role IN ('user', 'assistant') AND coalesce(content, '') <> ''"
_SAID = f"""
{_WORDS} AND (role = 'user' OR 1 IS NOT (
    SELECT next.turn_number > conversation_turns.turn_number + 1 AND next.role = 'assistant'
    FROM (SELECT session_id, turn_number, role FROM conversation_turns WHERE {_WORDS}) AS next
    WHERE next.session_id = conversation_turns.session_id AND next.turn_number > conversation_turns.turn_number
        AND next.turn_number <= conversation_turns.turn_number + {MAX_BETWEEN}
    ORDER BY next.turn_number LIMIT 1
))
"""  # noqa: S608
"""Words that are no remark, as `search.marks.is_remark` has it."""

_NEXT = """
FROM exchanges AS next
WHERE next.session_id = this.session_id AND next.exchange > this.exchange ORDER BY next.exchange LIMIT 1
"""
SIZES = f"""
SELECT
    this.exchange,
    this.first_turn,
    coalesce((SELECT next.first_turn - 1 {_NEXT}), turn_count),
    coalesce((SELECT next.tokens_before {_NEXT}), turn_tokens) - this.tokens_before
FROM exchanges AS this JOIN cowork_sessions ON id = this.session_id
WHERE this.session_id = ? AND this.exchange < ? ORDER BY this.exchange DESC LIMIT ?
"""  # noqa: S608
"""Bound to session id, the first exchange that is not wanted, limit."""

_BEYOND = 2**62
"""Greater than every number of a turn or an exchange."""

_BEGIN = "SELECT first_turn FROM exchanges WHERE session_id = ? AND exchange >= ? ORDER BY exchange LIMIT 1"
EXCHANGES = f"""
{_TURNS} AND turn_number >= ({_BEGIN}) AND turn_number < coalesce(({_BEGIN}), {_BEYOND}) ORDER BY turn_number
"""
"""Bound to session id, session id, the first exchange, session id, the first one that is not wanted."""


def turns_after(connection: sqlite3.Connection, session_id: str, turn_number: int, limit: int) -> list[Turn]:
    """The oldest `limit` turns after `turn_number`, ascending."""
    query = f"{_TURNS} AND turn_number > ? ORDER BY turn_number LIMIT ?"
    return _turns(connection, query, session_id, turn_number, limit)


def turns_before(connection: sqlite3.Connection, session_id: str, turn_number: int | None, limit: int) -> list[Turn]:
    """The newest `limit` turns before `turn_number` (of all if None), ascending."""
    if turn_number is None:
        found = _turns(connection, f"{_TURNS} ORDER BY turn_number DESC LIMIT ?", session_id, limit)
    else:
        query = f"{_TURNS} AND turn_number < ? ORDER BY turn_number DESC LIMIT ?"
        found = _turns(connection, query, session_id, turn_number, limit)
    return found[::-1]


def turn_range(connection: sqlite3.Connection, session_id: str, first: int, last: int) -> list[Turn]:
    """The turns from `first` to `last`, both included, ascending."""
    query = f"{_TURNS} AND turn_number BETWEEN ? AND ? ORDER BY turn_number"
    return _turns(connection, query, session_id, first, last)


def turns_around(connection: sqlite3.Connection, session_id: str, turn_number: int) -> list[Turn]:
    """A turn with one on either side, ascending. Of something that was said these are what was said before and after
    it, whatever was done in between; of anything else, the turns next to it."""
    said = _turns(connection, f"{_TURNS} AND turn_number = ? AND {_SAID}", session_id, turn_number)
    if not said:
        return turn_range(connection, session_id, turn_number - 1, turn_number + 1)
    near = f"{_TURNS} AND turn_number BETWEEN ? AND ? AND {_SAID} ORDER BY turn_number"
    before = _turns(connection, f"{near} DESC LIMIT 1", session_id, turn_number - MAX_BETWEEN, turn_number - 1)
    behind = _turns(connection, f"{near} LIMIT 1", session_id, turn_number + 1, turn_number + MAX_BETWEEN)
    return [*before, *said, *behind]


def exchange_range(connection: sqlite3.Connection, session_id: str, first: int, last: int) -> list[Turn]:
    """The turns of the exchanges from `first` to `last`, both included, ascending."""
    return _turns(connection, EXCHANGES, session_id, session_id, first, session_id, last + 1)


def tool_turns(connection: sqlite3.Connection, session_id: str, tool_name: str, limit: int) -> list[Turn]:
    """The newest `limit` results of a tool, newest first."""
    query = f"{_TURNS} AND tool_name = ? AND role = 'tool' ORDER BY turn_number DESC LIMIT ?"
    return _turns(connection, query, session_id, tool_name, limit)


def window_marks(connection: sqlite3.Connection, session_id: str, limit: int, before: int | None) -> list[Turn]:
    """The newest `limit` turns before turn `before` (of all if None) that moved the window's beginning (receipts,
    summaries, clearings, rewindings), newest first."""
    query = (
        f"{_TURNS} AND turn_number < ? AND role = 'system' AND CASE WHEN json_valid(message_meta)"
        " THEN json_type(message_meta, '$.left_to') = 'integer' END ORDER BY turn_number DESC LIMIT ?"
    )
    return _turns(connection, query, session_id, _BEYOND if before is None else before, limit)


def rewound_in(connection: sqlite3.Connection, session_id: str) -> Ranges:
    """The turns of a session that the person rewound past."""
    marks = window_marks(connection, session_id, 1, None)
    return (rewound_after(marks[0]) or ()) if marks else ()


def exchange_sizes(
    connection: sqlite3.Connection, session_id: str, before: int | None, limit: int
) -> list[ExchangeSize]:
    """The newest `limit` exchanges before exchange `before` (of all if None), newest first."""
    rows = connection.execute(SIZES, (session_id, _BEYOND if before is None else before, limit)).fetchall()
    return [exchange_size_from_row(row) for row in rows]


def turn_count(connection: sqlite3.Connection, session_id: str) -> int:
    """How many turns the session has; 0 for an unknown one."""
    row = connection.execute("SELECT turn_count FROM cowork_sessions WHERE id = ?", (session_id,)).fetchone()
    return 0 if row is None else int(row[0])


def has_key(connection: sqlite3.Connection, session_id: str, beginning: str) -> bool:
    """Whether a turn of the session has a key that begins so."""
    query = "SELECT 1 FROM conversation_turns WHERE session_id = ? AND append_key >= ? AND append_key < ? LIMIT 1"
    return connection.execute(query, (session_id, beginning, f"{beginning}\U0010ffff")).fetchone() is not None


def asking_turn(connection: sqlite3.Connection, session_id: str, tool_call_id: str, before: int | None) -> Turn | None:
    """The newest assistant turn before turn `before` (of all if None) that asked for a call of this id, or None.

    Looked for backwards, from the call's result, or from the end when there is none yet: it stands next to both.
    """
    asking = connection.execute(
        "SELECT turn_number, tool_calls FROM conversation_turns WHERE session_id = ? AND role = 'assistant'"
        " AND turn_number < ? AND tool_calls IS NOT NULL ORDER BY turn_number DESC",
        (session_id, _BEYOND if before is None else before),
    )
    for number, calls in asking:
        if any(isinstance(call, dict) and call.get("id") == tool_call_id for call in _calls(calls)):
            return turn_range(connection, session_id, number, number)[0]
    return None


def _calls(text: str) -> list[Any]:
    """The calls of a turn; none where they are damaged, which says nothing about the turns before it."""
    try:
        calls: Any = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return calls if isinstance(calls, list) else []


def _turns(connection: sqlite3.Connection, query: str, *parameters: str | int) -> list[Turn]:
    # All rows first: a row at a time, with a record made of each, takes a tenth longer.
    return [turn_from_row(row) for row in connection.execute(query, parameters).fetchall()]
