"""The sessions of a workspace: open one, start one, keep the list in order."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import datetime
from time import monotonic
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Input

from loom.archive.records import Session
from loom.errors import LoomError
from loom.text import show_line, storable
from loom.tui.age import utc_now
from loom.tui.choices import ArchiveResult, AttachTurn, ForkAt, JumpTo, NewSession, OpenSession, PickerResult, Quit
from loom.tui.listed_sessions import ListedSessions, read_listed
from loom.tui.places import is_gone
from loom.tui.readers import SearchReader, SessionReader
from loom.tui.screens.archive import ArchiveScreen
from loom.tui.screens.ask import AskScreen
from loom.tui.screens.confirm import ConfirmScreen
from loom.tui.screens.ending_work import EndsItsWork
from loom.tui.screens.help import HelpGroup, HelpScreen, group_of_bindings
from loom.tui.session_words import deletion_in_words, nothing_in_words, title_of_list
from loom.tui.widgets.facet_bar import Scope
from loom.tui.widgets.key_bar import KeyBar
from loom.tui.widgets.key_order import FilterLine
from loom.tui.widgets.list_note import ListNote
from loom.tui.widgets.row_list import RowList
from loom.tui.widgets.session_list import SessionList
from loom.tui.widgets.title_line import TitleLine

LOOK_SECONDS = 1.0
"""How often is looked which sessions other looms have open."""


class PickerScreen(EndsItsWork, Screen[PickerResult]):
    """`New session` first, then the sessions, newest first.

    Letters that are commands are commands; `/` starts the filter, and so does any other letter.
    """

    DEFAULT_CSS = """
    PickerScreen {
        & SessionList { padding: 0 1; }
        & #filter { display: none; margin: 0 1; }
        & #filter.-shown { display: block; }
        & #said { max-height: 4; padding: 0 2; dock: bottom; margin-bottom: 1; }
    }
    """
    AUTO_FOCUS = "SessionList"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "move(1)", show=False),
        Binding("up", "move(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        # As many as there is room for, so the first are those that are wanted most.
        Binding("u", "undo", "Undo", tooltip="Put back what was deleted last"),
        Binding("slash", "filter", "Filter", key_display="/", tooltip="Filter; so does any letter that is no command"),
        Binding(
            "ctrl+f",
            "archive",
            "Search",
            key_display="^F",
            priority=True,
            tooltip="Search everything that was ever said",
        ),
        Binding("n", "new", "New", show=False, tooltip="Start a new session"),
        Binding("d", "delete", "Delete", tooltip="Delete the session, after a yes; its turns stay in the archive"),
        Binding("a", "everywhere", "All", tooltip="Sessions of every workspace, or of this one only"),
        Binding("r", "rename", "Rename", tooltip="Give the session another title"),
        Binding("question_mark", "help", "Help", key_display="?", tooltip="This page"),
        Binding("escape", "clear", "Clear filter", key_display="Esc", tooltip="Clear the filter, back to the list"),
        Binding("escape", "dismiss(None)", "Back", key_display="Esc", tooltip="Back to the conversation"),
        Binding("escape", "leave", "Leave", key_display="Esc", tooltip="Leave loom"),
    ]

    def __init__(
        self,
        reader: SessionReader,
        workspace: str,
        *,
        search: SearchReader | None = None,
        open_id: str | None = None,
        begin_at: str | None = None,
        over: bool = False,
        clock: Callable[[], datetime] = utc_now,
        key_clock: Callable[[], float] = monotonic,
        said: str = "",
        help_groups: Sequence[HelpGroup] = (),
    ) -> None:
        """`open_id` is the session that is open behind this screen: marked, and not to be deleted. The cursor goes to
        that of `begin_at` as soon as it is listed. `over`: a conversation is behind it. `said` is what went wrong
        with what was to be opened; it stands whenever there is nothing newer to say."""
        super().__init__()
        self._reader = reader
        self._workspace = workspace
        self._search = search
        self._open_id = open_id
        self._begin_at = begin_at
        self._over = over
        self._clock = clock
        self._key_clock = key_clock
        self._standing = said
        self._help_groups = tuple(help_groups)
        self._here = workspace
        """The workspace as the archive has it: symlinks resolved."""
        self._everywhere = False
        self._listed = ListedSessions()
        self._deleted: list[Session] = []
        self._loading = True
        self._on_session = False

    def compose(self) -> ComposeResult:
        yield TitleLine()
        yield FilterLine(
            placeholder="title, focus, model, reference; Enter opens", id="filter", compact=True, select_on_focus=False
        )
        yield SessionList(clock=self._clock, open_id=self._open_id)
        yield ListNote(id="said")
        yield KeyBar()

    def on_mount(self) -> None:
        rows = self.query_one(SessionList)
        rows.command_keys, rows.filter_key = COMMAND_KEYS, "slash"
        self._load()
        self._look_elsewhere()

    # --- the list ---------------------------------------------------------------------------------

    @work(exclusive=True, group="load")
    async def _load(self) -> None:
        await self._read_or_say()

    async def _read_or_say(self) -> bool:
        """Show the list as it is; False, and said why, when it cannot be read."""
        try:
            await self._read()
        except LoomError as error:
            self._loading = False
            self._draw_title()
            self._say(str(error), error=True)
            return False
        return True

    async def _read(self) -> None:
        """The first page at once, then all of them. Raises what the archive raises."""
        everywhere = self._everywhere
        workspace = None if everywhere else self._workspace
        self._loading = True
        self._draw_title()
        self._here = storable(await asyncio.to_thread(os.path.realpath, self._workspace))
        async for listed in read_listed(self._reader, workspace):
            if everywhere is not self._everywhere:
                return  # The person switched meanwhile; a later read is on its way.
            self._listed, self._loading = listed, not listed.complete
            self._show_rows()
        self._look_for_folders()

    @work(exclusive=True, group="folders")
    async def _look_for_folders(self) -> None:
        """Find out which folders are gone; nothing waits for it, a folder of a network may take its time."""
        folders = self._listed.folders - {self._here}
        gone = await asyncio.to_thread(lambda: frozenset(filter(is_gone, folders)))
        rows = self.query_one(SessionList)
        if gone != rows.gone:
            rows.gone = gone
            rows.redraw()

    @work(group="elsewhere", exit_on_error=False)
    async def _look_elsewhere(self) -> None:
        """Mark what other looms have open, as they come and go."""
        rows = self.query_one(SessionList)
        while True:
            # Where the leases cannot be read, opening a session says what is wrong.
            with suppress(LoomError):
                elsewhere = frozenset(await self._reader.get_lease_holders())
                if elsewhere != rows.elsewhere:
                    rows.elsewhere = elsewhere
                    rows.repaint()
            await asyncio.sleep(LOOK_SECONDS)

    def _show_rows(self, *, to_best: bool = False) -> None:
        """Draw what the filter lets through. `to_best` puts the cursor on the first session found."""
        rows = self.query_one(SessionList)
        wanted = self.query_one("#filter", Input).value
        found = self._listed.having(wanted)
        rows.here = "" if self._everywhere else self._here
        rows.with_place = self._everywhere or bool(self._listed.folders - {self._here})
        rows.references = {session.id: session.reference for session in self._listed.all}
        rows.set_sessions(found, to_first=to_best and bool(wanted.strip()))
        if self._begin_at is not None and rows.move_to_session(self._begin_at):
            self._begin_at = None
        self._draw_title()
        self._say_how_empty(len(found))

    def _say_how_empty(self, found: int) -> None:
        wanted = self.query_one("#filter", Input).value
        if self._standing and not wanted.strip():
            self._say(self._standing, error=True)
        else:
            self._say("" if found or self._loading else nothing_in_words(wanted, everywhere=self._everywhere))

    def _draw_title(self) -> None:
        total, shown = len(self._listed.all), len(self.query_one(SessionList).items) - 1
        workspace = None if self._everywhere else self._workspace
        self.query_one(TitleLine).show(*title_of_list(workspace, total, shown, loading=self._loading))

    def _say(self, text: str, *, error: bool = False) -> None:
        self.query_one(ListNote).say(text, error=error)

    @property
    def _current(self) -> Session | None:
        row = self.query_one(SessionList).current
        return row if isinstance(row, Session) else None

    # --- the filter -------------------------------------------------------------------------------

    def action_filter(self, first: str = "") -> None:
        box = self.query_one("#filter", Input)
        box.add_class("-shown")
        box.focus()
        self.refresh_bindings()
        if first:
            box.insert_text_at_cursor(first)

    @on(SessionList.Typed)
    def _typed(self, event: SessionList.Typed) -> None:
        self.action_filter(event.text)

    @on(Input.Changed, "#filter")
    def _filtered(self) -> None:
        self._show_rows(to_best=True)

    @property
    def _filtering(self) -> bool:
        return self.is_mounted and self.query_one("#filter", Input).has_class("-shown")

    def action_clear(self) -> None:
        box = self.query_one("#filter", Input)
        box.remove_class("-shown")
        box.value = ""
        self.query_one(SessionList).focus()
        self.refresh_bindings()

    @property
    def leads_out(self) -> bool:
        """Whether Esc would leave loom."""
        return not self._over and not self._filtering

    def action_leave(self) -> None:
        self.dismiss(Quit())

    # --- what is done with a session --------------------------------------------------------------

    def action_move(self, by: int) -> None:
        """Up and Down in the filter move the cursor of the list."""
        self.query_one(SessionList).action_move(by)

    def action_page(self, by: int) -> None:
        self.query_one(SessionList).action_page(by)

    def action_new(self) -> None:
        self.dismiss(NewSession())

    @on(Input.Submitted, "#filter")
    @on(RowList.Chosen)
    def _open(self) -> None:
        session = self._current
        self.dismiss(OpenSession(session.id) if session is not None else NewSession())

    def action_everywhere(self) -> None:
        self._everywhere = not self._everywhere
        self._load()

    @work(exclusive=True, group="change")
    async def action_delete(self) -> None:
        session = self._current
        if session is None:
            return
        if session.id == self._open_id:
            self._say("This session is open; open another one first.", error=True)
            return
        title = show_line(session.title, 60) or "untitled"
        try:
            holder = (await self._reader.get_lease_holders()).get(session.id)
        except LoomError as error:
            self._say(str(error), error=True)
            return
        effect = deletion_in_words(session, self._clock(), holder)
        confirm = ConfirmScreen(f"Delete “{title}”?", effect, yes="delete it", no="keep it", clock=self._key_clock)
        if await self.app.push_screen_wait(confirm):
            self._deleted.append(session)
            said = f"“{title}” is deleted; u brings it back."
            if not await self._change(self._reader.delete_session(session.id), said):
                self._deleted.remove(session)

    @work(exclusive=True, group="change")
    async def action_undo(self) -> None:
        session = self._deleted.pop()
        title = show_line(session.title, 60) or "untitled"
        if not await self._change(self._reader.restore_session(session.id), f"“{title}” is back."):
            self._deleted.append(session)
            return
        # What came back is what the next key is meant for; a filter may hide it.
        self.query_one(SessionList).move_to_session(session.id)

    @work(exclusive=True, group="change")
    async def action_rename(self) -> None:
        session = self._current
        if session is None:
            return
        title = await self.app.push_screen_wait(AskScreen("A title for this session", session.title))
        if title is not None:
            await self._change(
                self._reader.rename_session(session.id, title), f"It is called “{show_line(title, 60)}” now."
            )

    async def _change(self, change: Awaitable[None], said: str) -> bool:
        """Make a change and show the list as it is then; False, and said why, when it could not be made."""
        try:
            await change
        except LoomError as error:
            self._say(str(error), error=True)
            return False
        if await self._read_or_say():
            self._say(said)
        self.refresh_bindings()
        return True

    # --- other screens ----------------------------------------------------------------------------

    async def action_archive(self, query: str = "") -> None:
        """Search for this, or for what filters the list."""
        if self._search is None:
            return
        session = self._current
        browser = ArchiveScreen(
            self._search,
            session_id=session.id if session is not None else None,
            workspace=self._workspace,
            query=query or self.query_one("#filter", Input).value,
            scope=Scope.ALL if self._everywhere else Scope.WORKSPACE,  # what is listed
            clock=self._clock,
        )
        # Until it is there no other key has its turn: what is typed next is meant for its query.
        await self.app.push_screen(browser, self._found)

    def _found(self, found: ArchiveResult | None) -> None:
        match found:
            case JumpTo(session_id, turn_number):
                self.dismiss(OpenSession(session_id, turn_number))
            case AttachTurn() | ForkAt():
                self.dismiss(found)

    def action_help(self) -> None:
        keys = group_of_bindings("Sessions", [*RowList.BINDINGS, *self.BINDINGS])
        self.app.push_screen(HelpScreen((keys, *self._help_groups)))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "undo":
                return bool(self._deleted)
            case "archive":
                return self._search is not None
            case "clear" | "filter":
                return self._filtering is (action == "clear")
            case "dismiss" | "leave":
                return not self._filtering and self._over is (action == "dismiss")
            case "delete" | "rename" if self.is_mounted:
                # Greyed out on `New session`.
                return True if self._current is not None else None
        return True

    @on(RowList.Moved)
    def _moved(self) -> None:
        # The footer is made anew by this: only when it would say something else.
        if self._on_session is not (self._current is not None):
            self._on_session = not self._on_session
            self.refresh_bindings()


# A command that has nothing to do at the moment is no letter of the filter either.
COMMAND_KEYS = frozenset(
    key
    for each in (*PickerScreen.BINDINGS, *SessionList.BINDINGS, *RowList.BINDINGS)
    if isinstance(each, Binding)
    for key in each.key.split(",")
)
