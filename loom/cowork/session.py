"""One conversation, from the picker to the last turn: what a front end holds and talks to."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from loom.archive import Turn
from loom.archive.records import Session
from loom.cowork.contents import WindowContents
from loom.cowork.events import ApprovalAsked, Decision, Notice
from loom.cowork.parts import SessionParts
from loom.cowork.typed import Typed, read_typed
from loom.errors import LoomError
from loom.models.choice import ModelChoice
from loom.state import SessionState
from loom.state.model import Pin
from loom.tools.offloop import in_thread
from loom.turn_numbers import Ranges

if TYPE_CHECKING:
    # 0.9 s and more: imported in the thread that builds the agent.
    from loom.cowork.engine import Engine


class ReadOnly(LoomError):
    """Something was to be written to a session that is only being read."""


class LostSession(LoomError):
    """Something was to be written to a session that another loom has taken over."""


class CoworkSession(SessionParts):
    """A session that may not exist yet: it is created in the archive with the first message.

    Every method belongs to the event loop's thread. What happens is told to the listener, in order.
    """

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
    def begun_in(self) -> str:
        """Another folder than this one, in which the session was begun; empty when it is the same."""
        return self._record.begun_in

    @property
    def choice(self) -> ModelChoice:
        """The model that answers."""
        return self._answering.choice

    @property
    def problem(self) -> LoomError | None:
        """Why no message can be sent (a model that cannot be used); None when all is well."""
        return self._answering.problem

    @property
    def taken(self) -> bool:
        """Whether another loom took the session over: nothing can be stored here any more."""
        return self._claim.taken

    @property
    def writer_since(self) -> str:
        """Since when another loom writes the session that is read here, as the archive writes a time; empty when none
        does."""
        return self._opening.writer_since

    @property
    def busy(self) -> bool:
        """Whether an exchange runs."""
        return self._exchanges.busy

    @property
    def in_memory_only(self) -> tuple[str, ...]:
        """The texts of turns that no disk took, oldest first: they are lost with the process. The last chance to store
        them is `retry_save`."""
        return tuple(turn.content or turn.kind.value for turn in self._recorder.in_memory_only)

    @property
    def waiting(self) -> tuple[str, ...]:
        """What waits to be sent or run, oldest first, spelled as `loom.cowork.typed` has it."""
        return self._exchanges.waiting

    @property
    def held(self) -> int:
        """How many of those, from the oldest on, wait since an interruption for `send_held`."""
        return self._exchanges.held

    @property
    def unanswered(self) -> Turn | None:
        """The newest message or tool result, if it is stored and nothing came in answer to it; `ask_again` asks for
        that."""
        return None if self.read_only or self.taken else self._exchanges.unanswered

    @property
    def sending(self) -> str:
        """What was sent and is on no disk yet, spelled; empty when there is nothing."""
        return self._exchanges.sending

    @property
    def pending(self) -> tuple[ApprovalAsked, ...]:
        return self._approvals.pending

    # Opening and preparing

    async def resume(self, session_id: str, *, take_over: bool = False) -> None:
        """Go on with a session of the archive: its state, totals, window and transcript, as they were.

        Raises LeaseHeld when another loom has it open, unless asked to take over, UnknownSession when it is gone.
        """
        await self._opening.resume(session_id, take_over=take_over)
        await self._exchanges.find_unanswered()

    async def read(self, session_id: str) -> None:
        """Open a session to read it only: nothing is written, no lease is taken. What another loom writes is told as
        it comes."""
        self.read_only = True
        await self._opening.read(session_id)

    async def prepare(self) -> None:
        """Build the agent (a second or so, in a thread) and load the window. Messages submitted meanwhile wait.

        Never raises: what is wrong with the model is in `problem`, and a Notice says it.
        """
        await self._answering.prepare()

    async def set_model(self, name: str) -> None:
        """Answer with another model from the next message on.

        Raises ModelUnavailable in words, and keeps the old one; LoomError while an exchange runs.
        """
        from loom.models.choosing import choose_model

        self._require_idle()
        choice = await asyncio.to_thread(choose_model, name, self._bench.settings)
        self._require_idle()
        self._answering.change(choice)
        if self.session_id is not None and not self.read_only and not self.taken:
            await self._store.update_model(self.session_id, choice.name)
        await self._answering.prepared()

    def _require_idle(self) -> None:
        if self.busy:
            raise LoomError("An exchange is running.", "Interrupt it with Esc, then change the model.")

    # Talking

    def submit(self, text: str) -> None:
        """Start an exchange with this message, or let it wait while one runs or the agent is being built."""
        self._submit(Typed(text))

    def run_command(self, command: str) -> None:
        """Run this in the workspace for the person, who asked for it, or let it wait while an exchange runs. The model
        learns of it with the next message."""
        self._submit(Typed(command, is_command=True))

    def _submit(self, typed: Typed) -> None:
        if self.read_only:
            self._listener(Notice("warning", "This session is open to read only. Fork it to go on from here."))
            return
        self._exchanges.submit(typed)

    def take_back(self) -> str | None:
        """Take the newest of what waits out of the queue, spelled as `loom.cowork.typed` has it, to edit it."""
        return self._exchanges.take_back()

    def interrupt(self) -> bool:
        """Stop the running exchange; False when none runs. What has arrived is kept, and what waits is held."""
        return self._exchanges.interrupt()

    def hold(self, spelled: Sequence[str]) -> None:
        """Put this, spelled as `loom.cowork.typed` has it, into the queue, for `send_held`."""
        self._exchanges.hold([read_typed(text) for text in spelled])

    def send_held(self) -> None:
        """Let what is held since an interruption go, in its order."""
        self._exchanges.send_held()

    async def ask_again(self) -> None:
        """Ask for an answer to the message or tool result that got none; nothing is stored or run again. Raises
        LoomError."""
        self._require_writing()
        await self._exchanges.ask_again()

    def answer(self, call_id: str, decision: Decision) -> None:
        """Answer an approval that waits; a withdrawn one is ignored."""
        self._approvals.answer(call_id, decision)

    async def retry_save(self) -> None:
        """Write what could not be written, and go on where it stopped."""
        await self._exchanges.retry_save()

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
        engine = self._answering.engine
        exchanges = engine.exchanges() if engine is not None else ()
        marks = await self._store.get_window_marks(self.session_id) if self.session_id is not None else []
        return WindowContents(exchanges, tuple(marks), engine.outlook() if engine is not None else None)

    def state_yaml(self) -> str:
        """The state as the model sees it."""
        return self._answering.state_yaml()

    # Changing what the window holds; the archive only grows

    async def clear(self) -> None:
        """Empty the window. Every turn stays in the archive, found by recall and search."""
        await self._exchanges.change_window(self._moves.clear(self._idle_engine()))

    async def compact(self, focus: str = "") -> None:
        """Put a summary that the model writes in the place of what the window holds. Raises LoomError if it cannot."""
        await self._exchanges.change_window(self._moves.compact(self._idle_engine(), focus))

    async def uncompact(self) -> None:
        """Restore the window as it was before the last compaction; several in a row go back step by step. Raises
        LoomError when there is none."""
        await self._exchanges.change_window(self._moves.uncompact(self._idle_engine()))

    async def unclear(self) -> None:
        """Restore the window as it was before it was last cleared. Raises LoomError when it was not."""
        await self._exchanges.change_window(self._moves.unclear(self._idle_engine()))

    async def rewind(self, turn_number: int | None = None) -> str:
        """Let the model see the session as it was before the exchange of this turn (the newest that it still sees, if
        None); every turn stays in the archive. What the person typed to begin that exchange, spelled as
        `loom.cowork.typed` has it; empty when they typed nothing. Raises LoomError."""
        typed = await self._exchanges.change_window(self._moves.rewind(self._idle_engine(), turn_number))
        return typed.spelled if typed is not None else ""

    async def unrewind(self) -> None:
        """Restore the window and the state as they were before the last rewinding. Raises LoomError when there is
        none."""
        await self._exchanges.change_window(self._moves.unrewind(self._idle_engine()))

    async def bring_back(self, ranges: Ranges) -> None:
        """Put the exchanges of these turns, which left, into the window again until the budget pushes them out. Raises
        LoomError, which says how many tokens are missing, when they do not fit."""
        await self._exchanges.change_window(self._moves.bring_back(self._idle_engine(), ranges))

    def _require_writing(self) -> None:
        if self.read_only:
            raise ReadOnly("This session is open to read only.", "Fork it to go on from here.")
        if self.taken:
            raise LostSession("Another loom has this session now.", "Fork it to go on from here, or take it back.")

    def _idle_engine(self) -> Engine:
        self._require_writing()
        if self.busy:
            raise LoomError("An exchange or a summary is running.", "Wait for it, or interrupt it with Esc.")
        if self._answering.engine is None:
            raise self.problem or LoomError("The model is still being made ready.", "Try again in a moment.")
        if self._recorder.unsaved:
            # The change would be stored behind a message of which it knows nothing yet.
            raise LoomError("Something is not saved yet.", "Retry saving first.")
        return self._answering.engine

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

    # The session as a thing

    async def rename(self, title: str) -> None:
        """Give the session a title. Raises NothingSaid before the first message, and ReadOnly."""
        self._require_writing()
        await self._record.rename(title)

    async def change_tags(self, *, add: Sequence[str] = (), remove: Sequence[str] = ()) -> tuple[str, ...]:
        """Put tags on the session and take others away; the tags that it has then. Raises NothingSaid before the first
        message, BadTag, and ReadOnly."""
        self._require_writing()
        return await self._record.change_tags(add, remove)

    async def titled(self) -> None:
        """Wait for the title that the settings want a model to write, if it is on its way."""
        await self._titling.done()

    async def fork(self, turn_number: int | None = None) -> str:
        """A new session with the turns up to `turn_number` (all if None): its id. This one stays as it is."""
        return await self._store.fork_session(self._record.require().id, turn_number)

    async def fork_here(self) -> str:
        """A new session with every turn that was stored here, and what could not be stored any more: its id. For a
        session that was taken over; what the other loom wrote since is not in it. Raises an ArchiveError."""
        detail = self._record.require()
        if self.state.last_turn:
            forked = await self._store.fork_session(detail.id, self.state.last_turn)
        else:
            forked = await self._store.create_session(
                detail.workspace_path, detail.model_name, self._record.instructions
            )
        await self._recorder.move(forked)
        return forked

    async def export(self, path: str = "") -> Path:
        """Write the session to a file, see `SessionRecord.export`; where it is."""
        return await self._record.export(path)

    async def close(self) -> None:
        """Interrupt what runs, store what there is of it, give the session up."""
        await self._exchanges.close()
        await self._titling.stop()
        await self._answering.close()
        await self._opening.close()
        await self._claim.release()
