"""One line of text asked for."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from loom.text import show_line
from loom.tui.widgets.key_order import LineBox


class _AskedLine(LineBox):
    """The line, which is all marked as it opens, to be written over."""

    def action_copy(self) -> None:
        # Nobody marked that: Ctrl+C is meant for the dialog.
        if self.selected_text == self.value:
            raise SkipAction
        super().action_copy()


class AskScreen(ModalScreen[str | None]):
    """Gives the line; None when it was left, emptied or not changed."""

    DEFAULT_CSS = """
    AskScreen {
        align: center middle;
        & > Vertical {
            width: 72;
            max-width: 96%;
            height: auto;
            padding: 1 2;
            border: round $primary;
            background: $surface;
        }
        & .question { height: auto; text-style: bold; margin-bottom: 1; }
        & .keys { height: 1; color: $text-muted; margin-top: 1; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Leave", show=False)]

    def __init__(self, question: str, initial: str = "", *, max_length: int = 200) -> None:
        super().__init__()
        self._question = question
        self._initial = show_line(initial, max_length)
        self._max_length = max_length

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Content(show_line(self._question, 300)), classes="question", markup=False)
            yield _AskedLine(self._initial, max_length=self._max_length, compact=True)
            yield Static(Content("Enter keeps it, Esc leaves it as it was"), classes="keys", markup=False)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        value = event.value.strip()
        self.dismiss(value if value and value != self._initial else None)
