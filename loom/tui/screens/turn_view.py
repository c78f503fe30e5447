"""A turn of the archive, whole and verbatim, and the turns before and after it."""

from __future__ import annotations

from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen

from loom.archive.records import SearchHit, Turn
from loom.errors import LoomError
from loom.text import plural, show_line
from loom.tui.highlight import found_at
from loom.tui.readers import SearchReader
from loom.tui.screens.ending_work import EndsItsWork
from loom.tui.turn_text import turn_heading, turn_text, verbatim
from loom.tui.widgets.key_bar import KeyBar
from loom.tui.widgets.text_view import TextView
from loom.tui.widgets.title_line import TitleLine


class TurnViewScreen(EndsItsWork, Screen[None]):
    """Scrollable, of any size; Left and Right turn the page, y copies."""

    DEFAULT_CSS = """
    TurnViewScreen {
        & TextView { height: 1fr; padding: 0 1; }
    }
    """
    AUTO_FOCUS = "TextView"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "step(-1)", "Before", key_display="←", priority=True),
        Binding("right,l", "step(1)", "After", key_display="→", priority=True),
        Binding("y", "copy", "Copy"),
        Binding("r", "turn_over", "Verbatim", tooltip="Calls as they are stored, and back to words"),
        Binding("j", "scroll(1)", "Down", show=False),
        Binding("k", "scroll(-1)", "Up", show=False),
        Binding("space", "page", "Page down", show=False),
        Binding("g", "edge(-1)", "First line", show=False),
        Binding("G", "edge(1)", "Last line", show=False),
        Binding("escape,q,v", "dismiss(None)", "Back", key_display="Esc"),
    ]

    def __init__(self, reader: SearchReader, turn: Turn, hit: SearchHit | None = None) -> None:
        """Where it is a `hit`, the match comes into view."""
        super().__init__()
        self._reader = reader
        self._turn = turn
        self._found = found_at(turn_text(turn), hit.snippet, hit.highlights) if hit is not None else None
        self._verbatim = False

    @property
    def _text(self) -> str:
        return (verbatim(self._turn) if self._verbatim else "") or turn_text(self._turn)

    def compose(self) -> ComposeResult:
        yield TitleLine()
        yield TextView(self._text, found=self._found)
        yield KeyBar()

    def on_mount(self) -> None:
        self._draw_title()

    def _draw_title(self) -> None:
        text = self._text
        size = f"{plural(text.count(chr(10)) + 1, 'line')} · {plural(len(text), 'character')}"
        self.query_one(TitleLine).show(
            Content.styled(turn_heading(self._turn), "bold"), Content.styled(size, "$foreground-muted")
        )

    @work(exclusive=True)
    async def action_step(self, by: int) -> None:
        wanted = self._turn.turn_number + by
        try:
            found = await self._reader.get_range(self._turn.session_id, wanted, wanted)
        except LoomError as error:
            self.notify(show_line(str(error), 300), severity="error", markup=False)
            return
        if not found:
            self.notify("That is the first turn." if by < 0 else "That is the last turn.", markup=False, timeout=2)
            return
        self._turn = found[0]
        await self._renew()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(verbatim(self._turn)) if action == "turn_over" else True

    async def action_turn_over(self) -> None:
        self._verbatim = not self._verbatim
        await self._renew()

    async def _renew(self) -> None:
        # With TextView a text is for life: the next one gets a view of its own.
        old, new = self.query_one(TextView), TextView(self._text)
        with self.app.batch_update():
            await self.mount(new, after=old)
            await old.remove()
        new.focus()
        self._draw_title()
        self.refresh_bindings()

    def action_copy(self) -> None:
        text = self._text
        self.app.copy_to_clipboard(text)
        self.notify(f"{plural(len(text), 'character')} copied.", markup=False, timeout=2)

    def action_scroll(self, by: int) -> None:
        self.query_one(TextView).scroll_relative(y=by, animate=False)

    def action_page(self) -> None:
        self.query_one(TextView).scroll_page_down(animate=False)

    def action_edge(self, side: int) -> None:
        view = self.query_one(TextView)
        if side < 0:
            view.scroll_home(animate=False)
        else:
            view.scroll_end(animate=False)
