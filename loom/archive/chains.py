"""Follows the digest chain of every session: finds the turns whose text is not what was stored, and gaps."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from loom.archive.digests import DIGESTED, GENESIS, digest

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and of how much (0: unknown)."""

REPORT_EVERY = 2_000
"""Turns between two calls of a Progress."""

_TURNS = f"SELECT session_id, digest, {', '.join(DIGESTED)} FROM conversation_turns"  # noqa: S608

_TOKENS = DIGESTED.index("token_count")


@dataclass(slots=True)
class Chain:
    """What following one session's turns found."""

    last_turn: int = 0
    turns: int = 0
    digest: str = GENESIS
    exchange: int = 0
    """The greatest one."""
    tokens: int = 0
    begins: list[tuple[int, int, int]] = field(default_factory=list)
    """Of each exchange: its number, its first turn, and the tokens of all turns before it."""
    altered: list[int] = field(default_factory=list)
    """Turns whose columns do not give their digest, ascending: the first is where the text was changed."""
    out_of_place: list[int] = field(default_factory=list)
    """Turns whose number does not follow the one before."""

    def add(self, stored: str, columns: tuple[Any, ...]) -> None:
        """The next turn: its digest, and its DIGESTED columns."""
        number, exchange = columns[:2]
        if number != self.last_turn + 1:
            self.out_of_place.append(number)
        if not holds(self.digest, stored, columns):
            self.altered.append(number)
        # On with what was stored: each turn is judged by itself, not by an error before it.
        self.digest, self.last_turn = stored, number
        if not self.turns or exchange > self.exchange:
            self.begins.append((exchange, number, self.tokens))
            self.exchange = exchange
        self.tokens += columns[_TOKENS]
        self.turns += 1


def follow_chains(connection: sqlite3.Connection, progress: Progress) -> dict[str, Chain]:
    """The chain of every session that has turns. Raises sqlite3.Error where the file cannot be read.

    Turns are read in the order in which they were stored, which is the order of the file; a session's are ascending
    in it. The connection must give text that is no UTF-8 with surrogates (`lenient`).
    """
    (total,) = connection.execute("SELECT count(*) FROM conversation_turns").fetchone()
    chains: dict[str, Chain] = {}
    for place, row in enumerate(connection.execute(f"{_TURNS} ORDER BY id"), 1):
        chains.setdefault(row[0], Chain()).add(row[1], row[2:])
        if place % REPORT_EVERY == 0:
            progress("following the digest chains", place, total)
    return chains


def follow_chain(connection: sqlite3.Connection, session_id: str) -> Chain:
    """The chain of one session; for the rest as `follow_chains`."""
    chain = Chain()
    for row in connection.execute(f"{_TURNS} WHERE session_id = ? ORDER BY turn_number", (session_id,)):
        chain.add(row[1], row[2:])
    return chain


def holds(previous: str, stored: str, columns: tuple[str | int | float | None, ...]) -> bool:
    """Whether a turn with these DIGESTED columns, after one with digest `previous`, has the digest `stored`."""
    try:
        return digest(previous, columns) == stored
    except UnicodeEncodeError:
        # Bytes that are no UTF-8 were never stored by loom.
        return False


def lenient(data: bytes) -> str:
    """A `text_factory` that reads any bytes: those that are no UTF-8 become lone surrogates."""
    return data.decode("utf-8", "surrogateescape")
