"""The last rows of what a command has written, folded at the width as a terminal folds them."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from loom.tui.widgets.text_view import fold

ROWS = 6
"""Rows of the end of an output that are drawn without asking."""


class OutputTail(Widget):
    """Takes no more than ROWS rows, however long the output and its lines are; none when there is no output."""

    DEFAULT_CSS = """
    OutputTail { height: auto; padding-left: 2; color: $foreground-muted; text-wrap: nowrap; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._text = ""
        self.display = False

    def show(self, text: str) -> None:
        """Draw the end of this."""
        self._text = text.rstrip("\n")
        self.display = bool(self._text)
        width, height = self.content_size
        # A layout visits every widget of the transcript: only when there are more rows than before, or fewer.
        self.refresh(layout=len(self.rows(width)) != height)

    def rows(self, width: int) -> list[str]:
        """What is drawn in so many columns."""
        if not self._text:
            return []
        lines = [line[-ROWS * max(1, width) :] for line in self._text.split("\n")[-ROWS:]]
        return [row for row, _ in fold("\n".join(lines), max(1, width))][-ROWS:]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.rows(width))

    def render(self) -> Content:
        return Content("\n".join(self.rows(self.content_size.width)))
