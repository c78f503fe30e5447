"""What the archive browser shows: a query, what it is limited to, the hits by session, the turn under the cursor."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import Input

from loom.archive.records import SearchHit, SearchPage
from loom.errors import LoomError
from loom.text import show_line
from loom.tui.age import utc_now
from loom.tui.choices import ArchiveResult
from loom.tui.filter_completion import FILTERS, Choice, Typed, asked_by, choices_for
from loom.tui.named_turn import named_turn
from loom.tui.readers import SearchReader, Within, turns_near
from loom.tui.screens.ending_work import EndsItsWork
from loom.tui.search_words import counted, outcome
from loom.tui.widgets.completion import CompletionPopup
from loom.tui.widgets.facet_bar import Facet, FacetBar, FacetName, Facets, Scope, next_facet
from loom.tui.widgets.hit_list import HitList, grouped
from loom.tui.widgets.hit_preview import HitPreview, preview_page
from loom.tui.widgets.key_bar import KeyBar
from loom.tui.widgets.list_note import ListNote
from loom.tui.widgets.query_box import QueryBox
from loom.tui.widgets.row_list import RowList
from loom.tui.widgets.title_line import TitleLine

SHORTEST_QUERY = 2
MOST_HITS = 100
WIDE = 100
"""Cells from which the turn stands beside the hits; below, it stands under them."""
LOW = 20
"""Lines under which there is room for the hits alone; v shows the turn."""


class SearchingScreen(EndsItsWork, Screen[ArchiveResult | None]):
    """Searches for what stands in the box, and shows what is found.

    Typing never waits: a search runs in a worker that the next key replaces, and what it would have found is dropped.
    """

    DEFAULT_CSS = """
    SearchingScreen {
        & #query { margin: 0 1; }
        & #said { max-height: 6; padding: 0 1; }
        & #found { layout: vertical; height: 1fr; }
        & HitList { height: 1fr; border-top: solid $border-blurred; }
        & HitPreview { height: 1fr; border-top: solid $border-blurred; }
        &.-wide #found { layout: horizontal; }
        &.-wide HitList { width: 2fr; }
        &.-wide HitPreview { width: 3fr; border-left: solid $border-blurred; }
        &.-low HitPreview { display: none; }
        &.-low HitList { border-top: none; }
    }
    """
    AUTO_FOCUS = "#query"

    def __init__(
        self,
        reader: SearchReader,
        *,
        session_id: str | None,
        workspace: str | None,
        query: str = "",
        scope: Scope | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        """A scope that has nothing to be about is left out; the first one that has is where it begins."""
        super().__init__()
        self._reader = reader
        self._session_id = session_id
        self._workspace = workspace
        self._query = query
        self._clock = clock
        self._scopes = tuple(
            each
            for each, about in ((Scope.SESSION, session_id), (Scope.WORKSPACE, workspace), (Scope.ALL, True))
            if about
        )
        self._facets = Facets(scope if scope in self._scopes else self._scopes[0])
        self._tools: tuple[str, ...] = ()
        """Those that were called in the scope, the ones used most first."""
        self._page: SearchPage | None = None
        self._asked = ""
        """What was searched for last, and …"""
        self._searching = False
        """… whether what is listed is not yet for that."""
        self._next: Callable[[], object] | None = None
        """What was asked for while it was searched: done on the first hit."""
        self._on_hit = False

    def compose(self) -> ComposeResult:
        yield TitleLine(Content.styled("Archive", "bold"))
        popup: CompletionPopup[Choice] = CompletionPopup()
        yield QueryBox(
            popup, show_line(self._query, 500), placeholder='words, "a phrase", a path, an error code', id="query"
        )
        yield popup
        yield FacetBar(self._facets)
        yield ListNote(id="said")
        with Container(id="found"):
            yield HitList(clock=self._clock)
            yield HitPreview()
        yield KeyBar()

    def on_mount(self) -> None:
        self._find_tools()
        self._ask()

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.width >= WIDE, "-wide")
        self.set_class(event.size.width < WIDE and event.size.height < LOW, "-low")

    # --- searching --------------------------------------------------------------------------------

    @on(Input.Changed, "#query")
    def _ask(self) -> None:
        """Search for what the box holds now; whatever is still being searched is dropped."""
        query = self._text
        self._asked, self._searching, self._next = query, len(query) >= SHORTEST_QUERY, None
        if not self._searching:
            self.workers.cancel_group(self, "search")
            self._show_page(None)
            typed = self.query_one(QueryBox).typed
            self._say(
                f"{typed.name}: wants a value. Searching {self._facets.words()}."
                if typed is not None and typed.is_bare
                else f"Type at least {SHORTEST_QUERY} characters. Searching {self._facets.words()}."
                f" Filters: {', '.join(FILTERS)}."
            )
        else:
            self._search(query, self._facets)

    @property
    def _text(self) -> str:
        return self.query_one(QueryBox).asked

    @property
    def _named(self) -> int:
        """The turn of this session that the query is, and nothing else; 0 when it is something else."""
        return named_turn(self._text) if self._session_id is not None else 0

    def _within(self, facets: Facets, *, everywhere: bool = False) -> Within:
        """Where to look."""
        return {
            "session_id": self._session_id if facets.scope is Scope.SESSION and not everywhere else None,
            "workspace": self._workspace if facets.scope is Scope.WORKSPACE and not everywhere else None,
        }

    @work(exclusive=True, group="search")
    async def _search(self, query: str, facets: Facets) -> None:
        title = self.query_one(TitleLine)
        title.show(Content.styled("Archive", "bold"), Content.styled("searching…", "$foreground-muted"))
        asked = asked_by(query)
        within = self._within(facets, everywhere=asked.names_session)
        try:
            page = await self._reader.search(
                query,
                at_hand=self._session_id,
                limit=MOST_HITS,
                roles=[facets.role] if facets.role is not None else None,
                tools=[facets.tool] if facets.tool is not None else None,
                after=facets.after(self._clock()),
                patience=0,  # what is there at once, and that more is to come
                **within,
            )
            # Where the filters are to blame, it is not for how the words are spelt.
            spelt = page.has_words or page.obstacles
            near = () if spelt else await self._reader.nearest_words(query, **within)
        except LoomError as error:
            self._searching, self._next = False, None
            self._show_page(None)
            self._say(str(error), error=True)
            return
        if self._is_going:
            return
        self._searching = False
        self._show_page(page, mark_related=not asked.only_filters)
        typed = self.query_one(QueryBox).typed
        # While a filter is being written there is nothing to say about what it leaves.
        writing = typed is not None and typed.name is not None
        can_widen = len(self._scopes) > 1
        found = outcome(query, asked, facets, page, near, can_widen=can_widen, named=self._named)
        self._say("" if writing else found)
        if not page.hits and isinstance(self.focused, HitList):
            self.action_to_query()
        if self._next is not None:
            self._next()

    def _waits(self, action: Callable[[], object]) -> bool:
        """Whether it is still being searched; the action is then done when that is over."""
        if self._searching:
            self._next = action
        return self._searching

    @on(Facet.Pressed)
    def _pressed(self, event: Facet.Pressed) -> None:
        self.action_facet(event.name)

    def action_facet(self, name: FacetName) -> None:
        self._facets = next_facet(self._facets, name, scopes=self._scopes, tools=self._tools)
        self.query_one(FacetBar).show(self._facets)
        if name == "scope":
            self._find_tools()
        self._ask()

    @work(exclusive=True, group="tools")
    async def _find_tools(self) -> None:
        try:
            self._tools = await self._reader.find_tools(**self._within(self._facets))
        except LoomError as error:
            self._say(str(error), error=True)

    @on(RowList.LeftAtTop)
    def action_to_query(self) -> None:
        self.set_focus(self.query_one(QueryBox))

    # --- completing the filters -------------------------------------------------------------------

    @on(QueryBox.Completing)
    def _completing(self, event: QueryBox.Completing) -> None:
        self._complete(event.typed)

    @work(exclusive=True, group="complete")
    async def _complete(self, typed: Typed) -> None:
        try:
            choices = await choices_for(typed, self._reader, now=self._clock(), **self._within(self._facets))
        except LoomError as error:
            self._say(str(error), error=True)
            return
        if not self._is_going:
            self.query_one(QueryBox).offer(typed, choices)

    @on(CompletionPopup.Picked)
    def _picked(self, event: CompletionPopup.Picked) -> None:
        box = self.query_one(QueryBox)
        box.complete_with(event.entry)
        box.focus()

    @property
    def _is_going(self) -> bool:
        """Whether the screen or the program is being left: what would be drawn on may be gone already."""
        return not self.app.is_running or not self.query(HitList)

    def _show_page(self, page: SearchPage | None, *, mark_related: bool = True) -> None:
        self._page = page
        rows = grouped(page.hits) if page is not None else []
        hits = self.query_one(HitList)
        hits.mark_related = mark_related
        hits.set_items(rows)
        right = counted(page, MOST_HITS) if page is not None else ""
        self.query_one(TitleLine).show(Content.styled("Archive", "bold"), Content.styled(right, "$foreground-muted"))
        self.refresh_bindings()

    def _say(self, text: str, *, error: bool = False) -> None:
        self.query_one(ListNote).say(text, error=error)

    # --- the turn under the cursor ----------------------------------------------------------------

    @property
    def _hit(self) -> SearchHit | None:
        return self.query_one(HitList).hit

    @on(RowList.Moved)
    def _moved(self) -> None:
        hit = self._hit
        # The footer is made anew by this: only when it would say something else.
        if self._on_hit is not (hit is not None):
            self._on_hit = not self._on_hit
            self.refresh_bindings()
        self._preview(hit)

    @work(exclusive=True, group="preview")
    async def _preview(self, hit: SearchHit | None) -> None:
        if self._is_going:
            return
        preview = self.query_one(HitPreview)
        if hit is None:
            preview.show(None)
            return
        try:
            turns = await turns_near(self._reader, hit)
        except LoomError as error:
            preview.show(None)
            self._say(str(error), error=True)
            return
        preview.show(preview_page(turns, hit))
