"""What another loom writes in a session that is read here: its turns, and the answer or output that is on its way."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

from loom.archive import ConversationStore, Turn
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


def follow(
    store: ConversationStore,
    seen: Session,
    written: Callable[[list[Turn]], Awaitable[None]],
    listener: Listener,
    fault: Callable[[Exception], None],
) -> Lookout:
    """Awaits `written` with the turns, ascending, that another loom has added to the session behind those in `seen`,
    and tells `listener` what its draft gains in between. `fault` gets what goes wrong with that."""
    last = seen.turn_count
    growing = GrowingDraft()

    async def look() -> None:
        nonlocal last
        if await store.get_turn_count(seen.id) > last:
            turns = await store.get_range(seen.id, last + 1, last + MOST_TURNS)
            if turns:
                last = turns[-1].turn_number
                await written(turns)
            growing.stored(await store.get_draft(seen.id))
            return
        for event in growing.events(await store.get_draft(seen.id)):
            listener(event)

    return Lookout(look, fault)


class GrowingDraft:
    """Tells what is new in a draft each time that it is looked at."""

    def __init__(self) -> None:
        self._words: dict[int, str] = {}
        """What was told of each of its turns."""
        self._running: set[str] = set()
        self._saved = ""
        """When what was looked at last was saved."""
        self._exchange = 0
        """That of the words told, as long as no turn has taken their place."""
        self._missed = False

    def stored(self, draft: Draft | None) -> None:
        """Turns have taken the place of what was told. What the draft still has now may be theirs: only what is saved
        later is new."""
        self._words.clear()
        self._exchange, self._missed = 0, False
        self._saved = draft.updated_at if draft is not None else ""

    def events(self, draft: Draft | None) -> Iterator[Event]:
        """What to draw."""
        if draft is None:
            # What was on its way is a turn by the next look, or was given up.
            if self._exchange and self._missed:
                yield ExchangeEnded(self._exchange, Outcome.FAILED)
                self.stored(None)
            self._missed = bool(self._exchange)
            return
        self._missed = False
        if draft.updated_at == self._saved:
            return
        self._saved = draft.updated_at
        for place, turn in enumerate(draft.turns):
            if turn.kind is TurnKind.TOOL_RESULT:
                yield from self._output(turn)
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

    def _output(self, turn: NewTurn) -> Iterator[Event]:
        call_id = turn.tool_call_id or ""
        if call_id not in self._running:
            self._running.add(call_id)
            yield ToolRunning(call_id)
        end = without_overwritten((turn.content or "").removesuffix(CUT_OFF).rstrip("\n"))
        yield CommandOutput(call_id, end[-SHOWN_CHARS:])
