"""Which model answers in a session: its engine, made ready in a thread, and what the gauge reads of its window."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from loom.archive import NewTurn
from loom.archive.records import TurnKind
from loom.cowork.approvals import Approvals
from loom.cowork.beside import Beside, Refreshed, changed_words
from loom.cowork.events import InstructionsUnasked, Listener, Notice, UsageChanged
from loom.cowork.pinning import PinBoard
from loom.cowork.record import SessionRecord
from loom.cowork.recorder import Recorder
from loom.cowork.workbench import Workbench
from loom.errors import LoomError
from loom.models.choice import ModelChoice
from loom.tools.permissions import Permissions
from loom.tools.toolbox import Toolbox

if TYPE_CHECKING:
    # 0.9 s and more: imported in the thread that builds the agent.
    from loom.cowork.engine import Engine


class Answering:
    """The engine of the chosen model over the session's window; there is none until `prepare` is through."""

    def __init__(
        self,
        bench: Workbench,
        choice: ModelChoice,
        record: SessionRecord,
        recorder: Recorder,
        board: PinBoard,
        beside: Beside,
        toolbox: Toolbox,
        approvals: Approvals,
        listener: Listener,
        ready: Callable[[], None],
    ) -> None:
        """`ready` is called each time an engine is there to answer."""
        self._bench = bench
        self._record = record
        self._recorder = recorder
        self._board = board
        self._beside = beside
        self._toolbox = toolbox
        self._permissions = Permissions()
        self._approvals = approvals
        self._listener = listener
        self._ready = ready
        self._preparing: asyncio.Task[None] | None = None
        self._unasked: dict[str, str] = {}
        """The project's instructions that were told of, as they were then."""
        self.choice = choice
        self.engine: Engine | None = None
        self.problem: LoomError | None = None
        """Why there is no engine (a model that cannot be used); None when all is well."""

    async def prepare(self) -> None:
        """Build the engine (a second or so, in a thread) and load the window. Once for each model; if another is chosen
        meanwhile, that one's is waited for.

        Never raises: what is wrong with the model is in `problem`, and a Notice says it.
        """
        if self._preparing is None:
            self._preparing = asyncio.ensure_future(self._prepare())
        await self.prepared()

    async def prepared(self) -> None:
        """Wait until no engine is being built."""
        awaited = None
        while self._preparing is not awaited:
            awaited = self._preparing
            if awaited is not None:
                await asyncio.shield(awaited)

    async def _prepare(self, before: Engine | None = None) -> None:
        """`before` is the engine whose place it takes."""
        mine = asyncio.current_task()
        try:
            await _stop_counting(before)
            engine = await self._make_ready()
        except LoomError as error:
            problem = error
        except Exception as error:  # noqa: BLE001 - without a model the session can still be read, and closed
            self._bench.log_fault(error)
            problem = LoomError(f"loom made a mistake with the model: {type(error).__name__}: {error}.")
        else:
            # If another model was chosen meanwhile: an exchange must not begin with this one and end without it.
            if self._preparing is mine:
                self._take(engine)
            return
        if self._preparing is mine:
            self.problem = problem
            self._listener(Notice("error", str(problem)))

    async def _make_ready(self) -> Engine:
        """An engine with memory and instructions as the files have them, and the window as the archive has it."""
        engine, refreshed = await asyncio.gather(asyncio.to_thread(self._build), self._beside.refresh())
        await engine.learn_scale()
        if changed := self._take_beside(engine, refreshed):
            self._listener(Notice("information", changed_words(changed)))
        if self._record.id is not None:
            await self._load(engine, self._record.id)
        return engine

    def _take(self, engine: Engine) -> None:
        self.engine = engine
        self.choice = engine.choice
        if self.choice.note:
            self._listener(Notice("information", self.choice.note))
        self.measure()
        self._ready()

    def _build(self) -> Engine:
        from loom.cowork.engine import build_engine

        return build_engine(
            self._bench,
            self.choice,
            self._record.instructions,
            self._toolbox,
            self._permissions,
            self._approvals,
            self._recorder,
            self._listener,
            lambda: self._record.state,
        )

    def _take_beside(self, engine: Engine, refreshed: Refreshed) -> tuple[str, ...]:
        """Let the engine send memory and project instructions as they are now, and tell of those that nobody was asked
        about; which of the project's files changed."""
        for problem in refreshed.problems:
            self._listener(Notice("warning", str(problem)))
        unasked = self._beside.project.digests if self._beside.standing == "unasked" else {}
        if unasked != self._unasked:
            self._unasked = unasked
            self._listener(InstructionsUnasked(tuple(unasked)))
        engine.set_beside(self._beside)
        return refreshed.changed

    async def _load(self, engine: Engine, session_id: str) -> None:
        """Fill the window from the archive, with what is pinned."""
        await engine.load(session_id)
        await self._board.show(engine)

    async def reload(self) -> None:
        """Fill the window from the archive anew, if there is an engine and a session."""
        if self.engine is not None and self._record.id is not None:
            await self._load(self.engine, self._record.id)
            self.measure()

    def change(self, choice: ModelChoice) -> None:
        """Answer with another model from now on; `prepared` waits for it. Call it while no exchange runs."""
        before, self.choice, self.engine, self.problem = self.engine, choice, None, None
        self._preparing = asyncio.ensure_future(self._prepare(before))

    async def look_around(self, engine: Engine) -> None:
        """Let the next exchange begin with the memory, the project's instructions and the pins as they are now. Raises
        NotSaved: with something unsaved nothing is sent."""
        changed = self._take_beside(engine, await self._beside.refresh())
        if changed:
            note = NewTurn(role="system", kind=TurnKind.NOTE, content=changed_words(changed))
            await self._recorder.store([note])
        try:
            await self._board.show(engine)
        except LoomError as error:
            self._listener(Notice("warning", f"Not every pin could be read: {error}"))

    def beside_changed(self) -> None:
        """The person has changed memory or trust: the gauge counts what goes beside the instructions now. Call it
        while no exchange runs."""
        if self.engine is not None:
            self.engine.set_beside(self._beside)
            self.measure()

    def sees(self, turn: int) -> bool:
        """Whether the model sees this turn; no tool asks while there is no engine."""
        return self.engine is not None and self.engine.window.holds(turn)

    @property
    def recall_room(self) -> int:
        """The most tokens that one recall may take in the window; no tool runs while there is no engine."""
        return self.engine.recall_room if self.engine is not None else 0

    def state_yaml(self) -> str:
        """The state as the model sees it."""
        return self._record.yaml(self.choice.name)

    def measure(self) -> None:
        """Read the gauge, and ask the provider to count as well where that is set."""
        if self.engine is None:
            return
        self._read_gauge()
        if self.engine.provider_count is not None:
            self.engine.provider_count.ask(self._read_gauge)

    def _read_gauge(self) -> None:
        if self.engine is not None:
            self._listener(UsageChanged(self.engine.usage(self.state_yaml(), self._record.detail)))

    async def close(self) -> None:
        """Give up a count that the provider is still asked for."""
        await _stop_counting(self.engine)


async def _stop_counting(engine: Engine | None) -> None:
    if engine is not None and engine.provider_count is not None:
        await engine.provider_count.stop()
