"""Copies of sessions, made in parts, so that whoever else writes waits for one part only.

Until it is whole a fork is hidden, and has a reference that nobody can type; a lease says who is making it. One that
nobody is making any more was cut off (kill -9, a power cut): nobody has seen it, and all of it is in the session that
it is a copy of. It is taken away by the next store that is opened, and by a purge of that session.
"""

from __future__ import annotations

import asyncio
import sqlite3
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from loom.archive import clock
from loom.archive.access import Access
from loom.archive.errors import ArchiveError, UnknownSession, UnknownTurn
from loom.archive.hops import unbroken
from loom.archive.leases import Leases
from loom.archive.leftovers import take_away_meanwhile
from loom.archive.records import NewSession
from loom.archive.references import first_choice, unfinished_reference
from loom.archive.removal import take_row
from loom.archive.rows import TURN_BYTES
from loom.archive.sessions import adopt_session, get_session, insert_session, require
from loom.archive.transactions import transaction
from loom.archive.workspaces import Workspace

PART_TURNS = 300
PART_BYTES = 1_000_000
"""A part that is copied ends at either limit, but has one turn: 10 to 20 ms in which nobody else writes."""

_COPIED = (
    "turn_number, exchange, role, kind, status, content, tool_calls, tool_call_id, tool_name, token_count, "
    "part_json, message_meta, usage, cost_usd, append_key, created_at, digest"
)

_END_OF_PART = f"""
SELECT max(turn_number) FROM (
    SELECT turn_number, sum(size) OVER (ORDER BY turn_number) - size AS before FROM (
        SELECT turn_number, {TURN_BYTES} AS size FROM conversation_turns
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
    reference: str = ""
    """What it was known by before, taken if it is free."""


class _Exists(ArchiveError):
    """There is a session of this id."""


class Forks:
    """Makes forks through a store's connections."""

    def __init__(self, access: Access, leases: Leases, made: Callable[[], None]) -> None:
        """`made` is called, on the event loop, when a fork is whole: there are turns to index."""
        self._access = access
        self._made = made
        self._leases = leases
        self._making: set[asyncio.Task[str]] = set()

    async def make(self, session_id: str, turn_number: int | None) -> str:
        """See `ConversationStore.fork_session`."""
        return await self._carry(lambda connection: _begin(connection, self._leases, session_id, turn_number))

    async def make_again(self, session: NewSession) -> bool:
        """Make the fork that lost its end, under its own id, up to and with `session.copied`; whether it did: not where
        there is one of its id, even a half. Without the session that it was a copy of, it begins behind them.
        Raises an ArchiveError."""
        try:
            await self._carry(lambda connection: _begin_again(connection, self._leases, session))
        except _Exists:
            return False
        except UnknownSession:
            return await self._access.write(lambda connection: adopt_session(connection, session))
        return True

    async def _carry(self, begin: Callable[[sqlite3.Connection], _Fork]) -> str:
        making = asyncio.ensure_future(self._make(begin))
        self._making.add(making)
        making.add_done_callback(self._making.discard)
        return await unbroken(making)

    async def end(self) -> None:
        """Wait for the forks that are being made."""
        if self._making:
            await asyncio.wait(self._making)

    async def _make(self, begin: Callable[[sqlite3.Connection], _Fork]) -> str:
        fork = await self._access.write(begin)
        try:
            copied = 0
            while copied < fork.last:
                end = await self._access.read(partial(_end_of_part, fork=fork, after=copied))
                copied = await self._access.write(partial(_copy, fork=fork, after=copied, end=end))
            await self._access.write(partial(_finish, fork=fork), then=lambda _: self._made())
        except ArchiveError:
            # What cannot be taken away now is at the next start.
            with suppress(ArchiveError):
                await take_away_meanwhile(self._access, fork.id)
                await self._access.write(partial(take_row, session_id=fork.id))
            raise
        finally:
            with suppress(ArchiveError):
                await self._access.write(lambda _: self._leases.release(fork.id))
        return fork.id


def _begin(connection: sqlite3.Connection, leases: Leases, session_id: str, turn_number: int | None) -> _Fork:
    """In one turn, so that nobody finds the fork without its lease. Raises UnknownSession or UnknownTurn."""
    with transaction(connection):
        require(connection, session_id)
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


def _begin_again(connection: sqlite3.Connection, leases: Leases, session: NewSession) -> _Fork:
    """As `_begin`, of one that was whole before. Raises _Exists, or UnknownSession when its source is gone."""
    source = None if session.parent_id is None else get_session(connection, session.parent_id)
    if source is None:
        raise _gone(str(session.parent_id))
    if not adopt_session(connection, session, unfinished=True):
        raise _Exists(f"There is a session {session.id} in the archive.")
    leases.acquire(connection, session.id, take_over=False)
    return _Fork(session.id, source.id, min(session.copied, source.turn_count), None, session.reference)


def _end_of_part(connection: sqlite3.Connection, fork: _Fork, after: int) -> int:
    """The last turn of the part behind turn `after`. Raises UnknownSession when the source is gone."""
    (end,) = connection.execute(_END_OF_PART, (fork.source, after, fork.last, PART_TURNS, PART_BYTES)).fetchone()
    if end is None:
        raise _gone(fork.source)
    return int(end)


def _copy(connection: sqlite3.Connection, fork: _Fork, after: int, end: int) -> int:
    """Copy the turns behind `after` up to and with `end`; gives the latter. Raises UnknownSession when the source was
    purged meanwhile, or the first of it."""
    with transaction(connection):
        require(connection, fork.source)
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
        require(connection, fork.source)
        connection.execute(
            "UPDATE cowork_sessions SET reference = ?, is_active = 1, last_active_at = max(last_active_at, ?)"
            " WHERE id = ?",
            (first_choice(connection, fork.reference), clock.now(), fork.id),
        )
        if fork.state is not None:
            connection.execute("UPDATE session_texts SET session_state = ? WHERE session_id = ?", (fork.state, fork.id))


def _gone(session_id: str) -> UnknownSession:
    return UnknownSession(f"There is no session {session_id} in the archive.")
