"""A list of any length with a cursor: only the rows on the screen are ever drawn."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, ClassVar, Generic, TypeVar

from rich.style import Style
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.content import Content
from textual.events import Click
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from loom.text import show_line

Item = TypeVar("Item")
_TURNED = Style(reverse=True)


class RowList(ScrollView, Generic[Item], can_focus=True):
    """Items drawn by `draw_row`, one to a few lines each. 10,000 of them cost what the visible ones cost.

    `draw_row` and `height_of` must be pure in the item and the width: what they give is kept until `redraw`.
    """

    DEFAULT_CSS = """
    RowList {
        height: 1fr;
        scrollbar-size-vertical: 1;
        overflow-x: hidden;
        & .row-list--cursor { background: $panel; }
        &:focus .row-list--cursor { background: $primary 25%; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"row-list--cursor"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("home,g", "edge(-1)", "First", show=False),
        Binding("end,G", "edge(1)", "Last", show=False),
        Binding("enter", "choose", "Open", tooltip="Open the row under the cursor"),
    ]

    class Moved(Message):
        """Another row is under the cursor."""

        def __init__(self, rows: RowList[Any], index: int) -> None:
            super().__init__()
            self.rows = rows
            self.index = index

        @property
        def control(self) -> RowList[Any]:
            return self.rows

    class Chosen(Moved):
        """Enter or a double click on the row under the cursor."""

    class LeftAtTop(Message):
        """Up was pressed on the first row."""

    def __init__(self, items: Sequence[Item] = (), *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._items: Sequence[Item] = items
        self._cursor = 0
        self._tops: list[int] = [0]
        self._width = 0
        self._drawn: LRUCache[tuple[int, bool, bool], list[Strip]] = LRUCache(256)

    # --- for the list at hand ---------------------------------------------------------------------

    def draw_row(self, item: Item, width: int) -> list[Content]:
        """The lines of one row, as many as `height_of` says, each at most `width` cells: the item's own words, unless
        a list draws its items in a way of its own."""
        return [Content(show_line(str(item), max(1, width)))]

    def height_of(self, item: Item, width: int) -> int:
        """Lines that the row takes."""
        return 1

    def selectable(self, item: Item) -> bool:
        """Whether the cursor may stand on it; a heading is not."""
        return True

    # --- what a screen does with it ---------------------------------------------------------------

    @property
    def items(self) -> Sequence[Item]:
        return self._items

    @property
    def cursor(self) -> int:
        """Index of the row under the cursor; meaningless while there are no rows."""
        return self._cursor

    @property
    def current(self) -> Item | None:
        """The item under the cursor."""
        return self._items[self._cursor] if self._selectable_at(self._cursor) else None

    def set_items(self, items: Sequence[Item], cursor: int = 0) -> None:
        """Show other items, with the cursor on the first selectable row from `cursor` on. Posts Moved."""
        self._items = items
        self._measure()
        start = max(0, min(cursor, len(items) - 1))
        found = self._step(start - 1, 1)
        self._cursor = start if found is None else found
        self._show_cursor()
        self.post_message(self.Moved(self, self._cursor))

    def move_to(self, index: int) -> None:
        """Put the cursor on a row. Posts Moved when that is another one."""
        if self._selectable_at(index) and index != self._cursor:
            self._cursor = index
            self._show_cursor()
            self.refresh()
            self.post_message(self.Moved(self, index))

    def redraw(self) -> None:
        """Draw every row anew: what the rows say has changed, or the width."""
        self._measure()
        self._show_cursor()

    def repaint(self) -> None:
        """Draw every row anew, each as high as it was: nothing moves, whatever has been scrolled to."""
        self._drawn.clear()
        self.refresh()

    # --- keys and mouse ---------------------------------------------------------------------------

    def action_move(self, by: int) -> None:
        target = self._step(self._cursor, by)
        if target is not None:
            self.move_to(target)
        elif by < 0:
            # Headings above the first row come into view.
            self.scroll_to(y=0, animate=False)
            self.post_message(self.LeftAtTop())

    def action_page(self, by: int) -> None:
        here = self._tops[self._cursor] if self._items else 0
        line = here + by * max(1, self.scrollable_content_region.height - 1)
        target = max(0, min(len(self._items) - 1, bisect_right(self._tops, line) - 1))
        self._move_near(target, by)

    def action_edge(self, side: int) -> None:
        self._move_near(0 if side < 0 else len(self._items) - 1, -side)

    def action_choose(self) -> None:
        if self.current is not None:
            self.post_message(self.Chosen(self, self._cursor))

    def on_click(self, event: Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None:
            return
        line = offset.y + self.scroll_offset.y
        index = bisect_right(self._tops, line) - 1
        if line >= self._tops[-1] or not self._selectable_at(index):
            return
        self.move_to(index)
        if event.chain == 2:
            self.action_choose()

    def _move_near(self, index: int, direction: int) -> None:
        if not self._selectable_at(index):
            found = self._step(index, direction)
            found = self._step(index, -direction) if found is None else found
            if found is None:
                return
            index = found
        self.move_to(index)

    def _step(self, index: int, by: int) -> int | None:
        """The next selectable row in that direction; None when there is none."""
        index += by
        while 0 <= index < len(self._items):
            if self.selectable(self._items[index]):
                return index
            index += by
        return None

    def _selectable_at(self, index: int) -> bool:
        return 0 <= index < len(self._items) and self.selectable(self._items[index])

    # --- drawing ----------------------------------------------------------------------------------

    def on_mount(self) -> None:
        super().on_mount()  # type: ignore[no-untyped-call]
        self._measure()

    def on_resize(self) -> None:
        if self.scrollable_content_region.width != self._width:
            self.redraw()
        else:
            self._show_cursor()

    def on_focus(self) -> None:
        self._drawn.clear()

    def on_blur(self) -> None:
        self._drawn.clear()

    def notify_style_update(self) -> None:
        self._drawn.clear()
        super().notify_style_update()

    def _measure(self) -> None:
        self._width = self.scrollable_content_region.width
        self._tops = list(accumulate((self.height_of(item, self._width) for item in self._items), initial=0))
        self._drawn.clear()
        self.virtual_size = Size(self._width, self._tops[-1])
        self.refresh()

    def _show_cursor(self) -> None:
        if not self._items or not self._width:
            return
        # The first row brings the headings above it into view.
        first = self._step(-1, 1)
        top = 0 if self._cursor == first else self._tops[self._cursor]
        region = Region(0, top, self._width, self._tops[self._cursor + 1] - top)
        self.scroll_to_region(region, animate=False, force=True, immediate=True)

    def render_line(self, y: int) -> Strip:
        line = self.scroll_offset.y + y
        width = self.scrollable_content_region.width
        if line >= self._tops[-1]:
            return Strip.blank(width, self.rich_style)
        index = bisect_right(self._tops, line) - 1
        strips = self._strips(index)
        at = line - self._tops[index]
        return strips[at] if at < len(strips) else Strip.blank(width, self.rich_style)

    @property
    def _turned(self) -> bool:
        """Whether the stylesheet draws the cursor the other way round; a visual style leaves that out."""
        return bool(self.get_component_styles("row-list--cursor").text_style.reverse)

    def _strips(self, index: int) -> list[Strip]:
        on_cursor = index == self._cursor and self._selectable_at(index)
        key = (index, on_cursor, self.has_focus)
        strips = self._drawn.get(key)
        if strips is None:
            style = self.get_visual_style("row-list--cursor") if on_cursor else self.visual_style
            width = self.scrollable_content_region.width
            strips = []
            for content in self.draw_row(self._items[index], width):
                line = content.truncate(width, ellipsis=True, pad=True)
                drawn = Visual.to_strips(self, line, width, 1, style)
                # A wide character cut at the edge leaves a cell to fill.
                strip = drawn[0] if drawn else Strip([])
                strip = strip.adjust_cell_length(width, style.rich_style)
                strips.append(strip.apply_style(_TURNED) if on_cursor and self._turned else strip)
            self._drawn[key] = strips
        return strips
