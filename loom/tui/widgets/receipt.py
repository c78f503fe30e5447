"""A receipt in the transcript: which turns left the window, and what can be done with them."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from loom.tui.keys import bindings
from loom.tui.widgets.line import ReceiptLine
from loom.turn_numbers import Ranges


class LeftWanted(Message):
    """The person wants to see the turns that left, or to have them in the window again at once."""

    def __init__(self, ranges: Ranges, *, bring_back: bool) -> None:
        super().__init__()
        self.ranges = ranges
        self.bring_back = bring_back


class _Button(Static):
    """One thing to do, for the mouse."""

    DEFAULT_CSS = """
    _Button {
        width: auto;
        height: 1;
        margin: 0 2 0 0;
        color: $text-accent;
        &:hover { background: $accent 20%; }
    }
    """

    def __init__(self, words: str, ranges: Ranges, *, bring_back: bool) -> None:
        super().__init__(Content(words), markup=False)
        self._ranges = ranges
        self._bring_back = bring_back

    def on_click(self, event: Click) -> None:
        event.stop()
        self.post_message(LeftWanted(self._ranges, bring_back=self._bring_back))


class Receipt(Vertical, can_focus=True):
    """The line, and beneath it what can be done with the turns that it names."""

    DEFAULT_CSS = """
    Receipt {
        height: auto;
        margin: 0 1 1 1;
        &:focus > ReceiptLine { background: $primary 20%; color: $text; }
        & > ReceiptLine { margin: 0; }
        & > Horizontal { height: 1; padding: 0 1; border-left: outer $secondary 60%; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = bindings("receipt")

    def __init__(self, text: str, ranges: Ranges) -> None:
        super().__init__()
        self.source = text
        self.ranges = ranges

    def compose(self) -> ComposeResult:
        yield ReceiptLine(self.source)
        with Horizontal():
            yield _Button("view, pin", self.ranges, bring_back=False)
            yield _Button("bring back", self.ranges, bring_back=True)

    def action_view_left(self) -> None:
        self.post_message(LeftWanted(self.ranges, bring_back=False))

    def action_bring_back(self) -> None:
        self.post_message(LeftWanted(self.ranges, bring_back=True))
