"""One conversation, from the picker to the last turn: what a front end holds and talks to."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loom.archive import LeaseLost, NewTurn, Turn
from loom.archive.records import Session, TurnKind
from loom.context.edges import Ranges
from loom.context.usage import WindowUsage
from loom.cowork.approvals import Approvals
from loom.cowork.beside import Beside, Refreshed, changed_words
from loom.cowork.contents import WindowContents, usage_words
from loom.cowork.elsewhere import Lookout, follow, watch_lease
from loom.cowork.events import (
    ApprovalAsked,
    Decision,
    Event,
    ExchangeEnded,
    ExchangeStarted,
    Listener,
    Notice,
    Outcome,
    SaveFailed,
    SessionOpened,
    StateChanged,
    TakenOver,
    ToolFinished,
    TurnStored,
    UsageChanged,
)
from loom.cowork.outbox import Outbox
from loom.cowork.pinning import ModelPins, PinBoard
from loom.cowork.recall_source import ArchiveRecall
from loom.cowork.record import SessionRecord
from loom.cowork.recorder import NotSaved, Recorder
from loom.cowork.window_moves import WindowMoves
from loom.cowork.workbench import Workbench
from loom.errors import LoomError
from loom.models.choice import ModelChoice
from loom.state import SessionState
from loom.state.model import Pin
from loom.tools.mentions import Mentions
from loom.tools.offloop import in_thread
from loom.tools.paths import Workspace
from loom.tools.permissions import Permissions
from loom.tools.toolbox import build_toolbox

if TYPE_CHECKING:
    # 0.9 s and more: imported in the thread that builds the agent.
    from loom.cowork.engine import Engine


class ReadOnly(LoomError):
    """Something was to be written to a session that is only being read."""


class LostSession(LoomError):
    """Something was to be written to a session that another loom has taken over."""


class CoworkSession:
    """A session that may not exist yet: it is created in the archive with the first message.

    Every method belongs to the event loop's thread. What happens is told to `listener`, in order.
    """

    def __init__(
        self,
        workbench: Workbench,
        workspace: Path,
        choice: ModelChoice,
        *,
        listener: Listener,
        trust_project: bool = False,
    ) -> None:
        """`trust_project` lets the model read the project's instructions without the person having been asked."""
        self._bench = workbench
        self._store = workbench.store
        self._tell = listener
        self._record = SessionRecord(workbench, workspace)
        self.choice = choice
        self.usage: WindowUsage | None = None
        self.read_only = False
        self.taken = False
        """Another loom took the session over: nothing can be stored here any more."""
        self.problem: LoomError | None = None
        """Why no message can be sent (a model that cannot be used); None when all is well."""
        self._permissions = Permissions()
        self._approvals = Approvals(self._listener)
        self._outbox = Outbox(self._listener)
        self._recorder = Recorder(workbench.store, workbench.spool, self._listener, self._lose)
        self._moves = WindowMoves(workbench.store, self._record, self._recorder, self._listener, self._measure)
        self._board = PinBoard(self._store, self._recorder, self._record, lambda: self._engine, self._pins_changed)
        self.beside = Beside(
            workspace, workbench.locations, workbench.counter.count, self._beside_changed, trusted=trust_project
        )
        """Memory and project instructions: what a person reads, answers and edits of them."""
        self._toolbox = build_toolbox(
            workspace,
            workbench.settings,
            ArchiveRecall(self._store, str(workspace), lambda: self.session, self.state_yaml),
            workbench.counter.count,
            pins=ModelPins(self._board),
            memory=self.beside.memory_file,
            window=lambda: usage_words(self.usage),
            forbidden=workbench.forbidden,
        )
        self._mentions = Mentions(Workspace(workspace, workbench.forbidden))
        self._engine: Engine | None = None
        self._preparing: asyncio.Task[None] | None = None
        self._running: asyncio.Task[None] | None = None
        self._closing = False
        self._leased = False
        self._lookout: Lookout | None = None
        self._moving: asyncio.Task[None] | None = None
        self._held = False  # a message waits until somebody tries again
        self._unanswered: Turn | None = None  # a stored prompt whose exchange waits for a retry

    def _listener(self, event: Event) -> None:
        if isinstance(event, UsageChanged):
            self.usage = event.usage
        elif isinstance(event, TurnStored):
            # In the order in which they were stored: a pin may come in the middle of an exchange.
            self._record.advance([event.turn])
        try:
            self._tell(event)
        except Exception as error:  # noqa: BLE001 - a front end that cannot draw must not cost the exchange a turn
            self._bench.log_fault(error)

    @property
    def session(self) -> Session | None:
        """The session as it is in the archive; None before the first message."""
        return self._record.detail

    @property
    def session_id(self) -> str | None:
        return self._record.id

    @property
    def state(self) -> SessionState:
        return self._record.state

    @property
    def busy(self) -> bool:
        """Whether an exchange runs."""
        return self._running is not None and not self._running.done()

    @property
    def waiting(self) -> tuple[str, ...]:
        return self._outbox.waiting

    @property
    def sending(self) -> str:
        """The message that was sent and is on no disk yet; empty when there is none."""
        return self._outbox.sending

    @property
    def pending(self) -> tuple[ApprovalAsked, ...]:
        return self._approvals.pending

    # Opening and preparing

    async def resume(self, session_id: str) -> None:
        """Go on with a session of the archive: its state, totals, window and transcript, as they were.

        Raises LeaseHeld when another loom has it open, UnknownSession when it is gone.
        """
        self._recorder.session_id = session_id
        await self._acquire(session_id)
        recovered = await self._store.recover_draft(session_id)
        await self._restore_spooled()
        await self._open(session_id)
        if recovered:
            self._listener(
                Notice("warning", "The last answer was cut off; what had arrived of it is marked interrupted.")
            )

    async def _restore_spooled(self) -> None:
        try:
            restored = await self._recorder.restore()
        except (NotSaved, OSError):
            return  # announced by the recorder, and still in the spool
        if restored:
            self._listener(
                Notice("information", f"{restored} turns that could not be saved last time are in the archive now.")
            )

    async def read(self, session_id: str) -> None:
        """Open a session to read it only: nothing is written, no lease is taken. What another loom writes is told as
        it comes."""
        self.read_only = True
        await self._open(session_id)
        self._lookout = follow(self._store, self._record.require(), self._follow)
        self._lookout.start()

    async def _follow(self, turns: list[Turn]) -> None:
        for turn in turns:
            self._listener(TurnStored(turn))
            if turn.kind is TurnKind.TOOL_RESULT:
                self._listener(ToolFinished(turn.tool_call_id or "", turn, turn.facts.get("duration_ms", 0)))
        await self._record.refresh()
        self._listener(StateChanged(self.state))
        if self._engine is not None and self.session_id is not None:
            await self._load(self._engine, self.session_id)
            self._measure()

    async def _acquire(self, session_id: str) -> None:
        """Become the session's one writer, and learn it when that ends. Raises LeaseHeld or another ArchiveError."""
        await self._store.acquire_lease(session_id)
        self._leased = True
        self._lookout = watch_lease(self._store, session_id, self._lose)
        self._lookout.start()

    def _lose(self) -> None:
        """Another loom took the session over: what runs is stopped, what waits is not sent."""
        if self.taken:
            return
        self.taken = self._recorder.taken = True
        self._listener(TakenOver())
        self.interrupt()

    async def _open(self, session_id: str) -> None:
        detail = await self._record.open(session_id)
        self._listener(SessionOpened(detail.id, detail.reference, detail.title))
        self._listener(StateChanged(self.state))
        if self._engine is not None:
            await self._load(self._engine, session_id)
            self._measure()

    async def _load(self, engine: Engine, session_id: str) -> None:
        """Fill the window from the archive, with what is pinned."""
        await engine.load(session_id)
        await self._board.show(engine)

    async def prepare(self) -> None:
        """Build the agent (a second or so, in a thread) and load the window. Messages submitted meanwhile wait.

        Never raises: what is wrong with the model is in `problem`, and a Notice says it.
        """
        if self._preparing is None:
            self._preparing = asyncio.ensure_future(self._prepare())
        await asyncio.shield(self._preparing)

    async def _prepare(self) -> None:
        try:
            engine, refreshed = await asyncio.gather(asyncio.to_thread(self._build_engine), self.beside.refresh())
            await engine.learn_scale()
            changed = self._take_beside(engine, refreshed)
            if self.session_id is not None:
                await self._load(engine, self.session_id)
        except LoomError as error:
            self.problem = error
            self._listener(Notice("error", str(error)))
            return
        self._engine = engine
        self.choice = engine.choice
        if self.choice.note:
            self._listener(Notice("information", self.choice.note))
        if changed:
            self._listener(Notice("information", changed_words(changed)))
        self._measure()
        self._start_next()

    def _take_beside(self, engine: Engine, refreshed: Refreshed) -> tuple[str, ...]:
        """Let the engine send memory and project instructions as they are now; which of the project's files
        changed."""
        for problem in refreshed.problems:
            self._listener(Notice("warning", str(problem)))
        engine.set_beside(self.beside)
        return refreshed.changed

    def _build_engine(self) -> Engine:
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
            lambda: self.state,
        )

    async def set_model(self, name: str) -> None:
        """Answer with another model from the next message on.

        Raises ModelUnavailable in words, and keeps the old one; BusyError while an exchange runs.
        """
        from loom.models.choosing import choose_model

        if self.busy:
            raise LoomError("An exchange is running.", "Interrupt it with Esc, then change the model.")
        self.choice = await asyncio.to_thread(choose_model, name, self._bench.settings)
        if self._engine is not None and self._engine.provider_count is not None:
            await self._engine.provider_count.stop()
        self._engine, self._preparing, self.problem = None, None, None
        if self.session_id is not None and not self.read_only and not self.taken:
            await self._store.update_model(self.session_id, self.choice.name)
        await self.prepare()

    # Talking

    def submit(self, text: str) -> None:
        """Start an exchange with this message, or let it wait while one runs or the agent is being built."""
        if self.read_only:
            self._listener(Notice("warning", "This session is open to read only. Fork it to go on from here."))
            return
        if text.strip():
            self._outbox.put(text)
            self._held = False
            self._start_next()

    def take_back(self) -> str | None:
        """Take the newest waiting message out of the queue, to edit it."""
        return self._outbox.take_back()

    def interrupt(self) -> bool:
        """Stop the running exchange; False when none runs. What has arrived is kept."""
        if not self.busy or self._running is None or self._engine is None:
            return False
        if self._running is self._moving:
            self._running.cancel()
        else:
            self._engine.cancel()
        return True

    def answer(self, call_id: str, decision: Decision) -> None:
        """Answer an approval that waits; a withdrawn one is ignored."""
        self._approvals.answer(call_id, decision)

    def _start_next(self) -> None:
        if self.busy or self._closing or self.taken or self._held or self._engine is None or self._recorder.unsaved:
            return
        text = self._outbox.next()
        if text is not None:
            self._engine.begin()
            self._running = asyncio.ensure_future(self._run(text))
            self._running.add_done_callback(self._after_run)

    def _after_run(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            # A fault of our own. The exchange is over, the program is not.
            self._bench.log_fault(error)
            self._held = self._outbox.put_back() or self._held
            self._listener(Notice("error", f"loom made a mistake: {type(error).__name__}: {error}"))
            self._listener(ExchangeEnded(0, Outcome.FAILED, "The exchange was stopped by a fault in loom."))
        self._start_next()

    async def _run(self, text: str) -> None:
        engine = self._engine
        if engine is None:
            raise RuntimeError("an exchange cannot start before the agent is built")
        try:
            prompt_turn = await self._store_prompt(text)
        except NotSaved as error:
            if self.taken:
                # It is the person's again, to be said somewhere else.
                self._outbox.put_back()
                self._recorder.unsaved.clear()
            self._outbox.sent()  # the recorder has it, and the spool
            self._listener(ExchangeEnded(0, Outcome.FAILED, str(error)))
            return
        except LoomError as error:
            # The session itself could not be made: the message waits where it was, until somebody tries again.
            self._held = True
            self._outbox.put_back()
            self._listener(SaveFailed(error.what, error.todo))
            self._listener(ExchangeEnded(0, Outcome.FAILED, str(error)))
            return
        await self._answer(engine, prompt_turn)

    async def _answer(self, engine: Engine, prompt: Turn) -> None:
        self._listener(ExchangeStarted(prompt.exchange))
        # The state that goes with the exchange knows its prompt: a constraint holds from the answer to it on.
        self._listener(StateChanged(self.state))
        try:
            if not await self._is_ready(engine, prompt):
                return
            result = await engine.run(prompt, self.state_yaml(), self.session)
        except asyncio.CancelledError:
            self._listener(ExchangeEnded(prompt.exchange, Outcome.INTERRUPTED))
            raise
        await self._settle_state()
        self._measure()
        if self.taken:
            self._listener(ExchangeEnded(prompt.exchange, Outcome.FAILED, str(LeaseLost())))
            return
        self._listener(ExchangeEnded(prompt.exchange, result.outcome, result.error))

    async def _is_ready(self, engine: Engine, prompt: Turn) -> bool:
        """Whether the prompt can be answered now; else it waits for a retry."""
        try:
            await self._look_around(engine)
        except NotSaved as error:
            self._unanswered = prompt
            self._listener(ExchangeEnded(prompt.exchange, Outcome.FAILED, str(error)))
            return False
        return True

    async def _look_around(self, engine: Engine) -> None:
        """Let the exchange begin with the memory, the project's instructions and the pins as they are now. Raises
        NotSaved: with something unsaved nothing is sent."""
        changed = self._take_beside(engine, await self.beside.refresh())
        if changed:
            note = NewTurn(role="system", kind=TurnKind.NOTE, content=changed_words(changed))
            await self._recorder.store([note])
        try:
            await self._board.show(engine)
        except LoomError as error:
            self._listener(Notice("warning", f"Not every pin could be read: {error}"))

    async def _store_prompt(self, text: str) -> Turn:
        from loom.cowork.engine import prompt_turns

        if self.session is None:
            await self._create()
        if "@" in text:
            text = await asyncio.to_thread(self._mentions.with_files, text)
        stored = await self._recorder.store(prompt_turns(text, self._bench.counter.count))
        self._outbox.sent()
        await self._record.refresh()
        return stored[0]

    async def _create(self) -> None:
        detail = await self._record.create(self.choice.name)
        await self._acquire(detail.id)
        self._recorder.session_id = detail.id
        self._listener(SessionOpened(detail.id, detail.reference, detail.title))

    async def _settle_state(self) -> None:
        try:
            await self._record.refresh()
            await self._record.save_state()
        except LoomError as error:
            # The state is rebuilt from the turns at the next start: nothing is lost by this.
            if not self.taken:
                self._listener(Notice("warning", str(error)))
        self._listener(StateChanged(self.state))

    def _measure(self) -> None:
        engine = self._engine
        if engine is None:
            return
        self._read_gauge()
        if engine.provider_count is not None:
            engine.provider_count.ask(self._read_gauge)

    def _read_gauge(self) -> None:
        if self._engine is not None:
            self._listener(UsageChanged(self._engine.usage(self.state_yaml(), self.session)))

    async def retry_save(self) -> None:
        """Write what could not be written, and go on where it stopped."""
        self._held = False
        try:
            stored = await self._recorder.retry()
        except NotSaved:
            return  # announced by the recorder, and still kept
        if not stored:
            self._start_next()
            return
        self._listener(Notice("information", f"Saved: {len(stored)} turns."))
        await self._settle_state()
        prompt = self._unanswered or (stored[-1] if stored[-1].role == "user" else None)
        if prompt is not None and self._engine is not None and not self.busy:
            self._unanswered = None
            self._engine.begin()
            self._running = asyncio.ensure_future(self._answer(self._engine, prompt))
            self._running.add_done_callback(self._after_run)
            return
        if self._engine is not None and self.session_id is not None:
            await self._load(self._engine, self.session_id)
            self._measure()
        self._start_next()

    async def paths(self) -> list[str]:
        """The files of the workspace that a message may name with an @."""
        stop = threading.Event()
        return await in_thread(lambda: self._mentions.paths(stop), stop)

    # Looking back

    async def transcript(self, before: int | None = None, limit: int = 100) -> list[Turn]:
        """The newest `limit` turns before turn `before` (of all if None), ascending."""
        return await self._record.transcript(before, limit)

    async def window_contents(self) -> WindowContents:
        """What the window holds now, exchange by exchange, and what moved its beginning."""
        exchanges = self._engine.exchanges() if self._engine is not None else ()
        marks = await self._store.get_window_marks(self.session_id) if self.session_id is not None else []
        return WindowContents(exchanges, tuple(marks), self._engine.outlook() if self._engine is not None else None)

    def state_yaml(self) -> str:
        """The state as the model sees it."""
        return self._record.yaml(self.choice.name)

    # Changing what the window holds; the archive only grows

    async def clear(self) -> None:
        """Empty the window. Every turn stays in the archive, found by recall and search."""
        await self._move(self._moves.clear(self._idle_engine()))

    async def compact(self, focus: str = "") -> None:
        """Put a summary that the model writes in the place of what the window holds. Raises LoomError if it cannot."""
        await self._move(self._moves.compact(self._idle_engine(), focus))

    async def uncompact(self) -> None:
        """Restore the window as it was before the last compaction; several in a row go back step by step. Raises
        LoomError when there is none."""
        await self._move(self._moves.uncompact(self._idle_engine()))

    async def unclear(self) -> None:
        """Restore the window as it was before it was last cleared. Raises LoomError when it was not."""
        await self._move(self._moves.unclear(self._idle_engine()))

    async def bring_back(self, ranges: Ranges) -> None:
        """Put the exchanges of these turns, which left, into the window again until the budget pushes them out. Raises
        LoomError, which says how many tokens are missing, when they do not fit."""
        await self._move(self._moves.bring_back(self._idle_engine(), ranges))

    async def _move(self, move: Coroutine[Any, Any, None]) -> None:
        """Change the window while no exchange runs; messages wait meanwhile, `interrupt` stops it."""
        moving = self._running = self._moving = asyncio.ensure_future(move)
        await asyncio.wait([moving])
        self._start_next()
        if moving.cancelled():
            raise LoomError("That was stopped.", "The window stays as it was.")
        moving.result()

    def _require_writing(self) -> None:
        if self.read_only:
            raise ReadOnly("This session is open to read only.", "Fork it to go on from here.")
        if self.taken:
            raise LostSession("Another loom has this session now.", "Fork it to go on from here, or take it back.")

    def _idle_engine(self) -> Engine:
        self._require_writing()
        if self.busy:
            raise LoomError("An exchange is running.", "Wait for it, or interrupt it with Esc.")
        if self._engine is None:
            raise self.problem or LoomError("The model is still being made ready.", "Try again in a moment.")
        return self._engine

    # What stays in the window whatever leaves it

    async def pin_turn(self, turn_number: int) -> Pin:
        """Keep this turn in the window. Raises NothingSaid, CannotPin, ReadOnly, NotSaved or an ArchiveError."""
        self._require_writing()
        return await self._board.pin_turn(turn_number)

    async def pin_text(self, text: str) -> Pin:
        """Keep these words in the window. Raises what `pin_turn` does."""
        self._require_writing()
        return await self._board.pin_text(text)

    async def unpin(self, pin: Pin) -> None:
        """Let it leave the window again. Raises what `pin_turn` does."""
        self._require_writing()
        await self._board.unpin(pin)

    def _pins_changed(self) -> None:
        self._listener(StateChanged(self.state))
        if not self.busy:
            # While an exchange runs, its own readings go on: the state that it was sent does not change.
            self._measure()

    def _beside_changed(self) -> None:
        if self._engine is not None and not self.busy:
            # While an exchange runs, what it was sent stands; the next one begins with what there is then.
            self._engine.set_beside(self.beside)
            self._measure()

    # The session as a thing

    async def rename(self, title: str) -> None:
        """Give the session a title. Raises NothingSaid before the first message, and ReadOnly."""
        self._require_writing()
        await self._record.rename(title)

    async def fork(self, turn_number: int | None = None) -> str:
        """A new session with the turns up to `turn_number` (all if None): its id. This one stays as it is."""
        return await self._store.fork_session(self._record.require().id, turn_number)

    async def fork_here(self) -> str:
        """A new session with every turn that was stored here, and what could not be stored any more: its id. For a
        session that was taken over; what the other loom wrote since is not in it. Raises an ArchiveError."""
        forked = await self._store.fork_session(self._record.require().id, self.state.last_turn or None)
        await self._recorder.move(forked)
        return forked

    async def export(self, path: str = "") -> Path:
        """Write the session to a file, see `SessionRecord.export`; where it is."""
        return await self._record.export(path)

    async def close(self) -> None:
        """Interrupt what runs, store what there is of it, give the session up."""
        self._closing = True
        if self._lookout is not None:
            await self._lookout.stop()
        if self._preparing is not None:
            await asyncio.shield(self._preparing)
        if self._running is not None and not self._running.done():
            self.interrupt()
            await asyncio.wait([self._running])
        if self._engine is not None and self._engine.provider_count is not None:
            await self._engine.provider_count.stop()
        if self.session_id is not None and self._leased:
            self._leased = False
            await self._store.release_lease(self.session_id)
