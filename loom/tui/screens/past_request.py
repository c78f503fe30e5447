"""Time travel: any earlier request as the model saw it, and what is different from another one."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Sequence
from typing import ClassVar, Literal

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import Static

from loom.archive.records import RequestLine
from loom.context.compare import compare
from loom.context.seen import SeenRequest, Standing, counting_words
from loom.cowork.past_requests import PastRequests, find_request
from loom.errors import LoomError
from loom.text import show_line
from loom.times import local_time
from loom.tui.screens.ask import AskScreen
from loom.tui.screens.ending_work import EndsItsWork
from loom.tui.screens.whole import WholeTextScreen
from loom.tui.widgets.course_plot import course_content
from loom.tui.widgets.key_bar import KeyBar
from loom.tui.widgets.part_list import Heading, PartList, PartRow, Row, comparison_rows, request_rows
from loom.tui.widgets.title_line import TitleLine

LOW = 24
"""Lines of the terminal below which the picture is left out."""
PICTURE = 7
MARGIN = 2

_STANDINGS = {
    Standing.SAME: Content.styled("as it was sent ✓", "$text-success"),
    Standing.DIFFERENT: Content.styled("NOT as it was sent", "$text-error bold"),
    Standing.UNKNOWN: Content.styled("no digest to check it by", "$text-warning"),
}
_MORE = {
    Standing.SAME: "",
    Standing.DIFFERENT: "The digest kept with it is another one: something is not as the model saw it.",
    Standing.UNKNOWN: "An older loom sent it, or its digest is damaged: whether it looked so cannot be checked.",
}


class PastRequestScreen(EndsItsWork, Screen[None]):
    """One request of a session, part by part; Left and Right step to its neighbours."""

    DEFAULT_CSS = """
    PastRequestScreen {
        & #course { height: auto; padding: 0 1; }
        & #facts { height: auto; max-height: 4; padding: 0 1; margin-bottom: 1; }
        &.-low #course { display: none; }
    }
    """
    AUTO_FOCUS = "PartList"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "step(-1)", "Before", key_display="←", priority=True),
        Binding("right,l", "step(1)", "After", key_display="→", priority=True),
        Binding("home", "edge(-1)", "First request", show=False, priority=True),
        Binding("end", "edge(1)", "Last request", show=False, priority=True),
        Binding("d", "compare", "Compare", tooltip="What is different from the marked request, or from the one before"),
        Binding("t", "go_to", "Go to", tooltip="Go to a request (12) or to a turn (T57)"),
        Binding("m", "mark", "Mark", tooltip="Compare with this request from now on"),
        Binding("escape,q", "dismiss(None)", "Back", key_display="Esc"),
    ]

    def __init__(self, past: PastRequests, request: int | None = None) -> None:
        """Opens at `request`, else at the last one."""
        super().__init__()
        self._past = past
        self._wanted = request
        self._lines: Sequence[RequestLine] = ()
        self._seen: SeenRequest | None = None
        self._marked: int | None = None
        self._comparing = False
        self._reading = False

    def compose(self) -> ComposeResult:
        yield TitleLine(Content.styled("Requests", "bold"), "reading…")
        yield Static(id="course", markup=False)
        yield Static(id="facts", markup=False)
        yield PartList()
        yield KeyBar()

    def on_mount(self) -> None:
        self._open()

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.height < LOW, "-low")
        self._draw_course()

    @work(exclusive=True, group="lines")
    async def _open(self) -> None:
        """Read the list of requests (there may be more than last time), then the wanted one."""
        try:
            self._lines = await self._past.lines()
        except LoomError as error:
            self._say(str(error), "error")
            return
        if not self._lines:
            self._draw_title("")
            self.query_one("#facts", Static).update(Content("No request has been sent in this session yet."))
            return
        self._go(self._lines[-1].request if self._wanted is None else self._wanted)

    # --- which request ----------------------------------------------------------------------------

    @property
    def _ends(self) -> tuple[int, int]:
        return self._lines[0].request, self._lines[-1].request

    def _go(self, request: int) -> None:
        first, last = self._ends
        self._wanted = max(first, min(last, request))
        self._draw_title("reading…")
        self._draw_course()
        self._read()

    def action_step(self, by: int) -> None:
        if not self._lines or self._wanted is None:
            return
        first, last = self._ends
        if not first <= self._wanted + by <= last:
            self._say("That is the first request." if by < 0 else "That is the last request.")
            return
        self._go(self._wanted + by)

    def action_edge(self, side: int) -> None:
        if self._lines:
            self._wanted = self._lines[0].request if side < 0 else None
            self._open()

    def action_go_to(self) -> None:
        if self._lines:
            first, last = self._ends
            self.app.push_screen(AskScreen(f"A request ({first:,} to {last:,}), or a turn (T57)"), self._asked)

    def _asked(self, wanted: str | None) -> None:
        if wanted is None:
            return
        try:
            self._go(find_request(wanted, self._lines))
        except LoomError as error:
            self._say(str(error), "warning")

    def action_mark(self) -> None:
        if self._seen is not None:
            self._marked = self._seen.request
            self._say(f"Request {self._marked:,} is marked: d compares others with it.")

    def action_compare(self) -> None:
        if self._lines:
            self._comparing = not self._comparing
            self._read()

    # --- reading and drawing ----------------------------------------------------------------------

    @property
    def _asked_for(self) -> tuple[int | None, int | None]:
        """The wanted request, and the one to compare it with."""
        if not self._comparing or self._wanted is None:
            return self._wanted, None
        base = self._wanted - 1 if self._marked is None or self._marked == self._wanted else self._marked
        return self._wanted, base if base >= self._ends[0] else None

    @work(group="request", exit_on_error=False)
    async def _read(self) -> None:
        # One reader, however fast the keys come: what was asked for meanwhile is read when it is done.
        if self._reading:
            return
        self._reading = True
        drawn: tuple[int | None, int | None] | None = None
        try:
            while (asked := self._asked_for) != drawn:
                wanted, base = asked
                if wanted is None:
                    break
                seen = await self._past.seen(wanted)
                before = await self._past.seen(base) if base is not None else None
                if asked == self._asked_for:
                    self._show(seen, before)
                    drawn = asked
        except LoomError as error:
            self._draw_title("")
            self._say(str(error), "error")
        except Exception as error:  # noqa: BLE001 - said on the screen; the program goes on
            self._say(f"This request could not be shown: {type(error).__name__}: {error}", "error")
        finally:
            self._reading = False

    def _show(self, seen: SeenRequest, before: SeenRequest | None) -> None:
        self._seen = seen
        rows = request_rows(seen) if before is None else comparison_rows(compare(before, seen))
        if before is None and self._comparing:
            rows = [Heading("There is no request before this one."), *rows]
        self._draw_title(_STANDINGS[seen.standing])
        self._draw_facts(seen, before)
        self._set_rows(rows)

    def _set_rows(self, rows: list[Row]) -> None:
        parts = self.query_one(PartList)
        # Stepping keeps the eye where it was.
        parts.set_items(rows, min(parts.cursor, max(0, len(rows) - 1)))

    def _draw_title(self, right: Content | str) -> None:
        last = self._lines[-1].request if self._lines else 0
        words = f"Request {self._wanted or 0:,} of {last:,}" if self._lines else "Requests"
        self.query_one(TitleLine).show(
            Content.styled(words, "bold"),
            Content.styled(right, "$foreground-muted") if isinstance(right, str) else right,
        )

    def _draw_facts(self, seen: SeenRequest, before: SeenRequest | None) -> None:
        facts = [
            f"exchange {seen.exchange}",
            f"T{max((last for _, last in seen.turns), default=0)}",
            show_line(local_time(seen.created_at), 40),
            show_line(seen.model_name, 60),
            f"{seen.about}{seen.tokens:,} of {seen.window:,} tokens",
            counting_words(seen),
        ]
        if seen.reported_tokens and seen.cache_read_tokens is not None:
            facts.append(f"{seen.cache_read_tokens / seen.reported_tokens:.0%} from its cache")
        if before is not None:
            facts.append(f"compared with request {before.request:,}")
        troubles = [each for each in (_MORE[seen.standing], *(f"{gone}." for gone in seen.missing)) if each]
        lines = [
            Content(" · ".join(facts)),
            *(Content.styled(show_line(each, 300), "$text-warning") for each in troubles),
        ]
        self.query_one("#facts", Static).update(Content("\n").join(lines))

    def _draw_course(self) -> None:
        if self._lines and self.size.width:
            drawn = course_content(self._lines, max(20, self.size.width - MARGIN), PICTURE, self._wanted)
            self.query_one("#course", Static).update(drawn)

    @on(PartList.Chosen)
    @work(group="whole", exclusive=True)
    async def _open_part(self, event: PartList.Chosen) -> None:
        row = self.query_one(PartList).current
        if not isinstance(row, PartRow):
            return
        title = f"T{row.part.turn} {row.part.kind}" if row.part.turn is not None else row.part.segment.value
        if row.earlier is None:
            self.app.push_screen(WholeTextScreen(title, row.part.text))
            return
        text = await asyncio.to_thread(_difference, row.earlier.text, row.part.text)
        self.app.push_screen(WholeTextScreen(f"{title}, before and after", text, diff=True))

    def _say(self, words: str, severity: Literal["information", "warning", "error"] = "information") -> None:
        self.notify(show_line(words, 300), severity=severity, markup=False, timeout=4)


def _difference(earlier: str, later: str) -> str:
    lines = difflib.unified_diff(earlier.splitlines(), later.splitlines(), "before", "after", lineterm="", n=2)
    return "\n".join(lines)
