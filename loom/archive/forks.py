"""Copies of sessions, made and taken away in parts, so that whoever else writes waits for one part only.

Until it is whole a fork is hidden, and has a reference that nobody can type; a lease says who is making it. One that
nobody is making any more was cut off (kill -9, a power cut): nobody has seen it, and all of it is in the session that
it is a copy of. It is taken away by the next store that is opened, and by a purge of that session.
"""

from __future__ import annotations

import asyncio
import sqlite3
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from loom.archive import clock
from loom.archive.access import Access
from loom.archive.errors import ArchiveError, LeaseHeld, UnknownSession, UnknownTurn
from loom.archive.hops import detached, unbroken
from loom.archive.leases import Leases
from loom.archive.references import UNFINISHED, free_reference, unfinished_reference
from loom.archive.sessions import get_session, insert_session
from loom.archive.transactions import transaction
from loom.archive.workspaces import Workspace

if TYPE_CHECKING:
    from loom.archive.search.forgetting import TakenApart

PART_TURNS = 300
PART_BYTES = 1_000_000
"""A part that is copied ends at either limit, but has one turn: 10 to 20 ms in which nobody else writes."""

TAKEN_AT_ONCE = 100
"""Turns that are taken away at once. Each is taken out of the index as well, which is ten times the work."""

_COPIED = (
    "turn_number, exchange, role, kind, status, content, tool_calls, tool_call_id, tool_name, token_count, "
    "part_json, message_meta, usage, cost_usd, append_key, created_at, digest"
)

_SIZE = " + ".join(
    # As bytes: SQLite counts the characters of a text up to its first NUL only.
    f"coalesce(length(CAST({column} AS BLOB)), 0)"
    for column in ("content", "tool_calls", "part_json", "message_meta")
)
_END_OF_PART = f"""
SELECT max(turn_number) FROM (
    SELECT turn_number, sum(size) OVER (ORDER BY turn_number) - size AS before FROM (
        SELECT turn_number, {_SIZE} AS size FROM conversation_turns
        WHERE session_id = ? AND turn_number > ? AND turn_number <= ? ORDER BY turn_number LIMIT ?
    )
) WHERE before < ?
"""  # noqa: S608 - constant names


@dataclass(frozen=True, slots=True)
class _Fork:
    """A copy that is being made."""

    id: str
    source: str
    last: int
    """The last turn that it will have."""
    state: str | None
    """What is copied with the whole session only: an earlier state is made of the turns again."""


class Forks:
    """Makes forks through a store's connections, and takes away what was left of those that were cut off."""

    def __init__(self, access: Access, leases: Leases, made: Callable[[], None]) -> None:
        """`made` is called, on the event loop, when a fork is whole: there are turns to index."""
        self._access = access
        self._made = made
        self._leases = leases
        self._making: set[asyncio.Task[str]] = set()
        self.tidying: asyncio.Task[None] | None = None
        """Takes away what was left, since the store was opened."""

    async def make(self, session_id: str, turn_number: int | None) -> str:
        """See `ConversationStore.fork_session`."""
        making = asyncio.ensure_future(self._make(session_id, turn_number))
        self._making.add(making)
        making.add_done_callback(self._making.discard)
        return await unbroken(making)

    def take_away_left(self) -> None:
        """Begin to take away what killed processes left: leases, and forks that were cut off. Returns at once."""
        self.tidying = detached(self._take_away_left())

    async def end(self) -> None:
        """Wait for the forks that are being made. What is being taken away goes on at the next start."""
        if self._making:
            await asyncio.wait(self._making)
        if self.tidying is not None:
            self.tidying.cancel()
            await asyncio.wait({self.tidying})

    async def _make(self, session_id: str, turn_number: int | None) -> str:
        fork = await self._access.write(lambda c: _begin(c, self._leases, session_id, turn_number))
        try:
            copied = 0
            while copied < fork.last:
                end = await self._access.read(partial(_end_of_part, fork=fork, after=copied))
                copied = await self._access.write(partial(_copy, fork=fork, after=copied, end=end))
            await self._access.write(partial(_finish, fork=fork), then=lambda _: self._made())
        except ArchiveError:
            # What cannot be taken away now is at the next start.
            with suppress(ArchiveError):
                await self._take_away(fork.id)
            raise
        finally:
            with suppress(ArchiveError):
                await self._let_go(fork.id)
        return fork.id

    def _claim(self, connection: sqlite3.Connection, session_id: str) -> bool:
        """Take the lease of a fork that was cut off; false for one that this store is making. Asked in the connection's
        thread: whoever began it there has the lease by now. Raises LeaseHeld, as another one may be making it."""
        if self._leases.epoch(session_id) is not None:
            return False
        self._leases.acquire(connection, session_id, take_over=False)
        return True

    async def _let_go(self, session_id: str) -> None:
        await self._access.write(lambda _: self._leases.release(session_id))

    async def _take_away_left(self) -> None:
        left: list[str] = []
        # What cannot be done now is at another start: nobody waits for it.
        with suppress(OSError):
            await asyncio.to_thread(self._leases.remove_left)
        with suppress(ArchiveError):
            left = await self._access.read(unfinished)
        for session_id in left:
            with suppress(ArchiveError):
                if not await self._access.write(partial(self._claim, session_id=session_id)):
                    continue
                try:
                    await self._take_away(session_id)
                finally:
                    await self._let_go(session_id)

    async def _take_away(self, session_id: str) -> None:
        kept: int | None = await self._access.read(lambda c: _turn_count(c, session_id))
        while kept is not None:
            after = max(0, kept - TAKEN_AT_ONCE)
            known = await self._access.read(partial(_apart, session_id=session_id, after=after))
            kept = await self._access.write(partial(_take_some, session_id=session_id, after=after, known=known))


def unfinished(connection: sqlite3.Connection, source: str | None = None) -> list[str]:
    """The ids of the forks that are not whole: those that are being made, and those that were cut off. With `source`
    only the copies of that session."""
    condition = UNFINISHED if source is None else f"{UNFINISHED} AND parent_id = ?"
    values = () if source is None else (source,)
    rows = connection.execute(f"SELECT id FROM cowork_sessions WHERE {condition}", values)  # noqa: S608
    return [row[0] for row in rows]


def take_away(connection: sqlite3.Connection, session_id: str) -> None:
    """Take away a fork that is not whole. Blocking; for whoever has its lease, or the file for itself. Raises
    sqlite3.Error."""
    kept = _turn_count(connection, session_id)
    while kept is not None:
        after = max(0, kept - TAKEN_AT_ONCE)
        kept = _take_some(connection, session_id, after, _apart(connection, session_id, after))


def take_away_left(connection: sqlite3.Connection, leases: Leases, source: str) -> None:
    """Take away the forks of a session that were cut off; those that are being made stay. Raises sqlite3.Error or
    OSError."""
    for session_id in unfinished(connection, source):
        with suppress(LeaseHeld):
            leases.acquire(connection, session_id, take_over=False)
            try:
                take_away(connection, session_id)
            finally:
                leases.release(session_id)


def _begin(connection: sqlite3.Connection, leases: Leases, session_id: str, turn_number: int | None) -> _Fork:
    """In one turn, so that nobody finds the fork without its lease. Raises UnknownSession or UnknownTurn."""
    with transaction(connection):
        source = get_session(connection, session_id)
        if source is None:
            raise _gone(session_id)
        last = source.turn_count if turn_number is None else turn_number
        if not 0 <= last <= source.turn_count:
            raise UnknownTurn(f"Session {source.reference} has no turn T{last}.", f"It ends at T{source.turn_count}.")
        copy = str(uuid.uuid4())
        insert_session(
            connection,
            copy,
            Workspace(source.workspace_path, source.workspace_commit),
            source.model_name,
            source.system_prompt,
            unfinished_reference(copy),
            source.title,
            session_id,
            last,
        )
        connection.execute("UPDATE cowork_sessions SET is_active = 0 WHERE id = ?", (copy,))
    leases.acquire(connection, copy, take_over=False)
    return _Fork(copy, session_id, last, source.session_state if last == source.turn_count else None)


def _end_of_part(connection: sqlite3.Connection, fork: _Fork, after: int) -> int:
    """The last turn of the part behind turn `after`. Raises UnknownSession when the source is gone."""
    (end,) = connection.execute(_END_OF_PART, (fork.source, after, fork.last, PART_TURNS, PART_BYTES)).fetchone()
    if end is None:
        raise _gone(fork.source)
    return int(end)


def _copy(connection: sqlite3.Connection, fork: _Fork, after: int, end: int) -> int:
    """Copy the turns behind `after` up to and with `end`; gives the latter. Raises UnknownSession when the source was
    purged meanwhile."""
    with transaction(connection):
        copied = connection.execute(
            f"INSERT INTO conversation_turns (id, session_id, {_COPIED})"  # noqa: S608 - constant names
            f" SELECT (SELECT id FROM next_turn) + turn_number - ? - 1, ?, {_COPIED}"
            " FROM conversation_turns WHERE session_id = ? AND turn_number > ? AND turn_number <= ?"
            " ORDER BY turn_number",
            (after, fork.id, fork.source, after, end),
        ).rowcount
        if copied != end - after:
            raise _gone(fork.source)
    return end


def _finish(connection: sqlite3.Connection, fork: _Fork) -> None:
    """From here on it is a session like any other. Raises UnknownSession when the source was purged meanwhile: what is
    purged must not come back."""
    with transaction(connection):
        shown = connection.execute(
            "UPDATE cowork_sessions SET reference = ?, is_active = 1, last_active_at = max(last_active_at, ?)"
            " WHERE id = ? AND parent_id = ?",
            (free_reference(connection), clock.now(), fork.id, fork.source),
        ).rowcount
        if not shown:
            raise _gone(fork.source)
        if fork.state is not None:
            connection.execute("UPDATE session_texts SET session_state = ? WHERE session_id = ?", (fork.state, fork.id))


def _turn_count(connection: sqlite3.Connection, session_id: str) -> int | None:
    row = connection.execute("SELECT turn_count FROM cowork_sessions WHERE id = ?", (session_id,)).fetchone()
    return None if row is None else int(row[0])


def _apart(connection: sqlite3.Connection, session_id: str, after: int) -> list[TakenApart]:
    """What the index has of the turns behind `after`: before the write, for which others wait."""
    from loom.archive.search.forgetting import take_apart

    return list(take_apart(connection, session_id, after))


def _take_some(connection: sqlite3.Connection, session_id: str, after: int, known: Sequence[TakenApart]) -> int | None:
    """Delete the turns behind `after`, and with the last of them the session; gives how many it has left, or None when
    it is gone."""
    from loom.archive.search.forgetting import forget_end

    with transaction(connection):
        forget_end(connection, session_id, after, known)
        connection.execute("INSERT INTO purging (session_id) VALUES (?)", (session_id,))
        connection.execute(
            "DELETE FROM conversation_turns WHERE session_id = ? AND turn_number > ?", (session_id, after)
        )
        connection.execute("DELETE FROM purging WHERE session_id = ?", (session_id,))
        if after:
            connection.execute("UPDATE cowork_sessions SET turn_count = ? WHERE id = ?", (after, session_id))
            return after
        # Its other rows go with it.
        connection.execute("DELETE FROM cowork_sessions WHERE id = ?", (session_id,))
    return None


def _gone(session_id: str) -> UnknownSession:
    return UnknownSession(f"There is no session {session_id} in the archive.")
