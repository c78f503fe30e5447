"""What a person does to the window: empty it, put a summary in its place, take that back, bring turns back.

The archive only grows: each of these is a turn, stored before the window changes, and the same after a resume.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from loom.archive import ConversationStore, NewTurn, Turn
from loom.archive.records import TurnKind
from loom.context.edges import (
    Beginning,
    Ranges,
    before_move,
    brought_back_meta,
    cited,
    cleared_meta,
    ranges_of,
    restored_meta,
)
from loom.cowork.events import Listener, Notice
from loom.cowork.record import SessionRecord
from loom.cowork.recorder import Recorder
from loom.errors import LoomError

if TYPE_CHECKING:
    # 0.9 s and more: imported in the thread that builds the agent.
    from loom.cowork.engine import Engine

_STAYS = (
    "Nothing leaves because of that: the gauge's mark stands at the full window until so much is new that something "
    "would leave anyway."
)
"""What `loom.context.restored` does, for a person who sees the mark move."""

_NAMES = {TurnKind.SUMMARY: "the compaction", TurnKind.NOTE: "the clearing"}


class NothingToTakeBack(LoomError):
    """The window was never cleared, or compacted, or all of that was taken back already."""


class NoRoom(LoomError):
    """Turns that should come back do not fit into the window."""


class WindowMoves:
    """Call them while no exchange runs. Each may be cancelled as long as it has not stored its turn."""

    def __init__(
        self,
        store: ConversationStore,
        record: SessionRecord,
        recorder: Recorder,
        listener: Listener,
        measure: Callable[[], None],
    ) -> None:
        """`measure` reads the gauge again."""
        self._store = store
        self._record = record
        self._recorder = recorder
        self._listener = listener
        self._measure = measure

    async def clear(self, engine: Engine) -> None:
        """Empty the window. Every turn stays in the archive, found by recall and search."""
        last = self._record.require().turn_count
        if not engine.window.turns and not engine.window.summary:
            raise LoomError("The window is empty already.")
        words = "The window was cleared. Every turn is kept in the archive; /unclear puts them back."
        await self._change(engine, _note(words, cleared_meta(engine.window.beginning, last)))

    async def compact(self, engine: Engine, focus: str) -> None:
        """Put a summary that the model writes in the place of what the window holds. Raises LoomError if it cannot."""
        turn = await engine.summariser.turn(engine.window, self._record.require().turn_count, focus)
        await self._change(engine, turn)

    async def uncompact(self, engine: Engine) -> None:
        """Restore the window as it was before the last compaction. Raises NothingToTakeBack."""
        await self._take_back(engine, TurnKind.SUMMARY, "Nothing was compacted that could be taken back.")

    async def unclear(self, engine: Engine) -> None:
        """Restore the window as it was before it was last cleared. Raises NothingToTakeBack."""
        await self._take_back(engine, TurnKind.NOTE, "The window was not cleared.")

    async def bring_back(self, engine: Engine, ranges: Ranges) -> None:
        """Put the exchanges of these turns, which left, into the window again, whole, until the budget pushes them
        out. Raises NoRoom, which says how many tokens are missing."""
        edges = engine.window.beginning.edges
        rows = [
            turn
            for number in await self._exchanges(ranges)
            if number not in edges.back
            for turn in await self._left(number, edges.left_to)
        ]
        if not rows:
            raise LoomError(f"{cited(ranges)}: all of that is in the window already.")
        spans = cited(ranges_of(row.turn_number for row in rows))
        needed, missing = engine.window.missing_for(rows)
        if missing:
            raise NoRoom(
                f"{spans} would take about {needed:,} tokens: {missing:,} more than there is room for.",
                "/compact or /clear makes room. A single turn can be viewed, and the model can recall it.",
            )
        meta = brought_back_meta(engine.window.beginning, (row.exchange for row in rows))
        await self._change(engine, _note(f"In the window again: {spans}. {_STAYS}", meta), reload=True)

    async def _exchanges(self, ranges: Ranges) -> list[int]:
        """The exchanges that these turns belong to, ascending."""
        session_id = self._record.require().id
        numbers: set[int] = set()
        for first, last in ranges:
            ends = [await self._store.get_turn(session_id, number) for number in (first, last)]
            found = [turn.exchange for turn in ends if turn is not None]
            numbers |= set(range(min(found), max(found) + 1)) if found else set()
        return sorted(numbers)

    async def _left(self, exchange: int, left_to: int) -> list[Turn]:
        """The rows of an exchange that is not whole in the window; empty if it is."""
        rows = await self._store.get_exchanges(self._record.require().id, exchange, exchange)
        return rows if rows and rows[0].turn_number <= left_to else []

    async def _take_back(self, engine: Engine, kind: TurnKind, otherwise: str) -> None:
        undone = await self._moves_through(engine, kind)
        if not undone:
            raise NothingToTakeBack(otherwise)
        names = " and ".join(f"{_NAMES[turn.kind]} of T{turn.turn_number}" for turn in undone)
        was = "was" if len(undone) == 1 else "were"
        words = f"{names[0].upper()}{names[1:]} {was} taken back: the window holds again what it held before. {_STAYS}"
        await self._change(engine, _note(words, restored_meta(undone[-1])), reload=True)
        before = before_move(undone[-1]) or Beginning()
        if engine.window.left_to > before.edges.left_to:
            gone = cited([(before.edges.left_to + 1, engine.window.left_to)])
            self._listener(
                Notice("warning", f"What no longer fits stays out of the window: {gone}. It is in the archive.")
            )

    async def _moves_through(self, engine: Engine, kind: TurnKind) -> list[Turn]:
        """The moves that have to be taken back to take back the newest one of this kind, newest first; empty if there
        is none of it."""
        session_id = self._record.require().id
        moves: list[Turn] = []
        number = engine.window.beginning.move
        while number:
            move = await self._store.get_turn(session_id, number)
            before = before_move(move) if move is not None else None
            if move is None or before is None or before.move >= number:
                return []
            moves.append(move)
            if move.kind is kind:
                return moves
            number = before.move
        return []

    async def _change(self, engine: Engine, turn: NewTurn, *, reload: bool = False) -> None:
        """Store the turn that moves the window, and move it. An interruption comes too late from here on."""
        changing = asyncio.ensure_future(self._store_and_move(engine, turn, reload=reload))
        while not changing.done():
            try:
                await asyncio.shield(changing)
            except asyncio.CancelledError:
                if changing.cancelled():
                    raise
        changing.result()

    async def _store_and_move(self, engine: Engine, turn: NewTurn, *, reload: bool) -> None:
        stored = await self._recorder.store([turn])
        if reload:
            # What comes back is not in memory any more.
            await engine.load(self._record.require().id)
        else:
            engine.window.add(stored)
        await self._record.refresh()
        self._measure()


def _note(words: str, meta: str) -> NewTurn:
    return NewTurn(role="system", kind=TurnKind.NOTE, content=words, message_meta=meta)
