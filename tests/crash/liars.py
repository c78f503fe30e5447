"""Archives that are wrong on purpose: each loses turns in its own way, and the harness must see it.

Named on the command line of `tests.crash.writer`; nothing of this is in the product.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence

from loom.archive import ConversationStore, NewTurn, Turn, database
from loom.archive.appends import Appended, Appender


class HonestStore(ConversationStore):
    """The product."""


class AcknowledgesFirst(ConversationStore):
    """Says that turns are stored when it is about to store them."""

    def __init__(self) -> None:
        super().__init__()
        self._later: list[tuple[str, Sequence[NewTurn]]] = []
        self._numbers: dict[str, int] = {}
        self._task: asyncio.Task[None] | None = None

    async def append_turns(self, session_id: str, turns: Sequence[NewTurn]) -> list[Turn]:
        if session_id not in self._numbers:
            self._numbers[session_id] = await self.get_turn_count(session_id)
        self._later.append((session_id, turns))
        if len(self._later) >= self._patience:
            waiting, self._later = self._later, []
            self._task = asyncio.create_task(self._write(waiting))
        return [self._promise(session_id, turn) for turn in turns]

    _patience = 1

    async def _write(self, waiting: list[tuple[str, Sequence[NewTurn]]]) -> None:
        for session_id, turns in waiting:
            await super().append_turns(session_id, turns)

    def _promise(self, session_id: str, turn: NewTurn) -> Turn:
        self._numbers[session_id] += 1
        return Turn(
            session_id=session_id,
            turn_number=self._numbers[session_id],
            exchange=0,
            role=turn.role,
            kind=turn.kind,
            status=turn.status,
            content=turn.content,
            tool_calls=None,
            tool_call_id=None,
            tool_name=None,
            token_count=0,
            part_json=None,
            message_meta=None,
            usage=None,
            cost_usd=None,
            created_at="",
            digest="",
        )


class Batches(AcknowledgesFirst):
    """Gathers appends and stores a few at once."""

    _patience = 10


class _Splitting(Appender):
    """One statement a turn, each for itself, in place of all of them or none."""

    def append(
        self, connection: sqlite3.Connection, session_id: str, turns: Sequence[NewTurn], epoch: int | None
    ) -> Appended:
        done = [super(_Splitting, self).append(connection, session_id, [turn], epoch) for turn in turns]
        return Appended([row for one in done for row in one.rows], done[-1].last_row)


class SplitsTransactions(ConversationStore):
    """Stores the turns of one append one by one: a kill leaves the half of them."""

    def __init__(self) -> None:
        super().__init__()
        self._appender = _Splitting()


class Normal(ConversationStore):
    """Does not wait for the disk (`synchronous=NORMAL`)."""

    async def initialize(self, path: object, *, readonly: bool = False) -> None:
        settings = database._SETTINGS
        database._SETTINGS = tuple(
            ("synchronous", "NORMAL", 1) if name == "synchronous" else (name, wanted, expected)
            for name, wanted, expected in settings
        )
        await super().initialize(str(path), readonly=readonly)


STORES: dict[str, Callable[[], ConversationStore]] = {
    "honest": HonestStore,
    "acknowledges-first": AcknowledgesFirst,
    "batches": Batches,
    "splits": SplitsTransactions,
    "normal": Normal,
}
