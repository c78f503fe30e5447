"""A modal screen for reading one text whole, however long."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from loom.text import show_line
from loom.tui.widgets.key_bar import KeyBar
from loom.tui.widgets.text_view import TextView


class WholeTextScreen(ModalScreen[None]):
    """The whole of a result, a diff or an answer, folded at the screen's width. Nothing is left out."""

    DEFAULT_CSS = """
    WholeTextScreen {
        align: center middle;
        & > Vertical { width: 96%; height: 92%; background: $surface; border: round $primary; padding: 0 1; }
        & .title { text-style: bold; height: auto; max-height: 2; margin-bottom: 1; }
        & TextView { height: 1fr; }
    }
    """
    AUTO_FOCUS = "TextView"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,o", "dismiss", "Close", key_display="Esc"),
        Binding("y", "copy", "Copy", key_display="y"),
    ]

    def __init__(self, title: str, text: str, *, diff: bool = False) -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._diff = diff

    def compose(self) -> ComposeResult:
        size = f"{len(self._text):,} characters"
        with Vertical():
            yield Static(Content(f"{show_line(self._title, 160)}  ({size})"), classes="title", markup=False)
            yield TextView(self._text, diff=self._diff)
            yield KeyBar()

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self._text)
        self.notify("Copied.", markup=False)
