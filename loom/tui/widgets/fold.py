"""Texts that are folded away until they are wanted: thinking, summaries; and the wish to read a text whole."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from loom.text import plural, show, show_block
from loom.tui.keys import bindings
from loom.tui.widgets.line import split_line, turn_label
from loom.tui.widgets.pinnable import Pinnable


class WholeText(Message):
    """The person wants to read a text whole."""

    def __init__(self, title: str, text: str, *, diff: bool = False, verbatim: str = "") -> None:
        """`verbatim` is how it is stored, where the text is another form of it for a person."""
        super().__init__()
        self.title = title
        self.text = text
        self.diff = diff
        self.verbatim = verbatim


class FoldTitle(Widget, can_focus=False):
    """The line that opens and closes a fold."""

    DEFAULT_CSS = "FoldTitle { height: 1; width: 1fr; color: $text-muted; &:hover { color: $text; } }"

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title
        self.opened = False
        self.turn_number: int | None = None
        self.pinned = False

    def render(self) -> Content:
        left = Content(f"{'▾' if self.opened else '▸'} {self.title}")
        return split_line(
            left, Content.styled(turn_label(self.turn_number, pinned=self.pinned), "dim"), self.size.width
        )


class Fold(Vertical, Pinnable, can_focus=True):
    """A title that opens onto a text: thinking, a summary."""

    DEFAULT_CSS = """
    Fold {
        height: auto;
        margin: 0 1 1 1;
        padding: 0 0 0 2;
        &:focus > FoldTitle { background: $primary 20%; color: $text; }
        & > .folded { display: none; height: auto; color: $text-muted; padding-left: 2; text-style: italic; }
        &.-open > .folded { display: block; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = bindings("card")

    def __init__(self, title: str, text: str, turn_number: int | None = None) -> None:
        super().__init__()
        self.text = text
        self._title = FoldTitle(show(title))
        self._title.turn_number = turn_number
        self._body = Static("", classes="folded", markup=False)

    @property
    def title(self) -> str:
        return self._title.title

    @property
    def turn_number(self) -> int | None:
        return self._title.turn_number

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._body

    def rename(self, title: str) -> None:
        self._title.title = show(title)
        self._title.refresh()

    def action_fold(self) -> None:
        self._title.opened = self.toggle_class("-open").has_class("-open")
        self._draw()
        self._title.refresh()

    def action_whole(self) -> None:
        self.post_message(WholeText(self.title, self.text))

    @on(Click)
    def _clicked(self) -> None:
        self.action_fold()

    @property
    def pin_turn(self) -> int:
        return self.turn_number or 0

    def show_pinned(self, pinned: bool) -> None:
        super().show_pinned(pinned)
        self._title.pinned = pinned
        self._title.refresh()

    def set_turn(self, turn_number: int) -> None:
        self._title.turn_number = turn_number
        self._title.refresh()

    def _draw(self) -> None:
        if self.has_class("-open"):
            self._body.update(Content(show_block(self.text, max_chars=20_000)))


class Thinking(Fold):
    """The model's reasoning, folded."""

    def __init__(self, text: str = "", turn_number: int | None = None, *, running: bool = False) -> None:
        super().__init__("Thinking…" if running else f"Thought · {plural(len(text), 'character')}", text, turn_number)

    def append(self, text: str) -> None:
        self.text += text
        self._draw()

    def finish(self, text: str, turn_number: int, seconds: float) -> None:
        """The turn is stored; `seconds` is how long the thinking streamed."""
        self.text = text
        self.rename(f"Thought for {max(1, round(seconds))} s")
        self.set_turn(turn_number)
        self._draw()
