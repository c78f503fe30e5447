"""How a session of the archive is opened: to go on with it, or to read it while another loom writes it."""

from __future__ import annotations

from collections.abc import Callable

from loom.archive import ConversationStore, Turn
from loom.archive.records import PERSON_COMMAND, TurnKind, TurnStatus
from loom.cowork.answering import Answering
from loom.cowork.elsewhere import Claim
from loom.cowork.events import Listener, Notice, SessionOpened, StateChanged, ToolFinished, TurnStored
from loom.cowork.following import Follower
from loom.cowork.record import SessionRecord
from loom.cowork.recorder import NotSaved, Recorder
from loom.errors import LoomError
from loom.text import plural


class Opening:
    """Opens one session, once."""

    def __init__(
        self,
        store: ConversationStore,
        claim: Claim,
        record: SessionRecord,
        recorder: Recorder,
        answering: Answering,
        listener: Listener,
        fault: Callable[[Exception], None],
    ) -> None:
        self._store = store
        self._claim = claim
        self._record = record
        self._recorder = recorder
        self._answering = answering
        self._listener = listener
        self._fault = fault
        self._follower: Follower | None = None

    async def resume(self, session_id: str, *, take_over: bool = False) -> None:
        """To go on with it, with what an earlier loom could not finish; `take_over` takes it from another one. Raises
        LeaseHeld, or UnknownSession."""
        self._recorder.session_id = session_id
        await self._claim.acquire(session_id, take_over=take_over)
        # What could not be saved last time is newer than a draft, which may be the beginning of the same.
        await self._restore_spooled()
        recovered = await self._store.recover_draft(session_id)
        await self._open(session_id)
        await self._list_again()
        # A command's result may have been stored already, and only its draft been left.
        cut = [turn for turn in recovered if turn.status is TurnStatus.INTERRUPTED]
        if cut:
            words = f"The last {_what_it_was(cut[-1])} was cut off; what had arrived of it is marked interrupted."
            self._listener(Notice("warning", words))

    async def _restore_spooled(self) -> None:
        try:
            restored = await self._recorder.restore()
        except (NotSaved, OSError):
            return  # announced by the recorder, and still in the spool
        if restored:
            self._listener(
                Notice(
                    "information", f"In the archive now: {plural(restored, 'turn')} that could not be saved last time."
                )
            )

    async def _list_again(self) -> None:
        """Whoever goes on with a deleted session wants it back."""
        session = self._record.require()
        if session.is_active:
            return
        try:
            await self._store.restore_session(session.id)
            await self._record.refresh()
        except LoomError as error:
            self._listener(Notice("warning", f"This session was deleted, and stays off the list: {error}"))
        else:
            self._listener(Notice("information", "This session was deleted; it is in the list again."))

    async def read(self, session_id: str) -> None:
        """To read it only. What another loom writes is told as it comes, until this is closed. Raises
        UnknownSession."""
        await self._open(session_id)
        seen = self._record.require()
        self._follower = Follower(self._store, seen, self._follow, self._listener, self._fault)
        await self._follower.start()

    @property
    def writer_since(self) -> str:
        """Since when another loom writes the session that is read here; empty when none does."""
        return self._follower.writer_since if self._follower is not None else ""

    async def _follow(self, turns: list[Turn]) -> None:
        for turn in turns:
            self._listener(TurnStored(turn))
            if turn.kind is TurnKind.TOOL_RESULT:
                self._listener(ToolFinished(turn.tool_call_id or "", turn, None))
        await self._record.refresh()
        self._listener(StateChanged(self._record.state))
        await self._answering.reload()

    async def _open(self, session_id: str) -> None:
        detail = await self._record.open(session_id)
        self._listener(SessionOpened(detail.id, detail.reference, detail.title))
        self._listener(StateChanged(self._record.state))
        await self._answering.reload()

    async def close(self) -> None:
        """Follow no more."""
        if self._follower is not None:
            await self._follower.stop()


def _what_it_was(turn: Turn) -> str:
    if turn.tool_name == PERSON_COMMAND:
        return "command that you ran"
    return "command" if turn.role == "tool" else "answer"
