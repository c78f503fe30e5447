"""Sessions that are taken away in parts, from their ends, so that whoever else writes waits for one part only.

Each part is a transaction of its own, so a session that is taken away is hidden before the first of them: a fork that
is not whole from its beginning, one that is purged by the first thing that its purge does. Whoever takes it away has
its lease; one whose lease nobody has was cut off (kill -9, a power cut), and whoever comes next goes on.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from loom.archive.database import WRITING_PATIENCE, has_table
from loom.archive.errors import LeaseHeld, UnknownSession
from loom.archive.forgiving import forgiving
from loom.archive.leases import Leases
from loom.archive.references import HALF_PURGED, UNFINISHED, WHOLE
from loom.archive.rows import TURN_BYTES
from loom.archive.transactions import in_turn, transaction

if TYPE_CHECKING:
    from loom.archive.search.forgetting import TakenApart


@dataclass(frozen=True, slots=True)
class Share:
    """How much is taken away at once: it ends at either limit, but has one turn."""

    turns: int
    bytes: int
    names: int = 200
    """So many that no turn has any more are taken out of the index at once: some 0.1 ms each."""


SHORT = Share(turns=100, bytes=200_000)
"""Each turn is taken out of the index as well, which is ten times the work of copying it."""
LONG = Share(turns=5_000, bytes=20_000_000, names=100_000)
"""Where nobody waits."""

_FIRST_OF_END = f"""
SELECT min(turn_number) FROM (
    SELECT turn_number, sum(size) OVER (ORDER BY turn_number DESC) - size AS behind FROM (
        SELECT turn_number, {TURN_BYTES} AS size FROM conversation_turns
        WHERE session_id = ? ORDER BY turn_number DESC LIMIT ?
    )
) WHERE behind < ?
"""  # noqa: S608 - constant names

_EXCHANGES_BEHIND = """
DELETE FROM exchanges WHERE session_id = :id AND exchange > coalesce(
    (SELECT exchange FROM exchanges WHERE session_id = :id AND first_turn <= :after ORDER BY exchange DESC LIMIT 1), -1
)
"""


Step = Callable[[sqlite3.Connection], int]
"""A short transaction; gives how many turns it deleted. Raises sqlite3.Error."""


class Removal:
    """Of all that a session has, but for its own row."""

    def __init__(self, session_id: str, share: Share = SHORT) -> None:
        self._session_id = session_id
        self._share = share
        self._first_turns: dict[str, int] = {}  # where names are that were looked up already

    def next(self, connection: sqlite3.Connection) -> Sequence[Step]:
        """What is to be done next, found out before the writes, for which others wait; nothing when all is gone. Raises
        sqlite3.Error."""
        session_id, share = self._session_id, self._share
        (first,) = connection.execute(_FIRST_OF_END, (session_id, share.turns, share.bytes)).fetchone()
        if first is None:
            left = connection.execute("SELECT 1 FROM manifests WHERE session_id = ? LIMIT 1", (session_id,)).fetchone()
            return [] if left is None else [partial(_take_manifests, session_id=session_id)]
        from loom.archive.search.forgetting import last_names, take_apart

        known = forgiving(connection, lambda: list(take_apart(connection, session_id, first - 1)))
        # In no order: from pages that are emptied from one end SQLite moved cells more often (`purge._clean`).
        names = list(last_names(connection, session_id, known, self._first_turns))
        # Their turns go behind them: whoever goes on where this is cut off finds what is left to be done.
        some = (names[n : n + share.names] for n in range(0, len(names) - share.names, share.names))
        return [
            *(partial(_take_names, session_id=session_id, after=first - 1, names=few) for few in some),
            partial(_take_turns, session_id=session_id, after=first - 1, known=known, names=names),
        ]


def unfinished(connection: sqlite3.Connection, source: str | None = None) -> list[str]:
    """The ids of the forks that are not whole: those that are being made, and those that were cut off. With `source`
    only the copies of that session."""
    condition = UNFINISHED if source is None else f"{UNFINISHED} AND parent_id = ?"
    return _ids(connection, condition, () if source is None else (source,))


def half_purged(connection: sqlite3.Connection) -> list[str]:
    """The ids of the sessions whose purge has begun and is not done."""
    return _ids(connection, HALF_PURGED, ())


def take_away(
    connection: sqlite3.Connection,
    session_id: str,
    share: Share = SHORT,
    gone: Callable[[int], None] = lambda turns: None,
) -> None:
    """Take away what the session has, but for its own row. Blocking; for whoever has its lease, or the file for itself.
    Behind each step `gone` is called with how many turns it took. Raises sqlite3.Error."""
    removal = Removal(session_id, share)
    while steps := removal.next(connection):
        for step in steps:
            gone(step(connection))


def take_away_left(connection: sqlite3.Connection, leases: Leases, source: str) -> None:
    """Take away the forks of a session that were cut off; those that are being made stay. Raises sqlite3.Error or
    OSError."""
    for session_id in unfinished(connection, source):
        with suppress(LeaseHeld, UnknownSession):
            if not claim_half(connection, leases, session_id):
                continue
            try:
                take_away(connection, session_id)
                take_row(connection, session_id)
            finally:
                leases.release(session_id)


def claim_half(connection: sqlite3.Connection, leases: Leases, session_id: str) -> bool:
    """Take the lease of a session that was cut off; false for one that is whole: it was made so since it was looked up.
    Raises as `Leases.acquire` does."""
    with in_turn(connection, WRITING_PATIENCE):
        leases.acquire(connection, session_id, take_over=False)
        if _ids(connection, f"id = ? AND NOT ({WHOLE})", (session_id,)):
            return True
        leases.release(session_id)
    return False


def take_row(connection: sqlite3.Connection, session_id: str) -> None:
    """Delete the session itself, which has no turn any more. Raises sqlite3.Error."""
    from loom.archive.search.forgetting import forget_session

    with transaction(connection):
        forget_session(connection, session_id)
        # A fork stays, with nowhere to come from.
        connection.execute("UPDATE cowork_sessions SET parent_id = NULL WHERE parent_id = ?", (session_id,))
        # Whatever else there is of it goes with it.
        connection.execute("DELETE FROM cowork_sessions WHERE id = ?", (session_id,))


def _take_names(connection: sqlite3.Connection, session_id: str, after: int, names: Sequence[str]) -> int:
    from loom.archive.search.forgetting import forget_names

    with transaction(connection):
        forget_names(connection, session_id, after, names)
    return 0


def _take_turns(
    connection: sqlite3.Connection, session_id: str, after: int, known: Sequence[TakenApart], names: Sequence[str]
) -> int:
    from loom.archive.search.forgetting import forget_end

    with transaction(connection):
        forget_end(connection, session_id, after, known, names)
        connection.execute("INSERT OR IGNORE INTO purging (session_id) VALUES (?)", (session_id,))
        taken = connection.execute(
            "DELETE FROM conversation_turns WHERE session_id = ? AND turn_number > ?", (session_id, after)
        ).rowcount
        connection.execute("DELETE FROM purging WHERE session_id = ?", (session_id,))
        # A backup may be of a version before them.
        if has_table(connection, "exchanges"):
            connection.execute(_EXCHANGES_BEHIND, {"id": session_id, "after": after})
        connection.execute(
            "UPDATE cowork_sessions SET turn_count = min(turn_count, ?) WHERE id = ?", (after, session_id)
        )
    return taken


def _take_manifests(connection: sqlite3.Connection, session_id: str) -> int:
    with transaction(connection):
        connection.execute(
            "DELETE FROM manifests WHERE id IN (SELECT id FROM manifests WHERE session_id = ? LIMIT ?)",
            (session_id, SHORT.turns),
        )
    return 0


def _ids(connection: sqlite3.Connection, condition: str, values: Sequence[str]) -> list[str]:
    rows = connection.execute(f"SELECT id FROM cowork_sessions WHERE {condition}", values)  # noqa: S608
    return [row[0] for row in rows]
