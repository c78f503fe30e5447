"""A scrolling view of a text of any size: only the lines on the screen are drawn."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from loom.text import show
from loom.tui.folding import folded
from loom.tui.widgets.diff import LineKind, line_kinds

Row = tuple[str, LineKind]


def fold(text: str, width: int, *, diff: bool = False) -> list[Row]:
    """Every character of the text, safe to draw, in rows of at most `width` cells."""
    lines = show(text).expandtabs(4).split("\n")
    plain: LineKind = "plain"
    kinds = line_kinds(lines) if diff else [plain] * len(lines)
    return [(row, kind) for line, kind in zip(lines, kinds, strict=True) for row in folded(line, width)]


class TextView(ScrollView, can_focus=True):
    """Text wrapped at the widget's width; a diff is coloured. Long lines are folded, never cut."""

    DEFAULT_CSS = """
    TextView {
        height: auto;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        overflow-x: hidden;
        & .text-view--added { color: $text-success; background: $success 15%; }
        & .text-view--removed { color: $text-error; background: $error 15%; }
        & .text-view--hunk { color: $text-accent; }
        & .text-view--file { color: $text-muted; }
        & .text-view--found { background: $warning 25%; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "text-view--added",
        "text-view--removed",
        "text-view--hunk",
        "text-view--file",
        "text-view--found",
    }

    class Laid(Message):
        """The view has another size, so that other lines may be hidden."""

    def __init__(
        self, text: str = "", *, diff: bool = False, found: tuple[int, int] | None = None, id: str | None = None
    ) -> None:
        """`found` is the part of the text, by its characters, whose lines are marked and come into view first."""
        super().__init__(id=id)
        self._text = text
        self._diff = diff
        self._found = found
        self._found_rows = range(0)
        self._was_shown = False
        self._rows: list[Row] = []
        self._width = 0

    @property
    def text(self) -> str:
        """The whole text, as it was given."""
        return self._text

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        # The column of the scrollbar is kept free whether it is drawn or not: it must never cover a character.
        self._fold(max(1, width - self.styles.scrollbar_size_vertical))
        return len(self._rows)

    def on_resize(self) -> None:
        self._fold(self.scrollable_content_region.width)
        if self._found_rows and not self._was_shown:
            self._was_shown = True
            self.call_after_refresh(self._show_found)
        self.post_message(self.Laid())

    def _show_found(self) -> None:
        above = self.scrollable_content_region.height // 3
        self.scroll_to(y=max(0, self._found_rows[0] - above), animate=False, immediate=True)

    @property
    def hidden_below(self) -> int:
        """Lines that stand below what is in view."""
        return max(0, len(self._rows) - self.scroll_offset.y - self.scrollable_content_region.height)

    def go(self, key: str) -> None:
        """Scroll as an arrow, Page Up or Down, Home or End says, in one step and at once."""
        page = self.scrollable_content_region.height
        steps = {"up": -1, "down": 1, "pageup": -page, "pagedown": page}
        line = self.scroll_offset.y + steps[key] if key in steps else self.max_scroll_y if key == "end" else 0
        self.scroll_to(y=line, animate=False, immediate=True)

    def _fold(self, width: int) -> None:
        if width <= 0 or width == self._width:
            return
        self._width = width
        self._rows = fold(self._text, width, diff=self._diff)
        if self._found is not None:
            first, last = (len(fold(self._text[:end], width)) for end in self._found)
            self._found_rows = range(first - 1, last)
        self.virtual_size = Size(width, len(self._rows))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        index = self.scroll_offset.y + y
        width = self.scrollable_content_region.width
        base = self.rich_style
        if index >= len(self._rows):
            return Strip.blank(width, base)
        text, kind = self._rows[index]
        name = "found" if index in self._found_rows else kind
        style = base if name == "plain" else base + self.get_component_rich_style(f"text-view--{name}")
        return Strip([Segment(text, style)]).adjust_cell_length(width, style)
