"""The conversation, newest at the bottom: the turns that are stored, and behind them what happens now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic

from textual.widget import Widget

from loom.archive.records import Turn, TurnKind, TurnStatus
from loom.cowork.events import (
    CommandOutput,
    Event,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolRunning,
    ToolStarted,
    TurnStored,
    WindowTrimmed,
)
from loom.tui.widgets.blocks import block_of, card_of, settle
from loom.tui.widgets.card_title import CardState
from loom.tui.widgets.fold import Thinking
from loom.tui.widgets.line import ErrorBlock, ReceiptLine, UnansweredLine
from loom.tui.widgets.message import AssistantMessage, TurnBlock
from loom.tui.widgets.receipt import Receipt
from loom.tui.widgets.tool_card import ToolCard
from loom.tui.widgets.turn_pages import TurnPages


class Transcript(TurnPages):
    """Pages of turns, at whose end the events of the exchange that runs are drawn."""

    def __init__(self, *, clock: Callable[[], float] = monotonic, id: str | None = None) -> None:
        super().__init__(id=id)
        self._clock = clock
        self._running_since: dict[str, float | None] = {}  # calls, and since when, where that is known
        self._outputs: dict[str, str] = {}  # calls, and how their output ends
        self._answer: AssistantMessage | None = None
        self._thinking: Thinking | None = None
        self._thinking_began = 0.0
        self._welcome: Widget | None = None

    async def show_page(
        self, turns: Sequence[Turn], *, has_older: bool, running: bool = False, at_end: bool = True
    ) -> None:
        self._answer = self._thinking = self._welcome = None
        await super().show_page(turns, has_older=has_older, running=running, at_end=at_end)

    async def greet(self, welcome: Widget) -> None:
        """Say something in an empty transcript; it goes when the first turn comes."""
        self._welcome = welcome
        await self.mount(welcome, before=0 if self.children else None)

    # --- what happens now ------------------------------------------------------------------------------------

    async def draw(self, event: Event) -> bool:
        """Draw an event of the conversation; False if it is none that stands in the transcript."""
        match event:
            case TextDelta(text):
                await self.add_text(text)
            case ThinkingDelta(text):
                await self.add_thinking(text)
            case TurnStored(turn):
                await self.add_turn(turn)
            case ToolStarted():
                await self.tool_started(event)
            case ToolRunning(call_id, begun):
                self.tool_running(call_id, begun=begun)
            case CommandOutput(call_id, end):
                self._outputs[call_id] = end
                if (card := self._cards.get(call_id)) is not None and card.result is None:
                    card.write(end)
            case ToolFinished():
                await self.tool_finished(event)
            case WindowTrimmed(receipt=receipt):
                await self.add_receipt(receipt)
            case _:
                return False
        return True

    async def add_turn(self, turn: Turn) -> None:
        """A turn was stored: closes what was streamed for it, or draws it."""
        if self._welcome is not None:
            await self._welcome.remove()
            self._welcome = None
        match turn.kind:
            case TurnKind.TEXT if turn.role == "assistant" and self._answer is not None:
                await self._answer.finish(turn.content or "", turn.turn_number, turn.status)
                self._answer = None
            case TurnKind.THINKING if self._thinking is not None:
                self._thinking.finish(turn.content or "", turn.turn_number, self._clock() - self._thinking_began)
                self._thinking = None
            case TurnKind.TOOL_CALL:
                card = card_of(turn)
                if self._card_of_call(card.call_id, turn.turn_number) is None:
                    await self._mount([card])
            case TurnKind.TOOL_RESULT:
                # ToolFinished draws it, with its duration.
                pass
            case TurnKind.RECEIPT if self._last_is_receipt(turn.content or ""):
                pass
            case _ if turn.turn_number <= self.newest_turn:
                # A page that was loaded meanwhile shows it already.
                pass
            case _:
                block = block_of(turn)
                if isinstance(block, ErrorBlock):
                    await self.add_line(block)
                elif block is not None:
                    await self._mount([block])
        await self._trim_top()

    def _last_is_receipt(self, text: str) -> bool:
        last = self.children[-1] if self.children else None
        return isinstance(last, ReceiptLine | Receipt) and last.source == text

    async def add_text(self, text: str) -> None:
        if self._answer is None:
            self._answer = AssistantMessage()
            await self._mount([self._answer])
        await self._answer.append(text)

    async def add_thinking(self, text: str) -> None:
        if self._thinking is None:
            self._thinking = Thinking(running=True)
            self._thinking_began = self._clock()
            await self._mount([self._thinking])
        self._thinking.append(text)

    async def tool_started(self, event: ToolStarted) -> None:
        if self._card_of_call(event.call_id, event.turn_number) is None:
            await self._mount([ToolCard(event.call_id, event.name, event.arguments, event.turn_number)])

    def _card_of_call(self, call_id: str, turn_number: int) -> ToolCard | None:
        """The card of this call, and not of an earlier one: some local servers begin their call ids anew in every
        answer. A turn number of 0 is not known yet."""
        card = self._cards.get(call_id)
        if card is None:
            return None
        same = card.turn_number == turn_number if card.turn_number and turn_number else card.result is None
        return card if same else None

    def tool_running(self, call_id: str, *, begun: bool = True) -> None:
        """The call was let through, just now if it has `begun`."""
        self._running_since[call_id] = self._clock() if begun else None
        if (card := self._cards.get(call_id)) is not None:
            self._show_running(card)

    def _show_running(self, card: ToolCard) -> None:
        if card.open_ended and card.call_id in self._running_since:
            began = self._running_since[card.call_id]
            card.set_state(CardState.RUNNING, None if began is None else lambda: self._clock() - began)
        if card.result is None and card.call_id in self._outputs:
            card.write(self._outputs[card.call_id])

    def tool_asking(self, call_id: str, *, asking: bool) -> None:
        """The call waits for a person, or no longer does: then it waits for the answers about the others."""
        card = self._cards.get(call_id)
        if card is not None and card.open_ended:
            card.set_state(CardState.ASKING if asking else CardState.WAITING)

    async def tool_finished(self, event: ToolFinished) -> None:
        self._running_since.pop(event.call_id, None)
        self._outputs.pop(event.call_id, None)
        card = self._cards.get(event.call_id)
        if card is None:
            card = ToolCard(event.call_id, event.turn.tool_name or "tool", {}, event.turn.turn_number)
            await self._mount([card])
        card.finish(event.turn, event.duration_ms)

    async def add_receipt(self, text: str) -> None:
        """Which turns left the window; the stored receipt and the event say it once."""
        if not self._last_is_receipt(text):
            await self._mount([ReceiptLine(text)])

    async def add_line(self, line: ReceiptLine | ErrorBlock) -> None:
        """Put it behind everything else; an error that stands there already is counted instead."""
        last = self.children[-1] if self.children else None
        if not (isinstance(line, ErrorBlock) and isinstance(last, ErrorBlock) and last.joins(line)):
            await self._mount([line])

    async def show_unanswered(self, turn: Turn | None) -> None:
        """Say behind everything else that this turn has no answer; None takes the line away."""
        await self.remove_children(UnansweredLine)
        if turn is not None:
            await self._mount([UnansweredLine(turn.turn_number, result=turn.role == "tool")])

    @property
    def shows_interruption(self) -> bool:
        """Whether the newest block says by itself that it was cut off; what loom said behind it is none."""
        last = next((each for each in reversed(self.children) if isinstance(each, ToolCard | TurnBlock)), None)
        if isinstance(last, ToolCard):
            return last.state is CardState.INTERRUPTED
        return isinstance(last, TurnBlock) and bool(last.query(".mark"))

    async def end_exchange(self, *, complete: bool) -> None:
        """Nothing runs any more: what is still open was interrupted."""
        settle([card for card in self._cards.values() if card.open_ended])
        self._running_since.clear()
        self._outputs.clear()
        if self._answer is not None:
            await self._answer.settle()
            if not complete:
                await self._answer.mark(TurnStatus.INTERRUPTED)
            self._answer = None
        if self._thinking is not None:
            self._thinking.rename("Thought, interrupted")
            self._thinking = None

    async def _mount(self, blocks: Sequence[Widget], *, before: int | None = None) -> None:
        for block in blocks:
            if isinstance(block, ToolCard):
                self._show_running(block)
        await super()._mount(blocks, before=before)
