"""Which model answers from now on: a list of suggestions, or any name typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Resize
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from loom.models.suggesting import ModelSuggestion
from loom.text import show_line
from loom.tui.widgets.key_order import LineBox
from loom.tui.widgets.line import split_line
from loom.tui.widgets.row_list import RowList

NAME, NOTE = 100, 200
"""Most characters of a name and of a note."""
INDENT = 4
MOST_LINES = 12
"""Of the list; more are scrolled to."""
AROUND = 13
"""Lines of the screen that are not the list: border, padding, question, box, keys, and one above and below."""


def offered(suggestions: Sequence[ModelSuggestion], typed: str) -> tuple[ModelSuggestion, ...]:
    """What can be chosen while `typed` stands in the box: the suggestions that hold it, and the text itself.

    A text with a colon is a name already, so it comes first; any other text comes after what it may mean.
    """
    wanted = typed.strip()
    if not wanted:
        return tuple(suggestions)
    fitting = tuple(s for s in suggestions if wanted.casefold() in s.name.casefold())
    if any(s.name == wanted for s in fitting):
        return tuple(sorted(fitting, key=lambda s: s.name != wanted))
    itself = (ModelSuggestion(wanted, "as typed"),)
    return itself + fitting if ":" in wanted else fitting + itself


class ModelList(RowList[ModelSuggestion]):
    """Names and notes; a note that does not fit beside its name stands below it."""

    def __init__(self, items: Sequence[ModelSuggestion], current: str) -> None:
        super().__init__(items)
        self._now = current

    def height_of(self, item: ModelSuggestion, width: int) -> int:
        return len(self.draw_row(item, width))

    def draw_row(self, item: ModelSuggestion, width: int) -> list[Content]:
        mark = "● " if item.name == self._now else "  "
        name = Content.assemble((mark, "$text-success"), (show_line(item.name, NAME), "bold"))
        note = Content.styled(show_line(item.note, NOTE), "$foreground-muted")
        if not note or name.cell_length + 1 + note.cell_length <= width:
            return [split_line(name, note, width)]
        return [name, *(line.pad_left(INDENT) for line in note.wrap(max(1, width - INDENT)))]


class ChooseModelScreen(ModalScreen[str | None]):
    """Gives the name of a model, None when it was left. Whether the name is any good is not known here."""

    DEFAULT_CSS = """
    ChooseModelScreen {
        align: center middle;
        & > Vertical {
            width: 80;
            max-width: 96%;
            height: auto;
            max-height: 96%;
            padding: 1 2;
            border: round $primary;
            background: $surface;
        }
        & .question { height: auto; max-height: 2; text-style: bold; margin-bottom: 1; }
        & ModelList { height: auto; margin: 1 0 0 0; }
        & .keys { height: 1; color: $text-muted; margin-top: 1; }
    }
    """
    AUTO_FOCUS = "Input"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "move(1)", "Next", show=False),
        Binding("up", "move(-1)", "Previous", show=False),
        Binding("escape", "dismiss(None)", "Leave", show=False),
    ]

    def __init__(self, current: str, suggestions: Sequence[ModelSuggestion]) -> None:
        super().__init__()
        self._current = current
        self._suggestions = tuple(suggestions)

    def compose(self) -> ComposeResult:
        with Vertical():
            question = f"Which model answers from now on? Now: {show_line(self._current, 100)}"
            yield Static(Content(question), classes="question", markup=False)
            yield LineBox(placeholder="provider:model", compact=True)
            yield ModelList(self._suggestions, self._current)
            yield Static(Content("Enter takes the marked one, Esc leaves"), classes="keys", markup=False)

    def on_resize(self, event: Resize) -> None:
        # What scrolls is the list: the question and the keys are always to be seen.
        self.query_one(ModelList).styles.max_height = max(2, min(MOST_LINES, event.size.height - AROUND))

    def action_move(self, by: int) -> None:
        self.query_one(ModelList).action_move(by)

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        self.query_one(ModelList).set_items(offered(self._suggestions, event.value))

    @on(Input.Submitted)
    @on(RowList.Chosen)
    def _taken(self) -> None:
        chosen = self.query_one(ModelList).current
        self.dismiss(chosen.name if chosen is not None else None)
