"""The turns of a search by their place: their texts, what they are, and what they are as hits."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from loom.archive.records import SearchHit, TurnKind, TurnStatus
from loom.archive.search.document import (
    COLUMNS,
    RECALL_TOOL,
    TURN_BITS,
    TurnRow,
    UnreadableTurn,
    reading_turns,
    text_of,
    turn_of,
)
from loom.archive.search.query import LONGEST_QUESTION, Query
from loom.archive.search.scope import Scope
from loom.archive.search.snippets import snippet_of

MAX_READ = 4_000_000
"""Characters that are read to see whether a passage stands in them."""
SOON = 4
"""Turns: a thought, a remark and a call or two beside it."""
_ROW = f"SELECT {COLUMNS} FROM conversation_turns WHERE session_id = ? AND turn_number = ?"  # noqa: S608
_TEXTS = f"""
    SELECT asked.value, turn.id IS NOT NULL, turn.content, turn.tool_calls FROM json_each(?) AS asked
    LEFT JOIN search_sessions AS session ON session.key = asked.value >> {TURN_BITS}
    LEFT JOIN conversation_turns AS turn
        ON turn.session_id = session.session_id AND turn.turn_number = asked.value & {(1 << TURN_BITS) - 1}
"""  # noqa: S608
"""In the order asked for; a session that the index does not have is not known here. A quarter of the time that a
statement for each turn takes."""
_LOOKING_UP = f"""
    SELECT json_extract(asked.value, '$[2]'), here.role FROM json_each(?) AS asked
    JOIN conversation_turns AS here
        ON here.session_id = json_extract(asked.value, '$[0]') AND here.turn_number = json_extract(asked.value, '$[1]')
    JOIN conversation_turns AS call
        ON call.session_id = here.session_id AND call.exchange = here.exchange AND call.kind = 'tool_call'
        AND call.turn_number BETWEEN here.turn_number + 1 AND here.turn_number + {SOON}
    WHERE CASE WHEN json_valid(call.tool_calls) THEN json_extract(call.tool_calls, '$[0].name') END = '{RECALL_TOOL}'
        AND (here.kind = 'thinking' OR here.kind = 'text' AND length(here.content) <= {LONGEST_QUESTION})
        AND (here.role = 'user' OR NOT EXISTS (
            SELECT 1 FROM conversation_turns AS other WHERE other.session_id = here.session_id
                AND other.turn_number > here.turn_number AND other.turn_number < call.turn_number
                AND other.kind != 'thinking'
        ))
"""  # noqa: S608
"""Of sessions, turns and places, the places behind which the archive is soon asked, and whose words are there: the
person's, or what the model says in few words, or thinks, on its way. Neither a call made beside it, nor a long answer
that ends with it."""

_RETELLING = f"""
    SELECT json_extract(asked.value, '$[2]') FROM json_each(?) AS asked
    JOIN conversation_turns AS here
        ON here.session_id = json_extract(asked.value, '$[0]') AND here.turn_number = json_extract(asked.value, '$[1]')
    JOIN conversation_turns AS before ON before.session_id = here.session_id AND before.turn_number = (
        SELECT max(turn_number) FROM conversation_turns AS other WHERE other.session_id = here.session_id
            AND other.turn_number BETWEEN here.turn_number - {SOON} AND here.turn_number - 1
            AND other.kind != 'thinking'
    )
    WHERE here.role = 'assistant' AND here.kind = 'text' AND before.exchange = here.exchange
        AND before.role = 'tool' AND before.tool_name = '{RECALL_TOOL}'
"""  # noqa: S608
"""Of sessions, turns and places, the places at which the model speaks right behind what the archive gave it."""


class TurnReader:
    """Of one connection, in its scope. Raises UnreadableTurn where a turn that is asked for is damaged."""

    def __init__(self, connection: sqlite3.Connection, scope: Scope, check: Callable[[], None]) -> None:
        self._connection = connection
        self._scope = scope
        self.check = check

    def row(self, place: int) -> TurnRow | None:
        """What searching reads of a turn; None if it is gone."""
        session = self._scope.session_of(place)
        with reading_turns():
            values = self._connection.execute(_ROW, (session.id, turn_of(place))).fetchone()
        return None if values is None else TurnRow(*values)

    def texts(self, places: Iterable[int]) -> dict[int, str]:
        """The texts of the places, as many of the first as make `MAX_READ` characters together."""
        texts: dict[int, str] = {}
        left = MAX_READ
        for place, text in self._all_texts(places):
            self.check()
            texts[place] = text
            left -= len(text)
            if left < 0:
                break
        return texts

    def readable_texts(self, places: Iterable[int]) -> dict[int, str]:
        """As `texts`; none where a turn among them is damaged: what the others say is not worth the search."""
        try:
            return self.texts(places)
        except UnreadableTurn:
            return {}

    def _all_texts(self, places: Iterable[int]) -> Iterator[tuple[int, str]]:
        if not self._scope.indexed:
            rows = ((place, self.row(place)) for place in places)
            yield from ((place, row.text) for place, row in rows if row is not None)
            return
        asked = "[" + ",".join(map(str, places)) + "]"
        with reading_turns():
            for place, is_known, content, tool_calls in self._connection.execute(_TEXTS, (asked,)):
                if is_known:
                    yield place, text_of(content, tool_calls)
                elif (row := self.row(place)) is not None:
                    yield place, row.text

    def looked_up(self, places: Iterable[int]) -> dict[int, str]:
        """Those of the places whose words the model soon looks up in the archive, and whose words they are."""
        try:
            with reading_turns():
                return dict(self._connection.execute(_LOOKING_UP, (self._named(places),)))
        except UnreadableTurn:
            return {}  # a turn behind one of them: what it says of these is not worth the search

    def retold(self, places: Iterable[int]) -> frozenset[int]:
        """Those of the places at which the model tells what it had looked up in the archive right before."""
        try:
            with reading_turns():
                rows = self._connection.execute(_RETELLING, (self._named(places),))
                return frozenset(chain.from_iterable(rows))
        except UnreadableTurn:
            return frozenset()  # as above

    def _named(self, places: Iterable[int]) -> str:
        """Sessions, turns and places, for a statement."""
        return json.dumps([(self._scope.session_of(place).id, turn_of(place), place) for place in places])

    def hit(self, place: int, row: TurnRow, score: float, query: Query) -> SearchHit:
        """A turn as a hit, with its best passage."""
        session = self._scope.session_of(place)
        snippet, highlights = snippet_of(row.text, query)
        return SearchHit(
            session_id=session.id,
            session_reference=session.reference,
            session_title=session.title,
            turn_number=row.turn_number,
            exchange=row.exchange,
            role=row.role,  # type: ignore[arg-type]  # the table's CHECK allows the four roles only
            kind=TurnKind(row.kind),
            status=TurnStatus(row.status),
            tool_name=row.tool_name,
            created_at=row.created_at,
            score=score,
            content=row.whole,
            snippet=snippet,
            highlights=highlights,
            also_in=self._scope.also_in(place),
        )
