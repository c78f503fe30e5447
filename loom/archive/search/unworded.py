"""The turns whose text may have what the index keeps no word of: emoji, signs, words longer than any that it keeps.

SQLite goes through the texts themselves, the newest first and as far as is asked for, and leaves few to be read: a
million turns take a second or two, in the search's own thread. Interrupted as every statement is.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Generator

from loom.archive.search.document import COLUMNS, FINDABLE, TurnRow, reading_turns
from loom.archive.search.scope import Scope

WRITTEN_ALIKE = re.compile("[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]")
"""Emoji and their like: in a text they are what they are in a query. Of other signs some are written in several ways
(`＝` is `=`, `↛` is `→` to a search), as letters are."""

_NEWEST = f"SELECT {COLUMNS} FROM conversation_turns WHERE {FINDABLE} AND ({{}}) {{}}"  # noqa: S608
_ESCAPED = "instr(tool_calls, '\\u')"
"""Calls may have it written as an escape."""
_WITH_ALIKE = f"instr(content, :sign) OR instr(tool_calls, :sign) OR {_ESCAPED}"
_NOT_ASCII = "length(content) < length(CAST(content AS BLOB))"
_WITH_ASCII = f"instr(lower(content), :piece) OR {_NOT_ASCII} OR tool_calls IS NOT NULL"
_WITH_OTHER = f"{_NOT_ASCII} OR tool_calls IS NOT NULL"


def likely_turns(connection: sqlite3.Connection, scope: Scope, passage: str) -> Generator[tuple[int, TurnRow]]:
    """The turns in scope whose text may have a folded passage, the newest first, with their places; every turn that
    has it is among them."""
    condition, values = _condition(passage)
    if scope.session_id is None:
        order = "ORDER BY id DESC"
    else:
        order, values["session"] = "AND session_id = :session ORDER BY turn_number DESC", scope.session_id
    with reading_turns():
        for found in connection.execute(_NEWEST.format(condition, order), values):
            row = TurnRow(*found)
            place = scope.place_in(row.session_id, row.turn_number)
            if place is not None:
                yield place, row


def _condition(passage: str) -> tuple[str, dict[str, str]]:
    """SQL that holds for every text with the passage, and what it is bound to."""
    if sign := WRITTEN_ALIKE.search(passage):
        return _WITH_ALIKE, {"sign": sign[0]}
    piece = max(passage.split(), key=len, default="")
    return (_WITH_ASCII, {"piece": piece}) if piece.isascii() else (_WITH_OTHER, {})
