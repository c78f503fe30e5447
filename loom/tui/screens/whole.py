"""A modal screen for reading one text whole, however long."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from loom.text import plural, show_line
from loom.tui.screens.sheet import TextSheet
from loom.tui.widgets.key_bar import KeyBar
from loom.tui.widgets.text_view import TextView


class WholeTextScreen(TextSheet):
    """The whole of a result, a diff or an answer, folded at the screen's width. Nothing is left out."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,o", "dismiss", "Back", key_display="Esc"),
        Binding("y", "copy", "Copy", key_display="y"),
        Binding("r", "turn_over", "Verbatim", tooltip="As it is stored, and back to words"),
    ]

    def __init__(self, title: str, text: str, *, diff: bool = False, verbatim: str = "") -> None:
        """`verbatim` is how it is stored, where the text is another form of it for a person."""
        super().__init__()
        self._title = title
        self._text = text
        self._diff = diff
        self._other = verbatim

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._heading(), classes="title", markup=False)
            yield TextView(self._text, diff=self._diff)
            yield KeyBar()

    def _heading(self) -> Content:
        return Content(f"{show_line(self._title, 160)}  ({plural(len(self._text), 'character')})")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(self._other) if action == "turn_over" else True

    async def action_turn_over(self) -> None:
        self._text, self._other = self._other, self._text
        # With TextView a text is for life: the other form gets a view of its own.
        old, new = self.query_one(TextView), TextView(self._text, diff=self._diff)
        with self.app.batch_update():
            await self.query_one(Vertical).mount(new, after=old)
            await old.remove()
        new.focus()
        self.query_one(".title", Static).update(self._heading())

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self._text)
        self.notify("Copied.", markup=False)
