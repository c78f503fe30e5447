"""The sessions themselves: made, listed, hidden, renamed."""

from __future__ import annotations

import json
import sqlite3
import uuid
from typing import Any

from loom.archive import clock
from loom.archive.errors import LeaseLost, UnknownSession
from loom.archive.records import NewSession, Session, SessionDetail
from loom.archive.references import (
    WHOLE,
    first_choice,
    free_reference,
    is_half_purged,
    is_unfinished,
    known_reference,
    unfinished_reference,
)
from loom.archive.rows import SESSION_COLUMNS, detail_from_row, session_from_row
from loom.archive.transactions import transaction
from loom.archive.workspaces import Workspace
from loom.text import storable

MAX_TITLE = 100

FENCED = "(? IS NULL OR EXISTS (SELECT 1 FROM cowork_sessions WHERE id = ? AND lease_epoch = ?))"
"""Bound to epoch, session id, epoch: true unless an epoch is given and the session has another one."""


def create_session(
    connection: sqlite3.Connection,
    workspace: Workspace,
    model: str,
    system_prompt: str,
    *,
    title: str = "",
    parent_id: str | None = None,
    fork_turn: int | None = None,
) -> str:
    """Store a session without turns; gives its id. Raises UnknownSession if there is no such parent."""
    with transaction(connection):
        session_id = str(uuid.uuid4())
        reference = free_reference(connection)
        insert_session(connection, session_id, workspace, model, system_prompt, reference, title, parent_id, fork_turn)
    return session_id


def insert_session(
    connection: sqlite3.Connection,
    session_id: str,
    workspace: Workspace,
    model: str,
    system_prompt: str,
    reference: str,
    title: str,
    parent_id: str | None,
    fork_turn: int | None,
) -> None:
    """Inside a transaction: the rows of a session without turns. Raises UnknownSession if there is no such parent."""
    moment = clock.now()
    if parent_id is not None:
        require(connection, parent_id)
    connection.execute(
        "INSERT INTO cowork_sessions (id, reference, title, workspace_path, workspace_commit, model_name,"
        " started_at, last_active_at, parent_id, fork_turn) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            session_id,
            reference,
            _title(title),
            workspace.path,
            workspace.commit,
            storable(model),
            moment,
            moment,
            parent_id,
            fork_turn,
        ),
    )
    connection.execute(
        "UPDATE session_texts SET system_prompt = ? WHERE session_id = ?", (storable(system_prompt), session_id)
    )


def adopt_session(connection: sqlite3.Connection, session: NewSession, *, unfinished: bool = False) -> bool:
    """Store a session without turns that comes back from elsewhere, `unfinished` as a fork that is still being made;
    False if there is one of its id."""
    with transaction(connection):
        if connection.execute("SELECT 1 FROM cowork_sessions WHERE id = ?", (session.id,)).fetchone() is not None:
            return False
        reference = unfinished_reference(session.id) if unfinished else first_choice(connection, session.reference)
        connection.execute(
            "INSERT INTO cowork_sessions (id, reference, title, workspace_path, workspace_commit, model_name,"
            " started_at, last_active_at, is_active, parent_id, fork_turn)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT id FROM cowork_sessions WHERE id = ?), ?)",
            (
                session.id,
                reference,
                _title(session.title),
                storable(session.workspace_path),
                session.workspace_commit,
                storable(session.model_name),
                session.started_at,
                session.started_at,
                int(not unfinished),
                session.parent_id,
                session.fork_turn,
            ),
        )
        connection.execute(
            "UPDATE session_texts SET system_prompt = ? WHERE session_id = ?",
            (storable(session.system_prompt), session.id),
        )
    return True


def get_session(connection: sqlite3.Connection, session_id: str) -> SessionDetail | None:
    """The session with its large columns, hidden or not; None if there is none, or a half of one."""
    row = connection.execute(
        f"SELECT {SESSION_COLUMNS}, system_prompt, session_state FROM cowork_sessions"  # noqa: S608
        f" JOIN session_texts ON session_id = id WHERE id = ? AND {WHOLE}",
        (session_id,),
    ).fetchone()
    return None if row is None else detail_from_row(row)


def list_sessions(
    connection: sqlite3.Connection,
    workspace: Workspace | None,
    *,
    limit: int,
    offset: int = 0,
    include_inactive: bool = False,
) -> list[Session]:
    """Sessions, newest activity first: of everywhere, or those that worked at the workspace's path or in another
    checkout of its history."""
    end = limit + offset if limit >= 0 else -1
    if workspace is None:
        found = _newest(connection, "1", (), end, include_inactive)
    else:
        found = _newest(connection, "workspace_path = ?", (workspace.path,), end, include_inactive)
        if workspace.commit is not None:
            known = {s.id for s in found}
            same = _newest(connection, "workspace_commit = ?", (workspace.commit,), end, include_inactive)
            found += [s for s in same if s.id not in known]
            # Each half is in order already; what is equally old keeps its place.
            found.sort(key=lambda s: s.last_active_at, reverse=True)
    return found[offset:] if end < 0 else found[offset:end]


def _newest(
    connection: sqlite3.Connection, condition: str, values: tuple[str, ...], limit: int, include_inactive: bool
) -> list[Session]:
    # Not `= 1`: SQLite would take is_active for constant, and then not see that the index gives the order.
    shown = f" AND {WHOLE}" if include_inactive else " AND is_active > 0"
    rows = connection.execute(
        f"SELECT {SESSION_COLUMNS} FROM cowork_sessions WHERE {condition}{shown}"  # noqa: S608
        " ORDER BY listed_at DESC, is_active DESC, rowid DESC LIMIT ?",
        (*values, limit),
    )
    return [session_from_row(row) for row in rows]


def rename_session(connection: sqlite3.Connection, session_id: str, title: str) -> None:
    """Give the session a title of at most MAX_TITLE characters. Raises UnknownSession."""
    _update(connection, session_id, "UPDATE cowork_sessions SET title = ? WHERE id = ?", _title(title), session_id)


def show_session(connection: sqlite3.Connection, session_id: str, shown: bool) -> None:
    """Hide the session from the list, or show it again. No turn is touched. Raises UnknownSession."""
    _update(
        connection,
        session_id,
        f"UPDATE cowork_sessions SET is_active = ? WHERE id = ? AND {WHOLE}",  # noqa: S608
        int(shown),
        session_id,
    )


def update_model(connection: sqlite3.Connection, session_id: str, model: str, epoch: int | None) -> None:
    """Note which model answers from here on. Raises UnknownSession or LeaseLost."""
    _update(
        connection,
        session_id,
        f"UPDATE cowork_sessions SET model_name = ? WHERE id = ? AND {FENCED}",  # noqa: S608
        storable(model),
        session_id,
        epoch,
        session_id,
        epoch,
    )


def update_state(connection: sqlite3.Connection, session_id: str, state: dict[str, Any], epoch: int | None) -> None:
    """Keep the session's state. Raises UnknownSession or LeaseLost."""
    _update(
        connection,
        session_id,
        f"UPDATE session_texts SET session_state = ? WHERE session_id = ? AND {FENCED}",  # noqa: S608
        storable(json.dumps(state, ensure_ascii=False, separators=(",", ":"))),
        session_id,
        epoch,
        session_id,
        epoch,
    )


def _update(connection: sqlite3.Connection, session_id: str, statement: str, *values: str | int | None) -> None:
    if connection.execute(statement, values).rowcount == 0:
        require(connection, session_id)
        raise LeaseLost


def require(connection: sqlite3.Connection, session_id: str) -> None:
    """Raises UnknownSession unless there is such a session, whole."""
    row = connection.execute("SELECT reference FROM cowork_sessions WHERE id = ?", (session_id,)).fetchone()
    if row is None or is_unfinished(row[0]):
        raise UnknownSession(f"There is no session {session_id} in the archive.")
    if is_half_purged(row[0]):
        raise UnknownSession(f"Session {known_reference(row[0])} is being purged: nobody sees it any more.")


def _title(title: str) -> str:
    return storable(" ".join(title.split())[:MAX_TITLE])
