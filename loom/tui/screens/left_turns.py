"""The turns that left the window: read them, pin one, bring their exchanges back."""

from __future__ import annotations

from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen

from loom.archive.records import Turn
from loom.context.edges import cited
from loom.errors import LoomError
from loom.text import show_line
from loom.tui.screens.ending_work import EndsItsWork
from loom.tui.screens.whole import WholeTextScreen
from loom.tui.service import ChatService
from loom.tui.turn_text import turn_heading, turn_text, verbatim
from loom.tui.widgets.key_bar import KeyBar
from loom.tui.widgets.line import split_line, turn_label
from loom.tui.widgets.row_list import RowList
from loom.tui.widgets.title_line import TitleLine
from loom.turn_numbers import Ranges

MOST_TURNS = 300
"""Turns that are listed; /recall and Ctrl+F find the others."""


class LeftList(RowList[Turn]):
    """One line a turn: its number, who said it, its first words."""

    pinned: frozenset[int] = frozenset()

    def draw_row(self, item: Turn, width: int) -> list[Content]:
        label = turn_label(item.turn_number, pinned=item.turn_number in self.pinned).ljust(7)
        who = show_line(f"{item.role} {item.tool_name or ''}".strip(), 24)
        words = Content.assemble((label, "$text-primary bold"), " ", show_line(turn_text(item), 300))
        return [split_line(words, Content.styled(who, "$foreground-muted"), width)]


class LeftTurnsScreen(EndsItsWork, Screen[bool]):
    """Gives True when they are to be brought back. A turn that is pinned stands in the window whatever leaves it."""

    AUTO_FOCUS = "LeftList"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "pin", "Pin", tooltip="Keep the turn in the window"),
        Binding("p", "unpin", "Unpin", tooltip="Let the turn leave the window again"),
        Binding("b", "dismiss(True)", "Bring all back", tooltip="Put their exchanges into the window again"),
        Binding("escape,q,v", "dismiss(False)", "Back", key_display="Esc"),
    ]

    def __init__(self, service: ChatService, ranges: Ranges) -> None:
        super().__init__()
        self._service = service
        self._ranges = ranges

    def compose(self) -> ComposeResult:
        yield TitleLine(Content.styled(f"{cited(self._ranges)} left the window", "bold"))
        yield LeftList()
        yield KeyBar()

    def on_mount(self) -> None:
        self._load()

    @work(exclusive=True, group="left", exit_on_error=False)
    async def _load(self) -> None:
        turns: list[Turn] = []
        try:
            for first, last in self._ranges:
                last = min(last, first + MOST_TURNS - len(turns) - 1)  # noqa: PLW2901
                if last >= first:
                    turns += await self._service.transcript(last + 1, last - first + 1)
        except LoomError as error:
            self._say(error)
            return
        self._mark()
        self.query_one(LeftList).set_items(turns)
        whole = sum(last - first + 1 for first, last in self._ranges)
        if whole > len(turns):
            words = f"the first {len(turns):,} of {whole:,}; Ctrl+F finds the others"
            self.query_one(TitleLine).show(
                Content.styled(f"{cited(self._ranges)} left the window", "bold"),
                Content.styled(words, "$foreground-muted"),
            )

    def _mark(self) -> None:
        rows = self.query_one(LeftList)
        rows.pinned = frozenset(pin.turn for pin in self._service.state.pins)
        rows.redraw()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return {"pin": not self._on_pinned, "unpin": self._on_pinned}.get(action, True)

    @property
    def _on_pinned(self) -> bool:
        if not self.is_mounted:
            return False
        rows = self.query_one(LeftList)
        return rows.current is not None and rows.current.turn_number in rows.pinned

    @on(RowList.Moved)
    def _moved(self) -> None:
        self.refresh_bindings()

    @on(RowList.Chosen)
    def _view(self) -> None:
        turn = self.query_one(LeftList).current
        if turn is not None:
            self.app.push_screen(WholeTextScreen(turn_heading(turn), turn_text(turn), verbatim=verbatim(turn)))

    @work(exclusive=True, group="pin", exit_on_error=False)
    async def action_pin(self) -> None:
        turn = self.query_one(LeftList).current
        if turn is None:
            return
        try:
            pin = next((pin for pin in self._service.state.pins if pin.turn == turn.turn_number), None)
            if pin is not None:
                await self._service.unpin(pin)
            else:
                await self._service.pin_turn(turn.turn_number)
        except LoomError as error:
            self._say(error)
        self._mark()

    def action_unpin(self) -> None:
        self.action_pin()

    def _say(self, error: LoomError) -> None:
        self.notify(show_line(str(error), 300), severity="error", markup=False)
