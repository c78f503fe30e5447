"""The archive browser: everything that was ever said, searched as one types."""

from __future__ import annotations

from typing import ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input

from loom.archive.records import SearchHit, Turn
from loom.errors import LoomError
from loom.text import plural
from loom.tui.choices import AttachTurn, ForkAt, JumpTo
from loom.tui.readers import still_there
from loom.tui.screens.archive_searching import SearchingScreen
from loom.tui.screens.help import HelpScreen, group_of_bindings
from loom.tui.screens.turn_view import TurnViewScreen
from loom.tui.turn_text import turn_text
from loom.tui.widgets.hit_list import HitList
from loom.tui.widgets.query_box import QueryBox
from loom.tui.widgets.row_list import RowList


class ArchiveScreen(SearchingScreen):
    """Its keys, and what is done with the hits: jump, attach, fork, copy, export."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "view", "Whole", tooltip="The whole turn, however large"),
        Binding("a,p", "attach", "Attach", key_display="a", tooltip="Send the turn with the next message (p too)"),
        Binding("slash", "to_query", "Query", key_display="/", tooltip="Back to the query"),
        Binding("y", "copy", "Copy", tooltip="Copy the turn"),
        Binding("f", "fork", "Fork", tooltip="Fork the session after the exchange of this turn"),
        Binding("e", "export", "Export", tooltip="Write the hits to a file"),
        Binding("ctrl+t", "facet('scope')", "Scope", show=False, tooltip="This session, this workspace, everything"),
        Binding("ctrl+r", "facet('role')", "Role", show=False, tooltip="Whose turns"),
        Binding("ctrl+o", "facet('tool')", "Tool", show=False, tooltip="Which tool's results"),
        Binding("ctrl+g", "facet('time')", "Time", show=False, tooltip="How old at most"),
        Binding("f1,question_mark", "help", "Help", key_display="F1", tooltip="This page (? too, outside the query)"),
        Binding("escape", "dismiss(None)", "Back", key_display="Esc", tooltip="Back"),
    ]
    _OF_A_HIT = frozenset({"view", "attach", "copy", "fork", "export", "to_query"})
    """What the letters do on a hit; in the query they are letters."""

    class ExportHits(Message):
        """The hits are to be written to a file; the browser stays open."""

        def __init__(self, query: str, hits: tuple[SearchHit, ...]) -> None:
            super().__init__()
            self.query = query
            self.hits = hits

    async def _turn_of_hit(self) -> Turn | None:
        """The turn of the hit under the cursor."""
        if (hit := self._hit) is None:
            return None
        gone = f"T{hit.turn_number} is not in the archive any more."
        return await self._turn(hit.session_id, hit.turn_number, gone)

    async def _turn(self, session_id: str, number: int, gone: str) -> Turn | None:
        """A turn; None, and said why, when it cannot be read; `gone` when it is not there."""
        try:
            turns = await self._reader.get_range(session_id, number, number)
        except LoomError as error:
            self._say(str(error), error=True)
            return None
        if not turns:
            self._say(gone, error=True)
        return turns[0] if turns else None

    # --- keys -------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if not self.is_mounted:
            return True
        in_query = isinstance(self.focused, Input)
        # Before it is found, too: the key that comes next is meant for it.
        may_be_hit = self._hit is not None or self._searching or self._text != self._asked
        if action in self._OF_A_HIT:
            return not in_query and (action == "to_query" or may_be_hit)
        if action in ("to_hits", "open"):
            return in_query and (may_be_hit or (action == "open" and self._named > 0))
        return True

    def action_to_hits(self) -> None:
        # Not by `focus`, which lets the next key pass to the query.
        self.set_focus(self.query_one(HitList))

    def action_open(self) -> None:
        if self._named:
            self._go_to_named(self._named)
        else:
            self._jump()

    @work(exclusive=True, group="view")
    async def _go_to_named(self, number: int) -> None:
        session_id = self._session_id or ""
        if await self._turn(session_id, number, f"This session has no T{number}.") is not None:
            self.dismiss(JumpTo(session_id, number))

    @on(RowList.Chosen)
    def _jump(self) -> None:
        if not self._waits(self._jump) and (hit := self._hit) is not None:
            self.dismiss(JumpTo(hit.session_id, hit.turn_number))

    def action_attach(self) -> None:
        if not self._waits(self.action_attach) and (hit := self._hit) is not None:
            self.dismiss(AttachTurn(hit.session_id, hit.turn_number))

    def action_fork(self) -> None:
        if not self._waits(self.action_fork) and (hit := self._hit) is not None:
            self.dismiss(ForkAt(hit.session_id, hit.turn_number))

    @work(exclusive=True, group="export")
    async def action_export(self) -> None:
        if self._waits(self.action_export) or self._page is None:
            return
        query = self._text
        try:
            there = await still_there(self._reader, self._page.hits)
        except LoomError as error:
            self._say(str(error), error=True)
            return
        if there:
            self.post_message(self.ExportHits(query, there))
        else:
            self._say("None of these turns is in the archive any more.", error=True)

    @work(exclusive=True, group="copy")
    async def action_copy(self) -> None:
        if self._waits(self.action_copy):
            return
        if (turn := await self._turn_of_hit()) is not None:
            text = turn_text(turn)
            self.app.copy_to_clipboard(text)
            self.notify(f"T{turn.turn_number} copied, {plural(len(text), 'character')}.", markup=False, timeout=2)

    @work(exclusive=True, group="view")
    async def action_view(self) -> None:
        if self._waits(self.action_view):
            return
        if (hit := self._hit) is not None and (turn := await self._turn_of_hit()) is not None:
            self.app.push_screen(TurnViewScreen(self._reader, turn, hit))

    def action_help(self) -> None:
        keys = [*QueryBox.BINDINGS, *RowList.BINDINGS, *self.BINDINGS]
        self.app.push_screen(HelpScreen((group_of_bindings("Archive", keys, "In the query, letters are letters."),)))
