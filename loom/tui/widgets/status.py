"""The line at the top: which session, where, with which model, and whether it is at work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic

from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget

from loom.config import OFFLINE
from loom.text import show_line
from loom.tui.widgets.line import split_line

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
TICK = 0.1
"""Seconds between two pictures of the throbber."""


LEAST_TITLE = 12
"""Cells that a title gets, however much stands behind it."""


@dataclass(frozen=True, slots=True)
class StatusInfo:
    """What the line says."""

    title: str = ""
    reference: str = ""
    origin: str = ""
    """Where a fork comes from, in words."""
    workspace: str = ""
    model: str = ""
    read_only: bool = False
    taken: bool = False
    """Another loom has the session now."""
    is_open: bool = True
    """False while it is not known yet which session it will be."""


def _about(info: StatusInfo, room: int) -> Content:
    """What stands behind the title: reference, what is special, and where it comes from if that leaves a title room."""
    about = Content.styled(f"  {info.reference}" if info.reference else "", "$foreground-muted")
    if info.read_only or info.taken:
        about = Content.assemble(about, ("  taken over" if info.taken else "  read-only", "$text-warning"))
    origin = f"  {show_line(info.origin, 40)}" if info.origin else ""
    if room - about.cell_length - len(origin) >= LEAST_TITLE:
        about = Content.assemble(about, (origin, "$text-accent"))
    return about


def status_line(info: StatusInfo, work: str, width: int) -> Content:
    """The line in `width` cells: what the person needs least goes first when it is narrow."""
    model = show_line(info.model, 40)
    model_style = "$text-warning" if model == OFFLINE else "$text-success"
    if model == OFFLINE and width >= 80:
        model = "offline (no model)"
    right = Content.assemble((work, "$text-primary bold"), "  " if work and model else "", (model, model_style))
    left = Content.styled("loom", "$text-primary bold")
    room = width - right.cell_length - left.cell_length - 3
    about = _about(info, room)
    title = show_line(info.title, 80) or ("untitled" if info.reference else "new session")
    if info.is_open:
        # A fork is called as what it was made of: what tells the two apart is not to be pushed out by the title.
        shown = Content.styled(title, "bold").truncate(max(LEAST_TITLE, room - about.cell_length), ellipsis=True)
        left = Content.assemble(left, "  ", shown)
    left = left.append(about)
    room = width - right.cell_length - left.cell_length - 3
    workspace = show_line(info.workspace, 200)
    if workspace and room >= 8:
        short = workspace if len(workspace) <= room - 2 else "…" + workspace[-(room - 3) :]
        left = Content.assemble(left, (f"  {short}", "$foreground-muted"))
    return split_line(left, right, width)


class StatusLine(Widget):
    """One line; while something runs it counts the seconds and says how to stop it."""

    DEFAULT_CSS = "StatusLine { height: 1; padding: 0 1; background: $panel; dock: top; }"

    def __init__(self, *, clock: Callable[[], float] = monotonic, id: str | None = None) -> None:
        super().__init__(id=id)
        self._clock = clock
        self._info = StatusInfo()
        self._began: float | None = None
        self._word = ""
        self._timer: Timer | None = None

    def show_info(self, info: StatusInfo) -> None:
        self._info = info
        self.refresh()

    def show_title(self, title: str, reference: str) -> None:
        self.show_info(replace(self._info, title=title, reference=reference))

    def start(self, word: str = "") -> None:
        """Something runs from now on that Esc stops: an exchange, or what `word` says."""
        self._word = word
        self._began = self._clock()
        if self._timer is None:
            self._timer = self.set_interval(TICK, self.refresh)
        self.refresh()

    def stop(self) -> None:
        """It is over, and so is what the word said of it."""
        self._began, self._word = None, ""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self.refresh()

    def show_word(self, word: str) -> None:
        """Something slow besides an exchange (`starting`); empty when it is over."""
        self._word = word
        self.refresh()

    def work(self) -> str:
        """What is going on, in words; empty when nothing is."""
        if self._began is None:
            return self._word
        seconds = max(0.0, self._clock() - self._began)
        frame = FRAMES[int(seconds / TICK) % len(FRAMES)]
        word = f"{self._word} · " if self._word else ""
        return f"{frame} {int(seconds)} s · {word}Esc interrupts"

    def render(self) -> Content:
        return status_line(self._info, self.work(), self.content_size.width)
