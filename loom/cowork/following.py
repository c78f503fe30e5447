"""What another loom writes in a session that is read here: its turns, and the answer or output that is on its way."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence

from loom.archive import ArchiveError, ConversationStore, Turn
from loom.archive.records import Draft, NewTurn, Session, TurnKind
from loom.cowork.elsewhere import Lookout
from loom.cowork.events import (
    CommandOutput,
    Event,
    ExchangeEnded,
    Listener,
    Outcome,
    TextDelta,
    ThinkingDelta,
    ToolRunning,
)
from loom.cowork.live_output import CUT_OFF, SHOWN_CHARS
from loom.text import without_overwritten

MOST_TURNS = 500
"""Turns taken in at one look; the rest comes with the next."""


class Follower:
    """Awaits `written` with the turns, ascending, that another loom has added to the session behind those in `seen`,
    and tells `listener` what its draft gains in between, and when whoever wrote is gone. `fault` gets what goes wrong
    with that."""

    def __init__(
        self,
        store: ConversationStore,
        seen: Session,
        written: Callable[[list[Turn]], Awaitable[None]],
        listener: Listener,
        fault: Callable[[Exception], None],
    ) -> None:
        self.writer_since = ""
        """Since when another loom has the session to write in it, as the archive writes a time; empty when none has."""
        self._store = store
        self._session_id = seen.id
        self._last = seen.turn_count
        self._exchange = seen.exchange_count
        self._written = written
        self._listener = listener
        self._growing = GrowingDraft()
        self._wrote = ""
        """`writer_since` of whoever would have to bring to its end what is drawn."""
        self._open = False
        """Whether something that is drawn may not have come to its end."""
        self._lookout = Lookout(self._look, fault)

    async def start(self) -> None:
        """Find out who writes there, and follow it until `stop`."""
        self.writer_since = await self._look_for_writer()
        self._wrote, self._open = self.writer_since, bool(self.writer_since)
        self._lookout.start()

    async def stop(self) -> None:
        """Follow no more."""
        await self._lookout.stop()

    async def _look_for_writer(self) -> str:
        try:
            holder = await self._store.get_lease_holder(self._session_id)
        except ArchiveError:
            # The turns can be read all the same, and whoever writes them says what is wrong with the folder.
            return self.writer_since
        return holder.since if holder is not None else ""

    async def _look(self) -> None:
        # First: whoever is gone by now has stored all that there will be.
        self.writer_since = await self._look_for_writer()
        if await self._store.get_turn_count(self._session_id) > self._last:
            turns = await self._store.get_range(self._session_id, self._last + 1, self._last + MOST_TURNS)
            if turns:
                self._last, self._exchange, self._open = turns[-1].turn_number, turns[-1].exchange, True
                await self._written(turns)
            for event in self._growing.stored(turns, await self._store.get_draft(self._session_id)):
                self._listener(event)
            return
        for event in self._growing.events(await self._store.get_draft(self._session_id)):
            self._listener(event)
            self._open = True
        writer = self.writer_since
        if self._open and (not writer or (self._wrote and self._wrote != writer)):
            self._listener(ExchangeEnded(self._exchange, Outcome.FAILED))
        self._wrote, self._open = writer, bool(writer)


class GrowingDraft:
    """Tells what is new in a draft each time that it is looked at."""

    def __init__(self) -> None:
        self._words: dict[int, str] = {}
        """What was told of each of its turns."""
        self._running: set[str] = set()
        self._ended: set[str] = set()
        """Calls whose results are stored."""
        self._looked = False
        self._saved = ""
        """When what was looked at last was saved."""
        self._exchange = 0
        """That of the words told, as long as no turn has taken their place."""
        self._missed = False

    def stored(self, turns: Sequence[Turn], draft: Draft | None) -> list[Event]:
        """These have taken the place of what was told. Words that the draft still has now may be theirs: only what is
        saved later is new. What to draw: the commands that run on."""
        begun, self._looked = self._looked, True
        self._words.clear()
        self._exchange, self._missed = 0, False
        self._saved = draft.updated_at if draft is not None else ""
        for turn in turns:
            if turn.kind is TurnKind.TOOL_CALL and turn.tool_calls:
                # Some local servers give ids of calls again.
                self._ended.discard(str(turn.tool_calls[0].get("id", "")))
            elif turn.kind is TurnKind.TOOL_RESULT:
                self._ended.add(turn.tool_call_id or "")
                self._running.discard(turn.tool_call_id or "")
        outputs = [turn for turn in draft.turns if turn.kind is TurnKind.TOOL_RESULT] if draft is not None else []
        return [event for turn in outputs for event in self._output(turn, begun=begun)]

    def events(self, draft: Draft | None) -> Iterator[Event]:
        """What to draw. What runs at the first look may have run for long."""
        begun, self._looked = self._looked, True
        if draft is None:
            # What was on its way is a turn by the next look, or was given up.
            if self._exchange and self._missed:
                yield ExchangeEnded(self._exchange, Outcome.FAILED)
                self.stored((), None)
            self._missed = bool(self._exchange)
            return
        self._missed = False
        if draft.updated_at == self._saved:
            return
        self._saved = draft.updated_at
        for place, turn in enumerate(draft.turns):
            if turn.kind is TurnKind.TOOL_RESULT:
                yield from self._output(turn, begun=begun)
            elif event := self._more(place, turn):
                self._exchange = draft.exchange
                yield event

    def _more(self, place: int, turn: NewTurn) -> Event | None:
        told, words = self._words.get(place, ""), turn.content or ""
        if not words.startswith(told) or words == told:
            return None
        self._words[place] = words
        new = words[len(told) :]
        return ThinkingDelta(new) if turn.kind is TurnKind.THINKING else TextDelta(new)

    def _output(self, turn: NewTurn, *, begun: bool) -> Iterator[Event]:
        call_id = turn.tool_call_id or ""
        if call_id in self._ended:
            return
        if call_id not in self._running:
            self._running.add(call_id)
            yield ToolRunning(call_id, begun=begun)
        end = without_overwritten((turn.content or "").removesuffix(CUT_OFF).rstrip("\n"))
        yield CommandOutput(call_id, end[-SHOWN_CHARS:])
