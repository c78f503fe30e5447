"""A block of code in an answer: highlighted, and drawn only where it is on the screen.

Textual's own draws the whole block at every change: 600 lines stop the screen for the better part of a second.
"""

from __future__ import annotations

from typing import Any

from markdown_it.token import Token
from rich.segment import Segment
from textual.app import ComposeResult
from textual.content import Content, Span
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widgets import Markdown
from textual.widgets._markdown import MarkdownBlock, MarkdownFence

from loom.tui.folding import folded

MOST_HIGHLIGHTED = 20_000
"""Characters of one block that are highlighted; lexing takes about 1 ms for 1,000."""

PLAIN = "text"
"""The language of what is none, as Pygments calls it."""


def code_rows(code: str, language: str, width: int) -> list[Content]:
    """The code in rows of at most `width` cells, with the spans of its highlighting; nothing is left out. Code that
    names no language is not highlighted."""
    text = code.expandtabs(4)
    # Without a language Textual guesses: the first time Pygments imports all of its lexers for that, which stops the
    # screen for 0.4 s and more, and every time it asks all of them, 0.1 s for 8,000 characters.
    whole = MarkdownFence.highlight(text, language or PLAIN) if len(text) <= MOST_HIGHLIGHTED else Content(text)
    by_line = _spans_by_line(text, whole.spans)
    rows: list[Content] = []
    for line, spans in zip(text.split("\n"), by_line, strict=True):
        content, at = Content(line, spans), 0
        for row in folded(line, width):
            rows.append(content[at : at + len(row)])
            at += len(row)
    return rows


def _spans_by_line(text: str, spans: Any) -> list[list[Span]]:
    """The spans cut at the line ends, counted from the beginning of their line."""
    lines = text.split("\n")
    result: list[list[Span]] = [[] for _ in lines]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    at = 0
    for span in sorted(spans):
        while at + 1 < len(lines) and span.start >= starts[at + 1]:
            at += 1
        row = at
        while row < len(lines) and starts[row] < span.end:
            first, last = max(span.start - starts[row], 0), min(span.end - starts[row], len(lines[row]))
            if first < last:
                result[row].append(Span(first, last, span.style))
            row += 1
    return result


class Code(ScrollView, can_focus=False):
    """The rows of a block of code."""

    DEFAULT_CSS = "Code { height: auto; overflow: hidden hidden; padding: 0 1; }"

    def __init__(self, code: str, language: str) -> None:
        super().__init__()
        self._source = (code, language)
        self._rows: list[Content] = []
        self._folded: tuple[str, str, int] | None = None

    def show(self, code: str, language: str) -> None:
        """Draw this instead."""
        self._source = (code, language)
        self._fold(self.content_size.width)
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        self._fold(width)
        return len(self._rows)

    def on_resize(self) -> None:
        self._fold(self.content_size.width)

    def _fold(self, width: int) -> None:
        if width > 0 and self._folded != (*self._source, width):
            self._folded = (*self._source, width)
            self._rows = code_rows(*self._source, width)
            self.virtual_size = Size(width, len(self._rows))

    def render_line(self, y: int) -> Strip:
        index, width, style = self.scroll_offset.y + y, self.content_size.width, self.visual_style
        row = self._rows[index] if index < len(self._rows) else Content("")
        # The highlighting names theme colours, which only a stylesheet can resolve.
        parts = row.render(style, end="", parse_style=self.app.stylesheet.parse_style)
        strip = Strip([Segment(text, part.rich_style) for text, part in parts])
        return strip.adjust_cell_length(width, style.rich_style).apply_offsets(0, index)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """What the mouse selected, for copying."""
        return selection.extract("\n".join(row.plain for row in self._rows)), "\n"


class Fence(MarkdownFence):
    """Textual's fence with our way of drawing."""

    def __init__(self, markdown: Markdown, token: Token, code: str) -> None:
        # Past MarkdownFence: its own would highlight here, and once more when it is mounted.
        MarkdownBlock.__init__(self, markdown, token)
        self.code = code
        self.lexer = token.info
        self.auto_links = False

    def notify_style_update(self) -> None:
        MarkdownBlock.notify_style_update(self)

    def compose(self) -> ComposeResult:
        yield Code(self.code, self.lexer)

    async def _update_from_block(self, block: MarkdownBlock) -> None:
        if isinstance(block, Fence):
            self._token, self.code, self.lexer = block._token, block.code, block.lexer
            for code in self.query(Code):
                code.show(self.code, self.lexer)
        else:
            await MarkdownBlock._update_from_block(self, block)
