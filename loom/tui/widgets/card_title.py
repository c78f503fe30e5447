"""The one line of a card: which tool, with what, how it went, and how long it has run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from textual.content import Content
from textual.widget import Widget

from loom.text import show_line
from loom.tui.call_text import argument_line
from loom.tui.widgets.line import split_line, turn_label

TICK = 1.0
"""Seconds between two looks at the clock while a call runs."""


class CardState(StrEnum):
    WAITING = "waiting"
    ASKING = "asking"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    DENIED = "denied"
    INTERRUPTED = "interrupted"


_SIGNS: dict[CardState, tuple[str, str]] = {
    CardState.WAITING: ("○", "$foreground-muted"),
    CardState.ASKING: ("?", "$text-warning bold"),
    CardState.RUNNING: ("◐", "$text-primary"),
    CardState.DONE: ("✓", "$text-success"),
    CardState.FAILED: ("✗", "$text-error"),
    CardState.DENIED: ("⊘", "$text-warning"),
    CardState.INTERRUPTED: ("■", "$text-warning"),
}


def ran_text(seconds: float) -> str:
    """How long something has run by now, in whole seconds: `12 s`, `3 min 04 s`; empty in the first one."""
    whole = int(seconds)
    if whole < 1:
        return ""
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60:02} s"


def duration_text(milliseconds: int) -> str:
    """`0.2 s`, `12 s`, `3 min 04 s`."""
    seconds = milliseconds / 1000
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60):02} s"


class CardTitle(Widget):
    """The card's one line."""

    DEFAULT_CSS = "CardTitle { height: 1; width: 1fr; }"

    def __init__(self, name: str, arguments: Mapping[str, Any] | str, turn_number: int | None) -> None:
        super().__init__()
        self.tool_name = show_line(name, 60)
        self.arguments = argument_line(arguments)
        self.turn_number = turn_number
        self.state = CardState.WAITING
        self.pinned = False
        self.outcome = ""
        self.unhappy = False
        """The call ran, but what it ran failed (a command that exited with 1)."""
        self._ran: Callable[[], float] | None = None

    def set_state(self, state: CardState, ran: Callable[[], float] | None = None) -> None:
        """How the call stands; `ran` gives the seconds that it has run, and is asked each second."""
        self.state, self._ran = state, ran
        self.auto_refresh = None if ran is None else TICK
        self.refresh()

    def render(self) -> Content:
        sign, style = ("!", "$text-warning bold") if self.unhappy else _SIGNS[self.state]
        left = Content.assemble(
            (f"{sign} ", style), (self.tool_name, "bold"), " ", (self.arguments, "$foreground-muted")
        )
        # A finished call says so with its sign alone; the words are for what needs attention.
        word = "" if self.state is CardState.DONE else self.state.value
        ran = "" if self._ran is None else ran_text(self._ran())
        said = " · ".join(part for part in (word, ran, self.outcome) if part)
        right = Content.assemble((said, style if word or self.unhappy else "$foreground-muted"))
        if label := turn_label(self.turn_number, pinned=self.pinned):
            right = Content.assemble(right, (f" {label}".rjust(6), "$foreground-muted"))
        return split_line(left, right, self.size.width)
