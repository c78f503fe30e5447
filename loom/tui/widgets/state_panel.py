"""The session state beside the conversation: what is wanted, forbidden, decided and done, each with its turn."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from loom.state import SessionState
from loom.text import show_line
from loom.tui.state_rows import StateRow, state_rows
from loom.tui.widgets.line import split_line, turn_label
from loom.tui.widgets.row_list import RowList

WIDE_ENOUGH = 120
"""Columns of the terminal from which the panel is shown unless the person said otherwise: below, the conversation
would have less than 80 left."""

TITLE = "Session state"
MOST_LINES = 4
"""Lines of one entry; its turn, one key away, has the whole."""
_LABEL = 6
"""Cells kept for the turn at the right."""
_SIGN = 2


class StateList(RowList[StateRow]):
    """The entries under their headings, folded at the panel's width."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Go to turn", tooltip="Show the turn that this entry comes from"),
        Binding("y", "yaml", "What the model gets", tooltip="The state as YAML, as it stands in every request"),
    ]

    class YamlWanted(Message):
        """The person wants to see what the model is sent."""

    def selectable(self, item: StateRow) -> bool:
        return not item.heading

    def height_of(self, item: StateRow, width: int) -> int:
        return len(_lines(item, width))

    def draw_row(self, item: StateRow, width: int) -> list[Content]:
        if item.heading:
            return [Content.styled(each, "$text-primary bold") for each in _lines(item, width)]
        sign = Content.styled(item.sign.ljust(_SIGN), "$text-error" if item.bad else "$text-success")
        first, *rest = _lines(item, width)
        label = Content.styled(turn_label(item.turn).rjust(_LABEL - 1), "$foreground-muted")
        return [split_line(sign.append(first), label, width), *(Content(" " * _SIGN + line) for line in rest)]

    def action_yaml(self) -> None:
        self.post_message(self.YamlWanted())


def _lines(item: StateRow, width: int) -> list[str]:
    """The entry's words, safe to draw, in at most MOST_LINES."""
    text = show_line(item.text, 600)
    if item.heading:
        # An empty line sets a section off from the one above it.
        return ["", text]
    room = max(4, width - _SIGN - _LABEL)
    lines = [line.plain.rstrip() for line in Content(text).wrap(room)] or [""]
    return lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], lines[MOST_LINES - 1][: room - 1] + "…"]


class StatePanel(Vertical):
    """For a person. What the model gets of it, exactly, is one key away."""

    DEFAULT_CSS = """
    StatePanel {
        width: 38;
        height: 1fr;
        padding: 0 1;
        border-left: vkey $panel;
        & > .panel-title { color: $text-muted; text-style: bold; }
        & > .panel-empty { display: none; height: auto; color: $text-muted; margin-top: 1; }
        & > StateList .row-list--cursor { background: $background 0%; }
        & > StateList:focus .row-list--cursor { background: $primary 25%; }
    }
    """

    class TurnWanted(Message):
        """The person wants to read this turn in the conversation."""

        def __init__(self, turn: int) -> None:
            super().__init__()
            self.turn = turn

    def compose(self) -> ComposeResult:
        yield Static(Content(TITLE), classes="panel-title", markup=False)
        empty = "Nothing yet. What you ask, forbid and decide, and what is changed and run, stands here with its turn."
        yield Static(Content(empty), classes="panel-empty", markup=False)
        yield StateList()

    def stand_alone(self, alone: bool) -> None:
        """Whether the panel has the conversation's place; then it says how to get back there."""
        self.query_one(".panel-title", Static).update(Content(f"{TITLE} · ^S goes back" if alone else TITLE))

    def show_state(self, state: SessionState) -> None:
        """Draw this state."""
        rows, entries = state_rows(state), self.query_one(StateList)
        self.query_one(".panel-empty").display = not rows
        entries.display = bool(rows)
        if list(entries.items) != rows:
            entries.set_items(rows, entries.cursor)

    def take_keyboard(self) -> bool:
        """Put the keyboard on the entries; False while none can be seen."""
        entries = self.query_one(StateList)
        if not self.display or not entries.display:
            return False
        entries.focus()
        return True

    @on(RowList.Chosen)
    def _chosen(self, event: RowList.Chosen) -> None:
        event.stop()
        row = self.query_one(StateList).current
        if row is not None and row.turn:
            self.post_message(self.TurnWanted(row.turn))

    @on(RowList.Moved)
    @on(RowList.LeftAtTop)
    def _moved(self, event: Message) -> None:
        event.stop()
