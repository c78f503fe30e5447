"""A tool call as a card: what was asked, how it went, and its result folded away."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Click
from textual.widget import Widget
from textual.widgets import Static

from loom.archive.records import Turn, TurnStatus
from loom.text import show_block, show_line
from loom.tui.keys import bindings
from loom.tui.widgets.diff import diff_content
from loom.tui.widgets.fold import WholeText
from loom.tui.widgets.line import split_line, turn_label
from loom.tui.widgets.pinnable import Pinnable

PREVIEW_LINES = 12
"""Lines of a diff that are drawn without asking."""
OPEN_LINES = 60
OPEN_CHARS = 8_000
"""What an opened card shows; the whole is one key away."""

MAIN_ARGUMENTS = ("command", "pattern", "query", "args", "action", "path")
"""The argument that says what a call is about, drawn bare and first."""


LONG_ARGUMENTS = ("content", "old_text", "new_text")
"""Arguments that the diff shows better; they stand in the opened card."""


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
_ENDED = {
    TurnStatus.COMPLETE: CardState.DONE,
    TurnStatus.PARTIAL: CardState.DONE,
    TurnStatus.INTERRUPTED: CardState.INTERRUPTED,
    TurnStatus.FAILED: CardState.FAILED,
    TurnStatus.DENIED: CardState.DENIED,
}


def argument_line(arguments: Mapping[str, Any] | str, limit: int = 300) -> str:
    """The arguments of a call on one safe line, the main one first and bare."""
    if isinstance(arguments, str):
        return show_line(arguments, limit)
    names = [name for name in MAIN_ARGUMENTS if name in arguments][:1]
    parts = [_bare(arguments[name]) for name in names]
    for name, value in arguments.items():
        if name not in names and name not in LONG_ARGUMENTS and value not in ("", None):
            parts.append(f"{name}={_value(value)}")
    return show_line(" ".join(parts), limit)


def _bare(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return " ".join(item[:300] for item in value[:50])
    return value[:2_000] if isinstance(value, str) else _value(value)


def _value(value: Any) -> str:
    return json.dumps(value[:200] if isinstance(value, str) else value, ensure_ascii=False, default=str)[:300]


def duration_text(milliseconds: int) -> str:
    """`0.2 s`, `12 s`, `3 min 04 s`."""
    seconds = milliseconds / 1000
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60):02} s"


def facts_line(facts: Mapping[str, Any]) -> str:
    """What the result comes to, in a few words: `+3 −1`, `exit 1`, `12 matches`."""
    words: list[str] = []
    if facts.get("added") or facts.get("removed"):
        words.append(f"+{facts.get('added', 0)} −{facts.get('removed', 0)}")
    if isinstance(facts.get("exit_code"), int):
        words.append(f"exit {facts['exit_code']}")
    if facts.get("timed_out"):
        words.append("timed out")
    if isinstance(facts.get("matches"), int):
        words.append(f"{facts['matches']:,} match{'' if facts['matches'] == 1 else 'es'}")
    elif isinstance(facts.get("lines"), int):
        words.append(f"{facts['lines']:,} line{'' if facts['lines'] == 1 else 's'}")
    if facts.get("commit"):
        words.append(f"commit {str(facts['commit'])[:8]}")
    return show_line(" · ".join(words), 60)


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

    def render(self) -> Content:
        sign, style = ("!", "$text-warning bold") if self.unhappy else _SIGNS[self.state]
        left = Content.assemble(
            (f"{sign} ", style), (self.tool_name, "bold"), " ", (self.arguments, "$foreground-muted")
        )
        # A finished call says so with its sign alone; the words are for what needs attention.
        word = "" if self.state is CardState.DONE else self.state.value
        said = " · ".join(part for part in (word, self.outcome) if part)
        right = Content.assemble((said, style if word or self.unhappy else "$foreground-muted"))
        if label := turn_label(self.turn_number, pinned=self.pinned):
            right = Content.assemble(right, (f" {label}".rjust(6), "$foreground-muted"))
        return split_line(left, right, self.size.width)


class ToolCard(Vertical, Pinnable, can_focus=True):
    """One call. Enter or a click opens its result; `o` shows the whole of it."""

    DEFAULT_CSS = """
    ToolCard {
        height: auto;
        margin: 0 1 1 1;
        padding: 0 0 0 1;
        border-left: outer $panel;
        &.-asking { border-left: outer $warning; }
        &.-running { border-left: outer $primary; }
        &.-failed { border-left: outer $error 70%; }
        &:focus > CardTitle { background: $primary 20%; }
        & > .arguments { height: auto; padding-left: 2; color: $text-muted; }
        & > .result { height: auto; padding-left: 2; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = bindings("card")

    def __init__(
        self,
        call_id: str,
        name: str,
        arguments: Mapping[str, Any] | str,
        turn_number: int | None = None,
        *,
        result: Turn | None = None,
    ) -> None:
        super().__init__()
        self.call_id = call_id
        self.tool_name = name
        self.arguments = arguments
        self.result = result
        self.opened = False
        self._title = CardTitle(name, arguments, turn_number)
        self._body = Static("", classes="result", markup=False)
        if result is not None:
            self.finish(result, None)

    @property
    def state(self) -> CardState:
        return self._title.state

    @property
    def turn_number(self) -> int | None:
        return self._title.turn_number

    @property
    def open_ended(self) -> bool:
        """True while the call has no result."""
        return self.state in (CardState.WAITING, CardState.ASKING, CardState.RUNNING)

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._body

    def on_mount(self) -> None:
        self._draw()

    def set_state(self, state: CardState) -> None:
        for each in CardState:
            self.set_class(each is state, f"-{each.value}")
        self._title.state = state
        self._title.refresh()

    def set_call(self, name: str, arguments: Mapping[str, Any] | str, turn_number: int) -> None:
        """The call of a result that was drawn before its call was loaded."""
        self.tool_name, self.arguments = name, arguments
        self._title.tool_name, self._title.arguments = show_line(name, 60), argument_line(arguments)
        self._title.turn_number = turn_number
        self._title.refresh()

    @property
    def pin_turn(self) -> int:
        """The turn of the result; of the call while there is none."""
        return self.result.turn_number if self.result is not None else self.turn_number or 0

    def show_pinned(self, pinned: bool) -> None:
        super().show_pinned(pinned)
        self._title.pinned = pinned
        self._title.refresh()

    def finish(self, result: Turn, duration_ms: int | None) -> None:
        """The result is stored."""
        self.result = result
        facts = result.facts
        if duration_ms is None and isinstance(facts.get("duration_ms"), int):
            duration_ms = facts["duration_ms"]
        parts = [facts_line(facts), duration_text(duration_ms) if duration_ms is not None else ""]
        self._title.outcome = " · ".join(part for part in parts if part)
        self._title.unhappy = result.status is TurnStatus.COMPLETE and (
            bool(facts.get("exit_code")) or bool(facts.get("timed_out"))
        )
        self.set_state(_ENDED[result.status])
        self._draw()

    def action_fold(self) -> None:
        self.opened = not self.opened
        self._draw()

    def action_whole(self) -> None:
        title = f"{self.tool_name} {argument_line(self.arguments, 100)}"
        diff = self._diff()
        text = self._whole_arguments()
        if self.result is not None:
            text = diff or self.result.content or ""
        self.post_message(WholeText(title, text, diff=bool(diff)))

    def on_click(self, event: Click) -> None:
        event.stop()
        self.action_fold()

    def _diff(self) -> str:
        diff = self.result.facts.get("diff") if self.result is not None else None
        return diff if isinstance(diff, str) else ""

    def _whole_arguments(self) -> str:
        if isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(self.arguments, indent=2, ensure_ascii=False, default=str)

    def _draw(self) -> None:
        diff = self._diff()
        content = Content("")
        if diff:
            content = diff_content(diff, OPEN_LINES if self.opened else PREVIEW_LINES)
        elif self.opened and self.result is None:
            content = Content.styled(show_block(self._whole_arguments(), max_chars=OPEN_CHARS), "$foreground-muted")
        elif self.opened and self.result is not None:
            content = _result_content(self.result.content or "")
        else:
            content = self._folded()
        self._body.update(content)
        self._body.display = bool(content)

    def _folded(self) -> Content:
        """What stands below the title of a card that is not opened."""
        if self.result is None or self.state not in (CardState.FAILED, CardState.DENIED):
            return Content("")
        return Content.styled(show_line(self.result.content or "", 300), "$foreground-muted")


def _result_content(text: str) -> Content:
    """The beginning of a result; says how much more there is."""
    head = text[:OPEN_CHARS]
    lines = head.split("\n", OPEN_LINES)
    if len(lines) > OPEN_LINES:
        head = "\n".join(lines[:OPEN_LINES])
    content = Content(show_block(head) or "(nothing)")
    if len(head) < len(text):
        content = content.append_text(
            f"\n… {len(text) - len(head):,} more characters · o opens the whole", "$text-accent"
        )
    return content
