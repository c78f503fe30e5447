"""What a person does to the window: empty it, put a summary in its place. The archive only grows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from loom.archive import NewTurn
from loom.cowork.record import SessionRecord
from loom.cowork.recorder import Recorder

if TYPE_CHECKING:
    # 0.9 s and more: imported in the thread that builds the agent.
    from loom.cowork.engine import Engine


class WindowMoves:
    """Each move is a turn, stored before the window changes. Call them while no exchange runs."""

    def __init__(self, record: SessionRecord, recorder: Recorder, measure: Callable[[], None]) -> None:
        """`measure` reads the gauge again."""
        self._record = record
        self._recorder = recorder
        self._measure = measure

    async def clear(self, engine: Engine) -> None:
        """Empty the window. Every turn stays in the archive, found by recall and search."""
        await self._begin_after(engine, engine.cleared_turn(self._record.require().turn_count))

    async def compact(self, engine: Engine, focus: str) -> None:
        """Put a summary that the model writes in the place of what the window holds. Raises LoomError if it cannot."""
        await self._begin_after(engine, await engine.summary_turn(focus, self._record.require().turn_count))

    async def _begin_after(self, engine: Engine, turn: NewTurn) -> None:
        """Store the turn that moves the window's beginning."""
        engine.take(await self._recorder.store([turn]))
        await self._record.refresh()
        self._measure()
