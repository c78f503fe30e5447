"""The usage view: what the window holds, token by token, and what left it."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import Static

from loom.cowork.past_requests import PastRequests
from loom.errors import LoomError
from loom.text import show_line
from loom.tui.screens.ending_work import EndsItsWork
from loom.tui.screens.past_request import PastRequestScreen
from loom.tui.widgets.course_plot import cache_content, course_content
from loom.tui.widgets.key_bar import KeyBar
from loom.tui.widgets.title_line import TitleLine
from loom.tui.widgets.usage_grid import grid_content
from loom.tui.widgets.usage_table import (
    UsageReport,
    exchanges_content,
    left_content,
    outlook_content,
    requests_content,
    summary_content,
    table_content,
)

WIDE = 100
"""Cells from which the table stands beside the grid."""
MARGIN = 6
PICTURE = 10
"""Lines of the window's course."""


class UsageScreen(EndsItsWork, Screen[None]):
    """One report, drawn; `show` draws another."""

    DEFAULT_CSS = """
    UsageScreen {
        & VerticalScroll { padding: 1 2; scrollbar-size-vertical: 1; }
        & Static { height: auto; }
        & .heading { color: $text-primary; text-style: bold; margin-top: 1; }
        & #summary { margin-bottom: 1; }
        & #pictures { height: auto; layout: vertical; }
        & #table { margin-top: 1; }
        &.-wide #pictures { layout: horizontal; }
        &.-wide #grid { width: 46; }
        &.-wide #table { width: 1fr; margin: 0 0 0 2; }
    }
    """
    AUTO_FOCUS = "VerticalScroll"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll(1)", "Down", show=False),
        Binding("k", "scroll(-1)", "Up", show=False),
        Binding("left,t", "travel", "Earlier requests", key_display="←", tooltip="Any request as the model saw it"),
        Binding("escape,q,f2", "dismiss(None)", "Back", key_display="Esc"),
    ]

    def __init__(self, report: UsageReport, past: PastRequests | None = None) -> None:
        """`past` reads earlier requests; None before the first message."""
        super().__init__()
        self._report = report
        self._past = past
        self._reading = past is not None

    def compose(self) -> ComposeResult:
        yield TitleLine(Content.styled("The window", "bold"))
        with VerticalScroll():
            yield Static(id="summary", markup=False)
            with Container(id="pictures"):
                yield Static(id="grid", markup=False)
                yield Static(id="table", markup=False)
            yield Static(Content("Over the session"), classes="heading", markup=False)
            yield Static(id="course", markup=False)
            yield Static(id="cache", markup=False)
            yield Static(Content("What would leave next"), classes="heading", markup=False)
            yield Static(id="outlook", markup=False)
            yield Static(Content("In the window, newest first"), classes="heading", markup=False)
            yield Static(id="exchanges", markup=False)
            yield Static(Content("Left the window; the archive keeps it"), classes="heading", markup=False)
            yield Static(id="left", markup=False)
            yield Static(Content("Requests, newest first"), classes="heading", markup=False)
            yield Static(id="requests", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        if self._past is not None:
            self._read_requests(self._past)

    @work(group="requests", exclusive=True)
    async def _read_requests(self, past: PastRequests) -> None:
        """A long session has thousands: the rest is drawn meanwhile."""
        try:
            self._report = replace(self._report, requests=tuple(await past.lines()))
        except LoomError as error:
            self.notify(show_line(str(error), 300), severity="error", markup=False)
        self._reading = False
        self._draw(self.size.width)

    def show(self, report: UsageReport) -> None:
        """Draw another report."""
        self._report = report
        self._draw(self.size.width)

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.width >= WIDE, "-wide")
        self._draw(event.size.width)

    def _draw(self, screen_width: int) -> None:
        report, usage = self._report, self._report.usage
        width = max(20, screen_width - MARGIN)
        beside = screen_width >= WIDE
        reading = Content.styled("reading…", "$foreground-muted")
        contents = {
            "summary": summary_content(report),
            "grid": grid_content(usage, 20 if beside else min(30, width // 2)),
            "table": table_content(usage, width - 48 if beside else width),
            "course": reading if self._reading else course_content(report.requests, width, PICTURE, now=usage),
            "cache": Content() if self._reading else cache_content(report.requests, width),
            "outlook": outlook_content(report.outlook),
            "exchanges": exchanges_content(report.exchanges, width),
            "left": left_content(report.left),
            "requests": reading if self._reading else requests_content(report.requests, width),
        }
        for name, content in contents.items():
            self.query_one(f"#{name}", Static).update(content)

    def action_travel(self) -> None:
        if self._past is None or (not self._reading and not self._report.requests):
            self.notify("No request has been sent yet.", markup=False, timeout=2)
            return
        self.app.push_screen(PastRequestScreen(self._past))

    def action_scroll(self, by: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=by, animate=False)
