"""The conversation, newest at the bottom: stored turns a page at a time, and what streams now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from time import monotonic

from textual.containers import VerticalScroll
from textual.message import Message
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
from loom.tui.widgets.blocks import block_of, block_turn, blocks_for, card_of, settle
from loom.tui.widgets.card_title import CardState
from loom.tui.widgets.fold import Thinking
from loom.tui.widgets.line import ErrorBlock, ReceiptLine, UnansweredLine
from loom.tui.widgets.message import AssistantMessage, TurnBlock
from loom.tui.widgets.pinnable import Pinnable
from loom.tui.widgets.reading_place import ReadingPlace
from loom.tui.widgets.receipt import Receipt
from loom.tui.widgets.tool_card import ToolCard

MOST_BLOCKS = 160
"""Every layout visits every widget: with 400 blocks each streamed piece took 0.6 s, with 100 under 0.1. Beyond this
the far end is dropped, and loaded again when it is scrolled to."""
KEPT_BLOCKS = 100


class Transcript(VerticalScroll):
    """Turns as widgets. Stays at the bottom unless the person scrolled up; holds a bounded number of blocks."""

    DEFAULT_CSS = """
    Transcript {
        height: 1fr;
        padding: 1 0 0 0;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        & > .-found { background: $accent 15%; }
    }
    """

    class OlderWanted(Message):
        """The top was reached; `before` is the oldest turn drawn."""

        def __init__(self, before: int) -> None:
            super().__init__()
            self.before = before

    class NewerWanted(Message):
        """The bottom was reached, but newer turns had been dropped; `after` is the newest turn drawn."""

        def __init__(self, after: int) -> None:
            super().__init__()
            self.after = after

    def __init__(self, *, clock: Callable[[], float] = monotonic, id: str | None = None) -> None:
        super().__init__(id=id)
        self._clock = clock
        self.has_older = False
        """Whether the archive holds turns older than the oldest one drawn."""
        self.newer_dropped = False
        """Whether the newest turns were dropped while the person read far up."""
        self.origin = ""
        """What stands above the first turn; empty is nothing."""
        self._cards: dict[str, ToolCard] = {}
        self._running_since: dict[str, float] = {}  # calls, and since when
        self._answer: AssistantMessage | None = None
        self._thinking: Thinking | None = None
        self._thinking_began = 0.0
        self._welcome: Widget | None = None
        self._asked_page = False
        self._pins: frozenset[int] = frozenset()
        self._place = ReadingPlace(self)

    def on_mount(self) -> None:
        self.anchor()

    def on_resize(self) -> None:
        self._place.keep()

    # --- pages of stored turns -------------------------------------------------------------------------------

    async def show_page(
        self, turns: Sequence[Turn], *, has_older: bool, running: bool = False, at_end: bool = True
    ) -> None:
        """Draw these turns and nothing else; `running` leaves calls without a result open, `at_end` says that there
        are no newer ones."""
        self._cards.clear()
        self._answer = self._thinking = self._welcome = None
        blocks = blocks_for(turns)
        if not running:
            settle(blocks)
        with self.app.batch_update():
            await self.remove_children()
            await self._mount([*self._head(has_older), *blocks])
        self.has_older, self.newer_dropped, self._asked_page = has_older, not at_end, False
        self.anchor(at_end)

    def _head(self, has_older: bool) -> list[Widget]:
        return [ReceiptLine(self.origin)] if self.origin and not has_older else []

    async def greet(self, welcome: Widget) -> None:
        """Say something in an empty transcript; it goes when the first turn comes."""
        self._welcome = welcome
        await self.mount(welcome, before=0 if self.children else None)

    async def add_older(self, turns: Sequence[Turn], *, has_older: bool, live: bool) -> None:
        """Put older turns above, keeping what the person reads where it is. `live` keeps the newest blocks,
        which an exchange is still drawing."""
        self.has_older = has_older
        blocks = blocks_for(turns)
        for block in [b for b in blocks if isinstance(b, ToolCard) and b.call_id in self._cards]:
            # The result was drawn already, at the top of the newer page.
            self._cards[block.call_id].set_call(block.tool_name, block.arguments, block.turn_number or 0)
            blocks.remove(block)
        settle(blocks)
        first = self.children[0] if self.children else None
        before = first.virtual_region.y if first else 0
        with self.app.batch_update():
            await self._mount([*self._head(has_older), *blocks], before=0 if first else None)
            if not live and len(self.children) > MOST_BLOCKS:
                await self._drop(list(self.children)[KEPT_BLOCKS:])
                self.newer_dropped = True
        if first is not None and first.is_attached:
            self.call_after_refresh(self._hold, first, before)
        self._asked_page = False

    @property
    def full(self) -> bool:
        """Whether no further block may be drawn without dropping another."""
        return len(self.children) >= MOST_BLOCKS

    def page_failed(self) -> None:
        """The page that was asked for does not come; reaching the edge asks again."""
        self._asked_page = False

    def _hold(self, first: Widget, before: int) -> None:
        moved = first.virtual_region.y - before
        if moved:
            self.scroll_to(y=self.scroll_y + moved, animate=False, force=True, immediate=True)

    async def add_newer(self, turns: Sequence[Turn], *, at_end: bool) -> None:
        """Put back newer turns that had been dropped."""
        known = {block_turn(child) for child in self.children}
        blocks = [block for block in blocks_for(turns) if block_turn(block) not in known]
        settle(blocks)
        await self._mount(blocks)
        self.newer_dropped, self._asked_page = not at_end, False
        await self._trim_top()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._place.note()
        if self._asked_page or not self.is_mounted:
            return
        if new_value <= 1 and new_value < old_value and self.has_older and (oldest := self.oldest_turn):
            self._asked_page = True
            self.post_message(self.OlderWanted(oldest))
        elif self.newer_dropped and new_value >= self.max_scroll_y - 1 and new_value > old_value:
            self._asked_page = True
            self.post_message(self.NewerWanted(self.newest_turn))

    def action_scroll_up(self) -> None:
        self._top_reached()
        super().action_scroll_up()

    def action_page_up(self) -> None:
        self._top_reached()
        super().action_page_up()

    def action_scroll_home(self) -> None:
        self._top_reached()
        super().action_scroll_home()

    def _top_reached(self) -> None:
        # A page that does not fill the screen cannot be scrolled, so no scroll tells that more is wanted.
        if self.scroll_y <= 0 and self.has_older and not self._asked_page and (oldest := self.oldest_turn):
            self._asked_page = True
            self.post_message(self.OlderWanted(oldest))

    def reveal(self, turn: int) -> bool:
        """Scroll to the block of this turn and mark it; False if it is not drawn."""
        blocks = [block for block in self.children if 0 < block_turn(block) <= turn]
        if not blocks or self.newest_turn < turn:
            return False
        for marked in self.query(".-found"):
            marked.remove_class("-found")
        blocks[-1].add_class("-found")
        self.release_anchor()
        self.call_after_refresh(self._scroll_to_block, blocks[-1])
        return True

    def _scroll_to_block(self, block: Widget, tries: int = 100) -> None:
        # On a screen that was just opened nothing has its place yet: there is nowhere to scroll to.
        if not self.virtual_size.height and tries:
            self.call_after_refresh(self._scroll_to_block, block, tries - 1)
        elif block.is_attached:
            # Textual holds the end of an anchored view that has no content yet at less than nothing.
            self.scroll_y = max(0, self.scroll_y)
            self.scroll_to_widget(block, animate=False, top=True)

    @property
    def oldest_turn(self) -> int:
        return next((n for n in map(block_turn, self.children) if n), 0)

    @property
    def newest_turn(self) -> int:
        return next((n for n in map(block_turn, reversed(self.children)) if n), 0)

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
            case ToolRunning(call_id):
                self.tool_running(call_id)
            case CommandOutput(call_id, end):
                if (card := self._cards.get(call_id)) is not None and card.open_ended:
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
                if card.call_id not in self._cards:
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
                if (block := block_of(turn)) is not None:
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
        card = self._cards.get(event.call_id)
        if card is None:
            card = ToolCard(event.call_id, event.name, event.arguments, event.turn_number)
            await self._mount([card])

    def tool_running(self, call_id: str) -> None:
        """The call was let through."""
        self._running_since[call_id] = self._clock()
        if (card := self._cards.get(call_id)) is not None:
            self._show_running(card)

    def _show_running(self, card: ToolCard) -> None:
        if card.open_ended and (began := self._running_since.get(card.call_id)) is not None:
            card.set_state(CardState.RUNNING, lambda: self._clock() - began)

    def tool_asking(self, call_id: str, *, asking: bool) -> None:
        """The call waits for a person, or no longer does: then it waits for the answers about the others."""
        card = self._cards.get(call_id)
        if card is not None and card.open_ended:
            card.set_state(CardState.ASKING if asking else CardState.WAITING)

    async def tool_finished(self, event: ToolFinished) -> None:
        self._running_since.pop(event.call_id, None)
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
        if isinstance(line, ErrorBlock) and isinstance(last, ErrorBlock) and last.source == line.source:
            last.again()
        else:
            await self._mount([line])

    async def show_unanswered(self, turn: Turn | None) -> None:
        """Say behind everything else that this turn has no answer; None takes the line away."""
        await self.remove_children(UnansweredLine)
        if turn is not None:
            await self._mount([UnansweredLine(turn.turn_number, result=turn.role == "tool")])

    @property
    def shows_interruption(self) -> bool:
        """Whether the newest block says by itself that it was cut off."""
        last = self.children[-1] if self.children else None
        if isinstance(last, ToolCard):
            return last.state is CardState.INTERRUPTED
        return isinstance(last, TurnBlock) and bool(last.query(".mark"))

    async def end_exchange(self, *, complete: bool) -> None:
        """Nothing runs any more: what is still open was interrupted."""
        settle([card for card in self._cards.values() if card.open_ended])
        self._running_since.clear()
        if self._answer is not None:
            await self._answer.settle()
            if not complete:
                await self._answer.mark(TurnStatus.INTERRUPTED)
            self._answer = None
        if self._thinking is not None:
            self._thinking.rename("Thought, interrupted")
            self._thinking = None

    def show_pins(self, turns: Iterable[int]) -> None:
        """Mark the blocks of these turns as pinned, and no others."""
        self._pins = frozenset(turns)
        self._mark_pins(self.children)

    def _mark_pins(self, blocks: Iterable[Widget]) -> None:
        for block in blocks:
            if isinstance(block, Pinnable) and block.pinned != (block.pin_turn in self._pins):
                block.show_pinned(not block.pinned)

    # --- bounds ----------------------------------------------------------------------------------------------

    async def _mount(self, blocks: Sequence[Widget], *, before: int | None = None) -> None:
        for block in blocks:
            if isinstance(block, ToolCard):
                self._cards[block.call_id] = block
                self._show_running(block)
        self._mark_pins(blocks)
        if blocks:
            await self.mount_all(blocks, before=before)

    async def _trim_top(self) -> None:
        """Drop the oldest blocks while the person is at the bottom and cannot see them."""
        if len(self.children) <= MOST_BLOCKS or not self.at_bottom:
            return
        await self._drop(list(self.children)[:-KEPT_BLOCKS])
        self.has_older = True

    @property
    def at_bottom(self) -> bool:
        """Whether the transcript follows what is new."""
        return self.is_vertical_scroll_end

    async def _drop(self, blocks: Sequence[Widget]) -> None:
        for block in blocks:
            if isinstance(block, ToolCard):
                self._cards.pop(block.call_id, None)
        await self.remove_children(blocks)
