"""Turns in a log that lost its name, when the archive has gone on without it: another loom began a log of its own.

They cannot be moved into the database, where other turns stand in their places; they are read out of the log, to be
stored again as new ones.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from loom.archive.cells import rows_of
from loom.archive.errors import WriteFailed
from loom.archive.pages import Pages
from loom.archive.records import NewSession, NewTurn
from loom.archive.references import is_half_purged, is_unfinished
from loom.archive.rows import turn_from_row
from loom.archive.shapes import Salvage

KEY = "stranded/"
"""How the key of a turn begins that had none of its own: its number and its digest follow, by which it is known again
where it was stored after all."""


@dataclass(frozen=True, slots=True)
class StrandedSession:
    """Turns of one session that the archive may lack."""

    session_id: str
    turns: tuple[NewTurn, ...]
    """In order, each with an append key: storing one twice stores it once."""
    session: NewSession | None
    """For a session that may be in the log only."""


class Stranded(WriteFailed):
    """Turns that were acknowledged are in a log that the archive has gone on without. Nothing was stored."""

    def __init__(self, what: str, sessions: tuple[StrandedSession, ...]) -> None:
        super().__init__(
            what,
            "What only this loom has is kept beside the archive: end this loom, then open the session again.",
        )
        self.sessions = sessions

    def unkept(self) -> WriteFailed:
        """The same, where they could not be kept."""
        return WriteFailed(
            self.what,
            "What only this loom has is not in the archive: copy what you need from the screen, end every loom, and "
            "start again.",
        )


def stranded_in(log: BinaryIO, moved: int) -> tuple[StrandedSession, ...]:
    """What the log holds behind its first `moved` frames, which are in the database. Turns that stand in one page with
    these come along. Raises OSError."""
    pages, found = Pages(io.BytesIO(), log), Salvage()
    for number in pages.behind(moved):
        for row in rows_of(pages, pages.read(number), number):
            found.take(row)
    # All of a fork that was still being made is in the session that it is a copy of; what is purged must not come back.
    halves = {
        session for session, record in found.sessions.items() if is_unfinished(record[1]) or is_half_purged(record[1])
    }
    sessions = [_session(found, session) for session in found.turns.keys() - halves]
    return tuple(sorted(sessions, key=lambda session: session.turns[0].created_at or ""))


def _session(found: Salvage, session: str) -> StrandedSession:
    turns = found.turns[session]
    numbers = sorted(turns)
    record = found.sessions.get(session)
    before = _before_the_end(numbers)
    return StrandedSession(
        session,
        tuple(_turn(session, turns[number]) for number in numbers),
        _new_session(record, found.texts.get(session, ("", ""))[0], before)
        if record is not None and _is_perhaps_new(record, before)
        else None,
    )


def _before_the_end(numbers: Sequence[int]) -> int:
    """The last number that is missing before those that follow each other up to the end; 0 for none."""
    first = numbers[-1]
    for number in reversed(numbers[:-1]):
        if number != first - 1:
            break
        first = number
    return first - 1


def _is_perhaps_new(record: tuple[Any, ...], before: int) -> bool:
    """Whether the archive may not know the session, of which the log has everything behind turn `before`. A fork was
    hidden as long as a part of it was missing: who did not have the log took it for a half."""
    parent, fork_turn = record[17:19]
    return before == 0 or (parent is not None and fork_turn is not None and before <= fork_turn)


def _turn(session: str, row: tuple[Any, ...]) -> NewTurn:
    *columns, key, digest = row
    turn = turn_from_row((session, *columns, digest))
    return NewTurn(
        role=turn.role,
        content=turn.content,
        kind=turn.kind,
        status=turn.status,
        tool_calls=turn.tool_calls,
        tool_call_id=turn.tool_call_id,
        tool_name=turn.tool_name,
        token_count=turn.token_count,
        part_json=turn.part_json,
        message_meta=turn.message_meta,
        usage=turn.usage,
        cost_usd=turn.cost_usd,
        append_key=key or f"{KEY}{turn.turn_number}/{digest}",
        created_at=turn.created_at,
    )


def _new_session(record: tuple[Any, ...], system_prompt: str, copied: int) -> NewSession:
    return NewSession(
        id=record[0],
        reference=record[1],
        title=record[2],
        workspace_path=record[5],
        workspace_commit=record[6],
        model_name=record[7],
        system_prompt=system_prompt,
        started_at=record[8],
        parent_id=record[17],
        fork_turn=record[18],
        copied=copied,
    )
