"""What a person does to the window: empty it, put a summary in its place, go back in it, take that back, bring turns
back.

The archive only grows: each of these is a turn, stored before the window changes, and the same after a resume.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from loom.archive import ArchiveError, ConversationStore, NewTurn, Turn
from loom.archive.records import TurnKind
from loom.archive.rewound import is_rewound
from loom.context.edges import (
    Beginning,
    Edges,
    Move,
    before_move,
    brought_back_meta,
    cited,
    cleared_meta,
    move_of,
    ranges_of,
    restored_meta,
)
from loom.cowork.events import Listener, Notice, StateChanged
from loom.cowork.record import SessionRecord
from loom.cowork.recorder import Recorder
from loom.cowork.rewinding import find_cut
from loom.cowork.typed import Typed
from loom.errors import LoomError
from loom.turn_numbers import Ranges

if TYPE_CHECKING:
    # 0.9 s and more: imported in the thread that builds the agent.
    from loom.cowork.engine import Engine

_STAYS = (
    "Nothing leaves because of that: the gauge's mark stands at the full window until so much is new that something "
    "would leave anyway."
)
"""What `loom.context.restored` does, for a person who sees the mark move."""


class NothingToTakeBack(LoomError):
    """The window was never cleared, compacted or rewound, or all of that was taken back already."""


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
        await self._take_back(engine, "compaction", "Nothing was compacted that could be taken back.")

    async def unclear(self, engine: Engine) -> None:
        """Restore the window as it was before it was last cleared. Raises NothingToTakeBack."""
        await self._take_back(engine, "clearing", "The window was not cleared.")

    async def rewind(self, engine: Engine, turn_number: int | None) -> Typed | None:
        """Let the model see the session as it was before the exchange of this turn (the newest that it still sees, if
        None); what the person typed to begin it. Raises CannotRewind."""
        session_id = self._record.require().id
        cut = await find_cut(self._store, session_id, turn_number, engine.window.beginning)
        await self._change(engine, _note(cut.words, cut.meta), reload=True)
        return cut.typed

    async def unrewind(self, engine: Engine) -> None:
        """Restore the window as it was before the last rewinding. Raises NothingToTakeBack."""
        await self._take_back(engine, "rewinding", "Nothing was rewound past that could be put back.")

    async def bring_back(self, engine: Engine, ranges: Ranges) -> None:
        """Put the exchanges of these turns, which left, into the window again, whole, until the budget pushes them
        out. Raises NoRoom, which says how many tokens are missing."""
        edges = engine.window.beginning.edges
        rows = [
            turn
            for number in await self._exchanges(ranges)
            if number not in edges.back
            for turn in await self._left(number, edges)
        ]
        if not rows and any(is_rewound(first, edges.rewound) for first, _ in ranges):
            raise LoomError(f"{cited(ranges)}: that was rewound past.", "/unrewind puts it back.")
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

    async def _left(self, exchange: int, edges: Edges) -> list[Turn]:
        """The rows of an exchange that is not whole in the window; empty if it is, or if it was rewound past."""
        rows = await self._store.get_exchanges(self._record.require().id, exchange, exchange)
        first = rows[0].turn_number if rows else 0
        return rows if 0 < first <= edges.left_to and not is_rewound(first, edges.rewound) else []

    async def _take_back(self, engine: Engine, wanted: Move, otherwise: str) -> None:
        undone = await self._moves_through(engine, wanted)
        if not undone:
            raise NothingToTakeBack(otherwise)
        names = " and ".join(f"the {move_of(turn)} of T{turn.turn_number}" for turn in undone)
        was = "was" if len(undone) == 1 else "were"
        words = f"{names[0].upper()}{names[1:]} {was} taken back: the window holds again what it held before. {_STAYS}"
        await self._change(engine, _note(words, restored_meta(undone[-1])), reload=True)
        before = before_move(undone[-1]) or Beginning()
        if engine.window.left_to > before.edges.left_to:
            gone = cited([(before.edges.left_to + 1, engine.window.left_to)])
            self._listener(
                Notice("warning", f"What no longer fits stays out of the window: {gone}. It is in the archive.")
            )

    async def _moves_through(self, engine: Engine, wanted: Move) -> list[Turn]:
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
            if move_of(move) == wanted:
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
        # Whatever becomes of the reading below: what was stored holds in the window.
        engine.window.add(await self._recorder.store([turn]))
        if reload:
            # What comes back is not in memory any more.
            await engine.load(self._record.require().id)
        before = self._record.state.rewound
        await self._record.refresh()
        if self._record.state.rewound != before:
            self._listener(StateChanged(self._record.state))
            await self._keep_state()
        self._measure()

    async def _keep_state(self) -> None:
        """Made again of thousands of turns, it took seconds: whoever opens the session next is not to wait as long."""
        try:
            await self._record.save_state()
        except ArchiveError as error:
            # Nothing is lost by this: the turns have it.
            self._listener(Notice("warning", str(error)))


def _note(words: str, meta: str) -> NewTurn:
    return NewTurn(role="system", kind=TurnKind.NOTE, content=words, message_meta=meta)
