"""How turns are stored: to the archive first, then to the screen; a failed write loses nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from loom.archive import ArchiveError, ConversationStore, LeaseLost, NewTurn, Turn
from loom.archive.records import Draft
from loom.archive.spool import Spool, by_message, unreadable_in_words
from loom.cowork.elsewhere import Claim
from loom.cowork.events import Listener, Notice, SaveFailed, TurnStored
from loom.errors import LoomError

DRAFT_SECONDS = 0.5
"""How often the streamed part of an answer, or the output of a command, goes to disk."""
DRAFT_RATE = 400_000
"""Characters of it a second, on average: a draft of more than 200,000 is saved more rarely, one of 2 MB every 5 s."""


class NotSaved(LoomError):
    """A turn could not be stored; it waits in `Recorder.unsaved`."""


class Recorder:
    """Stores the turns of one session in order and announces each once it is durable."""

    def __init__(self, store: ConversationStore, spool: Spool, listener: Listener, claim: Claim) -> None:
        self._claim = claim
        self._store = store
        self._spool = spool
        self._listener = listener
        self._flush: asyncio.TimerHandle | None = None
        self._flushing: asyncio.Task[None] | None = None
        self._draft: tuple[int, Callable[[], Awaitable[Sequence[NewTurn]]]] | None = None
        self._pause = DRAFT_SECONDS
        self._order = asyncio.Lock()
        self.session_id: str | None = None
        self.unsaved: list[NewTurn] = []
        """Turns that could not be written, oldest first. While there are any, nothing else is written: turns
        are numbered in the order in which things happened."""
        self._spooled: set[str] = set()
        """The keys of those that are in the spool as well."""

    @property
    def in_memory_only(self) -> tuple[NewTurn, ...]:
        """Turns that are on no disk, oldest first: what would be lost with the process. None when another loom has the
        session: that is said elsewhere."""
        if self._claim.taken:
            return ()
        return tuple(turn for turn in self.unsaved if turn.append_key not in self._spooled)

    async def store(self, turns: Sequence[NewTurn]) -> list[Turn]:
        """The stored rows, durable when this returns, announced in the order in which they are stored.

        Raises NotSaved when the archive cannot write; the turns are kept in `unsaved` for `retry`.
        """
        if not turns:
            return []
        if self.session_id is None:
            raise RuntimeError("a turn cannot be stored before its session")
        async with self._order:
            if self.unsaved:
                await self._keep(self.session_id, turns)
                raise NotSaved("Earlier turns are not saved yet.", "Retry saving first.")
            stored = await self._append(self.session_id, turns)
            for turn in stored:
                self._listener(TurnStored(turn))
        return stored

    async def _append(self, session_id: str, turns: Sequence[NewTurn]) -> list[Turn]:
        try:
            return await self._store.append_turns(session_id, turns)
        except LeaseLost as error:
            self._claim.lose()
            await self._keep(session_id, turns)
            raise NotSaved(error.what, error.remedy) from error
        except ArchiveError as error:
            self._listener(SaveFailed(error.what, error.remedy, _message(turns)))
            await self._keep(session_id, turns)
            raise NotSaved(error.what, error.remedy) from error

    async def _keep(self, session_id: str, turns: Sequence[NewTurn]) -> None:
        """Keep what the archive did not take in memory and, if the disk lets us, in the spool beside it."""
        if self._claim.taken:
            # Not in the spool: the next start would put it behind what the other loom has written since.
            self.unsaved.extend(turns)
            return
        try:
            kept = await asyncio.to_thread(self._spool.put, session_id, turns)
        except ArchiveError as error:
            self._listener(SaveFailed(error.what, error.remedy, _message(turns)))
            kept = list(turns)
        else:
            self._spooled.update(turn.append_key for turn in kept if turn.append_key)
        self.unsaved.extend(kept)

    async def restore(self) -> int:
        """Store what an earlier process had to leave in the spool for this session; how many turns that were. They
        are not announced: nobody draws the session yet.

        Raises NotSaved if the archive still cannot take them; they stay in the spool.
        """
        restored = 0
        for spooled in await asyncio.to_thread(self._spool.waiting):
            if spooled.session_id == self.session_id:
                for turns in by_message(spooled.turns):
                    restored += len(await self._append(spooled.session_id, turns))
                kept = await asyncio.to_thread(self._spool.remove, spooled)
                if kept is not None:
                    self._listener(Notice("warning", unreadable_in_words(spooled, kept)))
        return restored

    async def retry(self) -> list[Turn]:
        """Write what is waiting. Raises NotSaved (and announces it) if it still cannot be written."""
        waiting, self.unsaved = self.unsaved, []
        stored: list[Turn] = []
        for at, turns in enumerate(groups := by_message(waiting)):
            try:
                stored += await self.store(turns)
            except NotSaved:
                self.unsaved += [turn for later in groups[at + 1 :] for turn in later]
                raise
        if self.session_id is not None:
            await asyncio.to_thread(self._spool.drop, self.session_id)
            self._spooled.clear()
        return stored

    async def move(self, session_id: str) -> None:
        """Store what is unsaved in this session instead, which goes on from the same turn. Raises an ArchiveError."""
        for turns in by_message(self.unsaved):
            await self._store.append_turns(session_id, turns)
        self.unsaved = []
        if self.session_id is not None:
            # What went there before the session was taken over is not to come into it at the next start.
            await asyncio.to_thread(self._spool.drop, self.session_id)

    def draft(self, exchange: int, streamed: Callable[[], Awaitable[Sequence[NewTurn]]]) -> None:
        """Note that more has come; what `streamed` gives goes to disk in DRAFT_SECONDS, or when DRAFT_RATE allows."""
        self._draft = (exchange, streamed)
        if self._flush is None:
            self._flush = asyncio.get_running_loop().call_later(self._pause, self._start_flush)

    def _start_flush(self) -> None:
        self._flush = None
        if self._draft is None or self.session_id is None:
            return
        if self._flushing is not None and not self._flushing.done():
            # A slow disk: what streams meanwhile goes with the next flush.
            self._flush = asyncio.get_running_loop().call_later(DRAFT_SECONDS, self._start_flush)
            return
        exchange, streamed = self._draft
        self._draft = None
        self._flushing = asyncio.ensure_future(self._save_streamed(self.session_id, exchange, streamed))

    async def _save_streamed(
        self, session_id: str, exchange: int, streamed: Callable[[], Awaitable[Sequence[NewTurn]]]
    ) -> None:
        turns = tuple(await streamed())
        self._pause = max(DRAFT_SECONDS, sum(len(turn.content or "") for turn in turns) / DRAFT_RATE)
        await self._save(Draft(session_id=session_id, exchange=exchange, turns=turns))

    async def _save(self, draft: Draft) -> None:
        try:
            await self._store.save_draft(draft)
        except LeaseLost:
            self._claim.lose()
        except ArchiveError as error:
            # The answer itself is stored when it is complete; a draft only shortens what a crash could cost.
            self._listener(SaveFailed(error.what, error.remedy))

    async def save_draft(self, exchange: int, turns: Sequence[NewTurn]) -> None:
        """Put these on disk now, in the place of the draft there is; none forgets it. A failure is announced."""
        if self.session_id is not None:
            await self._save(Draft(session_id=self.session_id, exchange=exchange, turns=tuple(turns)))

    async def settle_draft(self) -> None:
        """Stop saving drafts and wait for the one on its way, so that none lands behind the answer it became."""
        self._draft = None
        self._pause = DRAFT_SECONDS
        if self._flush is not None:
            self._flush.cancel()
            self._flush = None
        if self._flushing is not None:
            await asyncio.shield(self._flushing)
            self._flushing = None


def _message(turns: Sequence[NewTurn]) -> str:
    return next((turn.content or "" for turn in turns if turn.role == "user"), "")
