"""Appending: one statement, in autocommit, that stores all of its turns or none."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from loom.archive.digests import DIGESTED, GENESIS
from loom.archive.errors import LeaseLost, UnknownSession
from loom.archive.records import NewTurn, Turn
from loom.archive.references import WHOLE
from loom.archive.rows import Column, StorableTurn, storable_turn, turn_from_row
from loom.archive.stranded import KEY
from loom.archive.transactions import transaction

MAX_ROWS = 250
"""Rows in one statement. More go in several, inside one transaction."""

_MAX_HEADS = 1_000

_GREATEST_AND_ONE = "NULL"
"""The id of a row as SQLite gives it, which asks for nothing but the last row. Behind a purge of the newest turns it
was in use once, and a trigger refuses it."""
_NEVER_USED = "(SELECT id FROM next_turn)"

_REFUSALS = (
    sqlite3.SQLITE_CONSTRAINT_UNIQUE,
    sqlite3.SQLITE_CONSTRAINT_NOTNULL,
    sqlite3.SQLITE_CONSTRAINT_TRIGGER,
)

_COLUMNS = ("session_id", *DIGESTED, "append_key", "digest")


class Head(NamedTuple):
    """Where a session ends: what the next turn is chained to."""

    turn_count: int
    exchange: int
    digest: str
    epoch: int


class Appended(NamedTuple):
    """What an append stored."""

    rows: list[tuple[Column, ...]]
    """_COLUMNS of each turn that was given, in order; those whose key was there already are the stored ones."""
    last_row: int | None
    """The greatest row id that was written; None if all turns were there already."""

    @property
    def first_number(self) -> int:
        """The number of the first of at least one."""
        return _number(self.rows[0], "turn_number")

    @property
    def turns(self) -> list[Turn]:
        """What the rows say. Made when it is asked for: nobody else need wait for it to write."""
        return [turn_from_row((*row[:-2], row[-1])) for row in self.rows]


class Appender:
    """Appends through one connection, and remembers where each session ended.

    What it remembers is a guess that every statement checks: a session that somebody else wrote to meanwhile has
    another turn count, the statement stores nothing, and the append starts over from what is true. To be used from
    one thread at a time.
    """

    def __init__(self) -> None:
        self._heads: dict[str, Head] = {}

    def append(
        self, connection: sqlite3.Connection, session_id: str, turns: Sequence[NewTurn], epoch: int | None
    ) -> Appended:
        """Store the turns, durable on return; with an epoch, only if the session still has it.

        Raises UnknownSession, LeaseLost or sqlite3.Error: then nothing was stored, and the session's end as it was.
        """
        ready = [storable_turn(turn) for turn in turns]
        if not ready:
            return Appended([], None)
        head = self._heads.get(session_id)
        if head is not None and len(ready) <= MAX_ROWS:
            placed, end = _place(session_id, ready, head, _exchange_of(ready, head))
            try:
                last_row = _insert(connection, placed, head.turn_count, epoch, _GREATEST_AND_ONE)
            except sqlite3.IntegrityError as error:
                # Another end than the one remembered, a key that is there already, or an id that was in use. Anything
                # else that a constraint refuses fails below as well.
                if error.sqlite_errorcode not in _REFUSALS:
                    raise
            else:
                self._remember(session_id, end)
                return Appended(placed, last_row)
        return self._append_from_truth(connection, session_id, ready, epoch)

    def _append_from_truth(
        self, connection: sqlite3.Connection, session_id: str, ready: list[StorableTurn], epoch: int | None
    ) -> Appended:
        self._heads.pop(session_id, None)
        with transaction(connection):
            head = read_head(connection, session_id)
            if head is None:
                raise UnknownSession(f"There is no session {session_id} in the archive.")
            if epoch is not None and head.epoch != epoch:
                raise LeaseLost
            known = _find_known(connection, session_id, ready)
            new = _without(ready, known)
            # What belongs to an append that was stored in part belongs to the same exchange.
            exchange = (
                max(head.exchange, *(_number(row, "exchange") for row in known.values()))
                if known
                else _exchange_of(new, head)
            )
            placed, end = _place(session_id, new, head, exchange)
            last_row, count = None, head.turn_count
            for start in range(0, len(placed), MAX_ROWS):
                part = placed[start : start + MAX_ROWS]
                last_row = _insert(connection, part, count, epoch, _NEVER_USED)
                count += len(part)
        self._remember(session_id, end)
        stored = {**known, **{key: row for row in placed if isinstance(key := row[-2], str)}}
        fresh = iter([row for row in placed if row[-2] is None])
        rows = [next(fresh) if t.append_key is None else stored[t.append_key] for t in ready]
        return Appended(rows, last_row)

    def _remember(self, session_id: str, head: Head) -> None:
        if len(self._heads) >= _MAX_HEADS:
            self._heads.clear()
        self._heads[session_id] = head


def read_head(connection: sqlite3.Connection, session_id: str) -> Head | None:
    """Where the session ends now; None if there is no such session, or one that is being purged."""
    row = connection.execute(
        "SELECT turn_count, exchange_count, coalesce(digest, ?), lease_epoch FROM cowork_sessions"  # noqa: S608
        " LEFT JOIN conversation_turns ON session_id = cowork_sessions.id AND turn_number = turn_count"
        f" WHERE cowork_sessions.id = ? AND {WHOLE}",
        (GENESIS, session_id),
    ).fetchone()
    return None if row is None else Head(*row)


def _exchange_of(turns: Sequence[StorableTurn], head: Head) -> int:
    """An append that starts with a person's turn starts an exchange; all of its turns belong to it."""
    return head.exchange + 1 if turns and turns[0].role == "user" else head.exchange


def _place(
    session_id: str, turns: Iterable[StorableTurn], head: Head, exchange: int
) -> tuple[list[tuple[Column, ...]], Head]:
    rows: list[tuple[Column, ...]] = []
    number, chained = head.turn_count, head.digest
    for turn in turns:
        number += 1
        row, chained = turn.placed(session_id, number, exchange, chained)
        rows.append(row)
    return rows, Head(number, exchange if rows else head.exchange, chained, head.epoch)


def _insert(
    connection: sqlite3.Connection,
    rows: Sequence[Sequence[Column]],
    turn_count: int,
    epoch: int | None,
    first_id: str,
) -> int | None:
    """Store the rows, all of one session, the first one with the id that `first_id` (SQL) says; gives the greatest id.

    Raises sqlite3.IntegrityError: SQLITE_CONSTRAINT_NOTNULL unless the session has so many turns (and this epoch),
    SQLITE_CONSTRAINT_TRIGGER if an id was in use before.
    """
    session_id = rows[0][0]
    values = [session_id, turn_count, epoch, epoch, *rows[0][1:]]
    for row in rows[1:]:
        values += row
    return connection.execute(_statement(len(rows), first_id), values).lastrowid


@lru_cache(maxsize=2 * MAX_ROWS)
def _statement(count: int, first_id: str) -> str:
    # Values are bound one by one: SQLite's JSON functions would cut a text at its first NUL. What must hold stands in
    # the place of the first session's id, which may not be NULL: as a condition of an INSERT ... SELECT it would cost
    # each text a copy, and the statement half of its time again.
    session = "(SELECT id FROM cowork_sessions WHERE id = ? AND turn_count = ? AND (? IS NULL OR lease_epoch = ?))"
    marks = ", ".join("?" * (len(_COLUMNS) - 1))
    # Behind the first one SQLite counts on.
    rows = [f"({first_id}, {session}, {marks})", *[f"(NULL, ?, {marks})"] * (count - 1)]
    return f"INSERT INTO conversation_turns (id, {', '.join(_COLUMNS)}) VALUES {', '.join(rows)}"  # noqa: S608


def _find_known(
    connection: sqlite3.Connection, session_id: str, turns: Iterable[StorableTurn]
) -> dict[str, tuple[Column, ...]]:
    """The rows of those turns that are stored already, by key."""
    known: dict[str, tuple[Column, ...]] = {}
    for key in {turn.append_key for turn in turns if turn.append_key is not None}:
        row = connection.execute(
            f"SELECT {', '.join(_COLUMNS)} FROM conversation_turns"  # noqa: S608
            " WHERE session_id = ? AND append_key = ?",
            (session_id, key),
        ).fetchone()
        if row is None and key.startswith(KEY):
            row = _find_stranded(connection, session_id, key)
        if row is not None:
            known[key] = row
    return known


def _find_stranded(connection: sqlite3.Connection, session_id: str, key: str) -> Any:
    """The row of a turn that was read out of a lost log, if it was stored all the same: at its number, without key."""
    number, _, stored = key.removeprefix(KEY).partition("/")
    return connection.execute(
        f"SELECT {', '.join(_COLUMNS)} FROM conversation_turns"  # noqa: S608
        " WHERE session_id = ? AND turn_number = ? AND digest = ?",
        (session_id, int(number), stored),
    ).fetchone()


def _without(turns: Iterable[StorableTurn], known: dict[str, tuple[Column, ...]]) -> list[StorableTurn]:
    """The turns that are neither stored nor given twice."""
    seen = set(known)
    rest = []
    for turn in turns:
        if turn.append_key is not None:
            if turn.append_key in seen:
                continue
            seen.add(turn.append_key)
        rest.append(turn)
    return rest


def _number(row: Sequence[Any], column: str) -> int:
    return int(row[_COLUMNS.index(column)])
