"""What is pinned: read whole, or let leave the window again."""

from __future__ import annotations

from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from loom.errors import LoomError
from loom.state.model import MAX_PINS, Pin
from loom.text import show_line
from loom.tui.screens.ending_work import EndsItsWork
from loom.tui.screens.whole import WholeTextScreen
from loom.tui.service import ChatService
from loom.tui.turn_text import turn_heading, turn_text, verbatim
from loom.tui.widgets.key_bar import KeyBar
from loom.tui.widgets.line import split_line, turn_label
from loom.tui.widgets.row_list import RowList


class PinList(RowList[Pin]):
    """One line a pin: its turn, its first words, whose it is."""

    def draw_row(self, item: Pin, width: int) -> list[Content]:
        words = Content.assemble((turn_label(item.turn).ljust(6), "$text-primary bold"), " ", show_line(item.text, 300))
        whose = "by you" if item.by == "person" else show_line(f"by the {item.by}", 20)
        return [split_line(words, Content.styled(whose, "$foreground-muted"), width)]


class PinsScreen(EndsItsWork, ModalScreen[None]):
    """The pins of one conversation. Unpinning is a note of the archive: pinning the turn again undoes it."""

    DEFAULT_CSS = """
    PinsScreen {
        align: center middle;
        & > Vertical {
            width: 100;
            max-width: 96%;
            height: auto;
            max-height: 90%;
            padding: 1 2;
            border: round $primary;
            background: $surface;
        }
        & .title { text-style: bold; height: 1; margin-bottom: 1; }
        & .empty { height: auto; color: $text-muted; margin-bottom: 1; }
        & PinList { height: auto; max-height: 20; margin-bottom: 1; }
    }
    """
    AUTO_FOCUS = "PinList"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u,delete", "unpin", "Unpin", key_display="u", tooltip="Let it leave the window again"),
        Binding("escape,q", "dismiss(None)", "Back", key_display="Esc"),
    ]

    def __init__(self, service: ChatService) -> None:
        super().__init__()
        self._service = service

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(classes="title", markup=False)
            yield PinList(self._service.state.pins)
            yield Static(
                Content("Nothing is pinned. /pin keeps a text, a turn (T12) or the last answer in the window."),
                classes="empty",
                markup=False,
            )
            yield KeyBar()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(self._service.state.pins) if action == "unpin" else True

    def on_mount(self) -> None:
        self._draw()

    def _draw(self) -> None:
        pins = self._service.state.pins
        title = f"Pinned: {len(pins)} of at most {MAX_PINS}, kept in the window whatever leaves it"
        self.query_one(".title", Static).update(Content(title))
        self.query_one(PinList).display = bool(pins)
        self.query_one(".empty").display = not pins
        # A list that nobody sees would still have the keyboard, and its keys would stand at the foot.
        self.query_one(PinList).can_focus = bool(pins)
        if not pins:
            self.set_focus(None)
        self.refresh_bindings()

    @on(RowList.Chosen)
    @work(exclusive=True, exit_on_error=False)
    async def _view(self) -> None:
        pin = self.query_one(PinList).current
        if pin is None:
            return
        try:
            turns = await self._service.transcript(pin.turn + 1, 1)
        except LoomError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        found = next((turn for turn in turns if turn.turn_number == pin.turn), None)
        if found is None:
            self.app.push_screen(WholeTextScreen(turn_label(pin.turn), pin.text))
        else:
            whole = WholeTextScreen(turn_heading(found), turn_text(found), verbatim=verbatim(found))
            self.app.push_screen(whole)

    @work(exclusive=True, group="unpin", exit_on_error=False)
    async def action_unpin(self) -> None:
        pins = self.query_one(PinList)
        pin = pins.current
        if pin is None:
            return
        try:
            await self._service.unpin(pin)
        except LoomError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        pins.set_items(self._service.state.pins, pins.cursor)
        self._draw()
