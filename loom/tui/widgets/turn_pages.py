"""Stored turns as blocks, a page at a time, and never more of them than can be laid out at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.containers import VerticalScroll
from textual.message import Message
from textual.widget import Widget

from loom.archive.records import Turn
from loom.archive.rewound import is_rewound
from loom.tui.widgets.blocks import block_turn, blocks_for, first_turn, settle
from loom.tui.widgets.line import ErrorBlock, ReceiptLine
from loom.tui.widgets.pinnable import Pinnable
from loom.tui.widgets.reading_place import ReadingPlace
from loom.tui.widgets.tool_card import ToolCard
from loom.turn_numbers import Ranges

MOST_BLOCKS = 160
"""Every layout visits every widget: with 400 blocks each streamed piece took 0.6 s, with 100 under 0.1. Beyond this
the far end is dropped, and loaded again when it is scrolled to."""
KEPT_BLOCKS = 100


class TurnPages(VerticalScroll):
    """Asks for the next page where the person reaches the end of what is drawn. Stays at the bottom unless the person
    scrolled up."""

    DEFAULT_CSS = """
    TurnPages {
        height: 1fr;
        padding: 1 0 0 0;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        & > .-found { background: $accent 15%; }
        & > .-rewound {
            /* In the two columns that every block leaves free: no line breaks anew, and nothing moves. */
            border-left: dashed $foreground !important;
            padding-left: 1;
            opacity: 65%;
        }
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

    class NewestWanted(Message):
        """The newest turn is wanted, and turns on the way to it are not drawn."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.has_older = False
        """Whether the archive holds turns older than the oldest one drawn."""
        self.newer_dropped = False
        """Whether the newest turns were dropped while the person read far up."""
        self.origin = ""
        """What stands above the first turn; empty is nothing."""
        self._cards: dict[str, ToolCard] = {}
        self._asked_page = False
        self._pins: frozenset[int] = frozenset()
        self._rewound: Ranges = ()
        self._place = ReadingPlace(self)

    def on_mount(self) -> None:
        self.anchor()

    def on_resize(self) -> None:
        self._place.keep()

    # --- pages of stored turns -------------------------------------------------------------------------------

    async def show_page(
        self, turns: Sequence[Turn], *, has_older: bool, running: bool = False, at_end: bool = True
    ) -> None:
        """Draw these turns and nothing else; `running` leaves calls of the newest exchange that have no result open,
        `at_end` says that there are no newer ones."""
        self._cards.clear()
        blocks = blocks_for(turns)
        _settle_all_but(turns if running else (), blocks)
        with self.app.batch_update():
            await self.remove_children()
            await self._mount([*self._head(has_older), *blocks])
        self.has_older, self.newer_dropped, self._asked_page = has_older, not at_end, False
        self.anchor(at_end)

    def _head(self, has_older: bool) -> list[Widget]:
        return [ReceiptLine(self.origin)] if self.origin and not has_older else []

    async def add_older(self, turns: Sequence[Turn], *, has_older: bool, live: bool) -> None:
        """Put older turns above, keeping what the person reads where it is. `live` keeps the newest blocks,
        which an exchange is still drawing."""
        self.has_older = has_older
        blocks = blocks_for(turns)
        for block in [b for b in blocks if isinstance(b, ToolCard) and b.result is None]:
            # The result was drawn already, at the top of the newer page.
            if (card := self._result_alone(block.call_id)) is not None:
                card.set_call(block.tool_name, block.arguments, block.turn_number or 0)
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

    async def add_newer(self, turns: Sequence[Turn], *, running: bool = False, at_end: bool) -> None:
        """Put back newer turns that had been dropped; `running` and `at_end` as in `show_page`."""
        known = {block_turn(child) for child in self.children}
        blocks = [block for block in blocks_for(turns) if block_turn(block) not in known]
        _settle_all_but(turns if running else (), blocks)
        await self._mount(blocks)
        self.newer_dropped, self._asked_page = not at_end, False
        await self._trim_top()

    def page_failed(self) -> None:
        """The page that was asked for does not come; reaching the edge asks again."""
        self._asked_page = False

    def _hold(self, first: Widget, before: int) -> None:
        moved = first.virtual_region.y - before
        if moved:
            self.scroll_to(y=self.scroll_y + moved, animate=False, force=True, immediate=True)

    # --- where the person is ---------------------------------------------------------------------------------

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

    def action_scroll_end(self) -> None:
        self.to_newest()

    def to_newest(self) -> None:
        """Go to the newest turn and follow what comes, also from where what lies between is not drawn."""
        if self.newer_dropped:
            self.post_message(self.NewestWanted())
        else:
            self.anchor()

    def _top_reached(self) -> None:
        # A page that does not fill the screen cannot be scrolled, so no scroll tells that more is wanted.
        if self.scroll_y <= 0 and self.has_older and not self._asked_page and (oldest := self.oldest_turn):
            self._asked_page = True
            self.post_message(self.OlderWanted(oldest))

    @property
    def at_bottom(self) -> bool:
        """Whether the transcript follows what is new."""
        return self.is_vertical_scroll_end

    def reveal(self, turn: int) -> bool:
        """Scroll to the block of this turn and mark it; False if it is not drawn."""
        blocks = [block for block in self.children if 0 < first_turn(block) <= turn]
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
        return next((n for n in map(first_turn, self.children) if n), 0)

    @property
    def newest_turn(self) -> int:
        return next((n for n in map(block_turn, reversed(self.children)) if n), 0)

    # --- pins ------------------------------------------------------------------------------------------------

    def show_pins(self, turns: Iterable[int]) -> None:
        """Mark the blocks of these turns as pinned, and no others."""
        self._pins = frozenset(turns)
        self._mark_pins(self.children)

    def _mark_pins(self, blocks: Iterable[Widget]) -> None:
        for block in blocks:
            if isinstance(block, Pinnable) and block.pinned != (block.pin_turn in self._pins):
                block.show_pinned(not block.pinned)

    # --- what was rewound past -------------------------------------------------------------------------------

    def show_rewound(self, ranges: Ranges) -> None:
        """Mark the blocks of these turns as rewound past, and no others."""
        if ranges != self._rewound:
            self._rewound = ranges
            with self.app.batch_update():
                self._mark_rewound(self.children)

    def _mark_rewound(self, blocks: Iterable[Widget]) -> None:
        # Not what loom says of the window: the line that says what was rewound past is the newest of those turns.
        for block in blocks:
            if isinstance(block, Pinnable | ErrorBlock):
                block.set_class(is_rewound(block_turn(block), self._rewound), "-rewound")

    # --- bounds ----------------------------------------------------------------------------------------------

    @property
    def full(self) -> bool:
        """Whether no further block may be drawn without dropping another."""
        return len(self.children) >= MOST_BLOCKS

    async def _mount(self, blocks: Sequence[Widget], *, before: int | None = None) -> None:
        cards = [block for block in blocks if isinstance(block, ToolCard)]
        newest = {card.call_id: card for card in cards}
        # Above everything else stand older ones: what comes in is about the newest of an id.
        self._cards = self._cards | newest if before is None else newest | self._cards
        self._mark_pins(blocks)
        self._mark_rewound(blocks)
        if blocks:
            await self.mount_all(blocks, before=before)

    async def _trim_top(self) -> None:
        """Drop the oldest blocks while the person is at the bottom and cannot see them."""
        if len(self.children) <= MOST_BLOCKS or not self.at_bottom:
            return
        await self._drop(list(self.children)[:-KEPT_BLOCKS])
        self.has_older = True

    async def _drop(self, blocks: Sequence[Widget]) -> None:
        for block in blocks:
            if isinstance(block, ToolCard) and self._cards.get(block.call_id) is block:
                del self._cards[block.call_id]
        await self.remove_children(blocks)

    def _result_alone(self, call_id: str) -> ToolCard | None:
        """The card of a result whose call lies on an older page."""
        card = self._cards.get(call_id)
        alone = card is not None and card.result is not None and card.result.turn_number == card.turn_number
        return card if alone else None


def _settle_all_but(turns: Sequence[Turn], blocks: Sequence[Widget]) -> None:
    """Calls without a result were interrupted, but for those of the newest exchange of these turns, which runs."""
    runs = {turn.turn_number for turn in turns if turn.exchange == turns[-1].exchange}
    settle([block for block in blocks if block_turn(block) not in runs])
