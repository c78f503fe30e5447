"""The exchanges of a session, one after the other: a message waits, is stored, is answered (a command: is run), and the
next one's turn comes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from loom.archive import LeaseLost, Turn
from loom.archive.rewound import is_rewound
from loom.cowork.answering import Answering
from loom.cowork.elsewhere import Claim
from loom.cowork.events import (
    ExchangeEnded,
    ExchangeStarted,
    Listener,
    Notice,
    Outcome,
    SaveFailed,
    SessionOpened,
    StateChanged,
)
from loom.cowork.failures import failure_note
from loom.cowork.outbox import Outbox
from loom.cowork.person_command import PersonCommand
from loom.cowork.record import SessionRecord
from loom.cowork.recorder import NotSaved, Recorder
from loom.cowork.titling import Titling
from loom.cowork.typed import Typed
from loom.cowork.unanswered import MOST_PAGES, PAGE_TURNS, Unanswered, last_word, unanswered_in
from loom.errors import LoomError, Stopped
from loom.text import plural
from loom.tools.mentions import Mentions

if TYPE_CHECKING:
    # 0.9 s and more: imported in the thread that builds the agent.
    from loom.cowork.engine import Engine


Moved = TypeVar("Moved")


class Exchanges:
    """Runs one exchange, or one change of the window, at a time. The session is created with the first message."""

    def __init__(
        self,
        claim: Claim,
        record: SessionRecord,
        recorder: Recorder,
        answering: Answering,
        mentions: Mentions,
        titling: Titling,
        command: Callable[[str], PersonCommand],
        count: Callable[[str], int],
        log_fault: Callable[[BaseException], None],
        listener: Listener,
    ) -> None:
        """`command` makes a command of the person's ready to run."""
        self._claim = claim
        self._record = record
        self._recorder = recorder
        self._answering = answering
        self._mentions = mentions
        self._titling = titling
        self._make_command = command
        self._count = count
        self._log_fault = log_fault
        self._listener = listener
        self._outbox = Outbox(listener)
        self._running: asyncio.Task[Any] | None = None
        self._moving: asyncio.Task[Any] | None = None
        self._command: PersonCommand | None = None  # what runs is a command of the person's
        self._closing = False
        self._held = False  # a message waits until somebody tries again
        self._unasked: Turn | None = None  # a stored prompt whose exchange waits for a retry of what is not saved
        self._unanswered: Unanswered | None = None  # the newest turn, while nothing of an answer to it is stored

    @property
    def busy(self) -> bool:
        """Whether one runs, or the window is being changed."""
        return self._running is not None and not self._running.done()

    @property
    def waiting(self) -> tuple[str, ...]:
        """What waits for its exchange, oldest first, spelled as `loom.cowork.typed` has it."""
        return self._outbox.waiting

    @property
    def held(self) -> int:
        """How many of those, from the oldest on, are held until `send_held`."""
        return self._outbox.held

    @property
    def sending(self) -> str:
        """What was sent and is on no disk yet, spelled; empty when there is nothing."""
        return self._outbox.sending

    @property
    def unanswered(self) -> Turn | None:
        """The newest message or tool result, if it is stored and nothing came in answer to it; `ask_again` asks for
        that."""
        waits, engine = self._unanswered, self._answering.engine
        if waits is None or self.busy or (engine is not None and engine.window.left_to >= waits.turn.turn_number):
            return None
        return None if is_rewound(waits.turn.turn_number, self._record.state.rewound) else waits.turn

    def submit(self, typed: Typed) -> None:
        """Start an exchange with this, or let it wait while one runs or the agent is being built."""
        if typed.text.strip():
            self._outbox.put(typed)
            self._held = False
            self.start_next()

    def take_back(self) -> str | None:
        """Take the newest out of the queue, spelled, to edit it."""
        return self._outbox.take_back()

    def hold(self, typed: Sequence[Typed]) -> None:
        """Put this into the queue, behind what is held already."""
        self._outbox.put_held(typed)

    def send_held(self) -> None:
        """Let what is held since an interruption go, in its order."""
        if self._outbox.release():
            self._held = False
            self.start_next()

    def interrupt(self) -> bool:
        """Stop what runs; False when nothing does. What has arrived is kept, and what waits is held: it is not sent
        behind the back of whoever wanted to stop."""
        engine = self._answering.engine
        if not self.busy or self._running is None:
            return False
        self._outbox.hold()
        if self._running is self._moving:
            self._running.cancel()
        elif self._command is not None:
            self._command.stop()
        elif engine is not None:
            engine.cancel()
        return True

    def lose(self) -> None:
        """Another loom has the session: stop what runs; what waits is held for wherever the person goes on."""
        self._outbox.hold()
        self.interrupt()

    def start_next(self) -> None:
        """Begin with the oldest that waits, if nothing is in its way. Commands need no model."""
        engine = self._answering.engine
        if self.busy or self._closing or self._held or self._recorder.unsaved or self._claim.taken:
            return
        typed = self._outbox.next(messages=engine is not None, waits=self._answering.problem is None)
        if typed is None:
            return
        if typed.is_command:
            self._command = self._make_command(typed.text)
            self._start(self._run_command(self._command))
        elif engine is not None:
            self._start_answer(engine, self._run(engine, typed.text))

    def _start_answer(self, engine: Engine, exchange: Coroutine[Any, Any, None]) -> None:
        engine.begin()
        self._start(exchange)

    def _start(self, exchange: Coroutine[Any, Any, None]) -> None:
        self._running = asyncio.ensure_future(exchange)
        self._running.add_done_callback(self._after_run)

    def _after_run(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            # A fault of our own. The exchange is over, the program is not.
            self._log_fault(error)
            self._held = self._outbox.put_back() or self._held
            self._listener(Notice("error", f"loom made a mistake: {type(error).__name__}: {error}"))
            self._listener(ExchangeEnded(0, Outcome.FAILED, "The exchange was stopped by a fault in loom."))
        self.start_next()

    async def find_unanswered(self) -> None:
        """See whether the newest message or tool result of the session still has no answer."""
        turn = unanswered_in(await self._newest_turns())
        prompt = await self._record.prompt_of(turn) if turn is not None else None
        self._unanswered = Unanswered(turn, prompt) if turn is not None and prompt is not None else None

    async def _newest_turns(self) -> list[Turn]:
        """A page of them, ascending: the newest on which something was said."""
        page = await self._record.transcript(None, PAGE_TURNS)
        for _ in range(MOST_PAGES):
            if not page or last_word(page) is not None:
                break
            page = await self._record.transcript(page[0].turn_number, PAGE_TURNS)
        return page

    async def ask_again(self) -> None:
        """Ask for an answer to the newest message or tool result, which is stored and got none; nothing is stored or
        run again. Raises LoomError when there is no such turn, or nobody to answer."""
        await self._answering.prepared()
        if self.busy:
            raise LoomError("An exchange is running.", "Wait for it, or interrupt it with Esc.")
        waits, engine = self._unanswered, self._answering.engine
        if waits is None or self.unanswered is None:
            raise LoomError(
                "No message waits for an answer.",
                "To have another answer, or to go on with what was stopped, say so in a message.",
            )
        if engine is None or self._recorder.unsaved:
            raise self._answering.problem or LoomError("Something is not saved yet.", "Retry saving first.")
        self._start_answer(engine, self._answer(engine, waits.prompt, waits.turn))

    async def _run(self, engine: Engine, text: str) -> None:
        gives_title = await self._titling.make_room()
        prompt = await self._first_turn(lambda: self._store_prompt(text))
        if prompt is None:
            return
        if gives_title:
            self._titling.begin(prompt)
        await self._answer(engine, prompt)

    async def _run_command(self, command: PersonCommand) -> None:
        try:
            await self._ran(command)
        finally:
            if self._command is command:
                self._command = None

    async def _ran(self, command: PersonCommand) -> None:
        # An engine that is being built reads the window from the archive: it is to find all of this there, or nothing.
        await self._answering.prepare()
        engine = self._answering.engine
        asked = await self._first_turn(command.store)
        if asked is None:
            return
        await self._titling.lend()
        self._listener(ExchangeStarted(asked.exchange))
        try:
            turns, outcome = await command.run()
        except NotSaved as error:
            self._listener(ExchangeEnded(asked.exchange, Outcome.FAILED, str(error)))
            return
        if engine is not None and engine is self._answering.engine:
            engine.take([asked, *turns])
        else:
            await self._answering.reload()
        await self._settle_state()
        self._answering.measure()
        self._listener(ExchangeEnded(asked.exchange, outcome))

    async def _first_turn(self, store: Callable[[], Awaitable[Turn]]) -> Turn | None:
        """The turn that an exchange begins with, stored; None when it could not be, which is told."""
        self._unanswered = None  # the exchange that begins now is the newest
        try:
            if self._record.id is None:
                await self._create_session()
            turn = await store()
            self._outbox.sent()
            await self._record.refresh()
        except NotSaved as error:
            if self._claim.taken:
                # It is the person's again, to be said somewhere else, before what waited behind it.
                self._outbox.put_back(held=True)
                self._recorder.unsaved.clear()
            self._outbox.sent()  # the recorder has it, and the spool
            self._listener(ExchangeEnded(0, Outcome.FAILED, str(error)))
            return None
        except LoomError as error:
            # The session itself could not be made: what was typed waits where it was, until somebody tries again.
            self._held = True
            self._outbox.put_back()
            self._listener(SaveFailed(error.what, error.remedy))
            self._listener(ExchangeEnded(0, Outcome.FAILED, str(error)))
            return None
        return turn

    async def _store_prompt(self, text: str) -> Turn:
        from loom.cowork.engine import prompt_turns

        if "@" in text:
            text = await asyncio.to_thread(self._mentions.with_files, text)
        stored = await self._recorder.store(prompt_turns(text, self._count))
        if "@" in text and (alone := await asyncio.to_thread(self._mentions.without_a_file, text)):
            self._listener(Notice("information", alone))
        return stored[0]

    async def _create_session(self) -> None:
        detail = await self._record.create(self._answering.choice.name)
        await self._claim.acquire(detail.id)
        self._recorder.session_id = detail.id
        self._listener(SessionOpened(detail.id, detail.reference, detail.title))

    async def _answer(self, engine: Engine, prompt: Turn, newest: Turn | None = None) -> None:
        """Let the model go on from `newest`, the last turn of the prompt's exchange so far; None is the prompt."""
        self._unanswered = None
        self._listener(ExchangeStarted(prompt.exchange))
        # The state that goes with the exchange knows its prompt: a constraint holds from the answer to it on.
        self._listener(StateChanged(self._record.state))
        try:
            if not await self._is_ready(engine, prompt):
                return
            result = await engine.run(
                prompt, self._answering.state_yaml(), self._record.detail, goes_on=newest not in (None, prompt)
            )
        except asyncio.CancelledError:
            self._listener(ExchangeEnded(prompt.exchange, Outcome.INTERRUPTED))
            raise
        if result.outcome is Outcome.FAILED:
            await self._keep_reason(result.error)
        await self._settle_state()
        self._answering.measure()
        if not self._recorder.unsaved:
            turn = unanswered_in([newest or prompt, *result.turns])
            self._unanswered = Unanswered(turn, prompt) if turn is not None else None
        if self._claim.taken:
            self._listener(ExchangeEnded(prompt.exchange, Outcome.FAILED, str(LeaseLost())))
        else:
            self._listener(ExchangeEnded(prompt.exchange, result.outcome, result.error))

    async def _keep_reason(self, words: str) -> None:
        """Store why the exchange failed, behind its turns. With something unsaved that is the reason, and is told."""
        if words and not self._recorder.unsaved and not self._claim.taken:
            with suppress(NotSaved):  # announced by the recorder, which keeps it
                await self._recorder.store([failure_note(words)])

    async def _is_ready(self, engine: Engine, prompt: Turn) -> bool:
        """Whether the prompt can be answered now; else it waits for a retry."""
        try:
            await self._answering.look_around(engine)
        except NotSaved as error:
            self._unasked = prompt
            self._listener(ExchangeEnded(prompt.exchange, Outcome.FAILED, str(error)))
            return False
        return True

    async def _settle_state(self) -> None:
        try:
            await self._record.refresh()
            await self._record.save_state()
        except LoomError as error:
            # The state is rebuilt from the turns at the next start: nothing is lost by this.
            if not self._claim.taken:
                self._listener(Notice("warning", str(error)))
        self._listener(StateChanged(self._record.state))

    async def retry_save(self) -> None:
        """Write what could not be written, and go on where it stopped."""
        self._held = False
        try:
            stored = await self._recorder.retry()
        except NotSaved:
            return  # announced by the recorder, and still kept
        if not stored:
            self.start_next()
            return
        self._listener(Notice("information", f"Saved: {plural(len(stored), 'turn')}."))
        await self._settle_state()
        last = stored[-1]
        prompt = self._unasked or (last if last.role == "user" and not last.person_command else None)
        engine = self._answering.engine
        if prompt is not None and engine is not None and not self.busy:
            self._unasked = None
            self._start_answer(engine, self._answer(engine, prompt))
            return
        await self._answering.reload()
        await self.find_unanswered()
        self.start_next()

    async def change_window(self, move: Coroutine[Any, Any, Moved]) -> Moved:
        """What this gives, done while no exchange runs; messages wait meanwhile, `interrupt` stops it. Raises what it
        raises."""
        moving = asyncio.ensure_future(move)
        self._running = self._moving = moving
        await asyncio.wait([moving])
        self.start_next()
        if moving.cancelled():
            raise Stopped("That was stopped.", "The window stays as it was.")
        return moving.result()

    async def close(self) -> None:
        """Begin no more of them, interrupt what runs and wait until what there is of it is stored; try once more to
        store what is on no disk."""
        self._closing = True
        await self._answering.prepared()
        if self._running is not None and not self._running.done():
            self.interrupt()
            await asyncio.wait([self._running])
        if self._recorder.in_memory_only:
            with suppress(NotSaved):  # announced by the recorder; the front end has the texts
                await self._recorder.retry()
