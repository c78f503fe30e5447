"""The answer as far as it has streamed: kept beside the turns, and made turns of after a crash."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, replace

from loom.archive import clock
from loom.archive.errors import LeaseLost
from loom.archive.records import Draft, NewTurn, TurnKind, TurnStatus
from loom.archive.rows import storable_turn
from loom.archive.sessions import FENCED, require
from loom.text import storable

_DAMAGED = "What was being written here when loom ended is damaged. As it stands in the archive:"


def save_draft(connection: sqlite3.Connection, draft: Draft, epoch: int | None) -> None:
    """Keep the draft in place of the session's earlier one; an empty one is none. Raises UnknownSession or
    LeaseLost."""
    if not draft.turns:
        connection.execute("DELETE FROM drafts WHERE session_id = ?", (draft.session_id,))
        return
    turns = json.dumps([asdict(turn) for turn in draft.turns], ensure_ascii=False, separators=(",", ":"))
    stored = connection.execute(
        "INSERT INTO drafts (session_id, exchange, turns, updated_at)"  # noqa: S608 - constant names
        " SELECT id, ?, ?, ? FROM cowork_sessions"
        f" WHERE id = ? AND {FENCED}"
        " ON CONFLICT (session_id) DO UPDATE SET exchange = excluded.exchange, turns = excluded.turns,"
        " updated_at = excluded.updated_at",
        (
            draft.exchange,
            storable(turns),
            draft.updated_at or clock.now(),
            draft.session_id,
            epoch,
            draft.session_id,
            epoch,
        ),
    )
    if stored.rowcount == 0:
        require(connection, draft.session_id)
        raise LeaseLost


def get_draft(connection: sqlite3.Connection, session_id: str) -> Draft | None:
    """The session's draft; None if there is none. No digest is over it: one that damage made unreadable is a note of
    loom's that has what there is of it, so that it keeps nobody from the session, and nothing of it is lost."""
    row = connection.execute(
        "SELECT exchange, CAST(turns AS BLOB), CAST(updated_at AS BLOB) FROM drafts WHERE session_id = ?", (session_id,)
    ).fetchone()
    if row is None:
        return None
    exchange, stored, updated_at = row[0], *(column.decode("utf-8", "replace") for column in row[1:])
    return Draft(session_id=session_id, exchange=exchange, turns=_turns(stored), updated_at=updated_at)


def _turns(stored: str) -> tuple[NewTurn, ...]:
    try:
        turns = tuple(
            NewTurn(**{**turn, "kind": TurnKind(turn["kind"]), "status": TurnStatus(turn["status"])})
            for turn in json.loads(stored)
        )
        for turn in turns:
            storable_turn(turn)
    except (ValueError, KeyError, TypeError, AttributeError):
        return (NewTurn(role="system", kind=TurnKind.NOTE, content=f"{_DAMAGED}\n{stored}"),)
    return turns


def interrupted(draft: Draft) -> list[NewTurn]:
    """The turns of a draft as a crash left them, keyed so that two recoveries store them once."""
    try:
        moment = clock.normalised(draft.updated_at)
    except ValueError:
        moment = clock.now()
    return [
        replace(
            turn,
            status=TurnStatus.INTERRUPTED,
            append_key=turn.append_key or f"draft/{draft.updated_at}/{place}",
            created_at=turn.created_at or moment,
        )
        for place, turn in enumerate(draft.turns)
    ]


def drop_draft(connection: sqlite3.Connection, session_id: str) -> None:
    """Forget the session's draft, if there is one."""
    connection.execute("DELETE FROM drafts WHERE session_id = ?", (session_id,))
