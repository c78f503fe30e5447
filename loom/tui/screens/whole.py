"""A modal screen for reading one text whole, however long."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Footer, Static

from loom.text import show_line
from loom.tui.screens.sheet import TextSheet
from loom.tui.widgets.text_view import TextView


class WholeTextScreen(TextSheet):
    """The whole of a result, a diff or an answer, folded at the screen's width. Nothing is left out."""

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
            yield Footer(show_command_palette=False)

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self._text)
        self.notify("Copied.", markup=False)
