"""The line at the top of a screen: what it is on the left, how much of it on the right."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

from loom.tui.widgets.line import split_line


class TitleLine(Widget):
    """One line with two ends. What does not fit is cut from the left text."""

    DEFAULT_CSS = "TitleLine { height: 1; padding: 0 1; background: $panel; dock: top; }"

    def __init__(self, left: Content | str = "", right: Content | str = "", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._left = Content(left) if isinstance(left, str) else left
        self._right = Content(right) if isinstance(right, str) else right

    def show(self, left: Content, right: Content) -> None:
        """Say something else. Both must have passed `loom.text`."""
        self._left, self._right = left, right
        self.refresh()

    def render(self) -> Content:
        return split_line(self._left, self._right, self.content_size.width)
