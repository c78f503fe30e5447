"""A tool call as a card: what was asked, how it went, and its result folded away."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Click
from textual.widgets import Static

from loom.archive.records import Turn, TurnStatus
from loom.text import plural, show_block, show_line, without_overwritten
from loom.tui.argument_errors import argument_errors
from loom.tui.call_text import argument_line, arguments_text
from loom.tui.keys import bindings
from loom.tui.recall_words import RECALL_TOOL, recall_words
from loom.tui.widgets.card_title import CardState, CardTitle, duration_text
from loom.tui.widgets.diff import diff_content
from loom.tui.widgets.fold import WholeText
from loom.tui.widgets.output_tail import OutputTail
from loom.tui.widgets.pinnable import Pinnable

PREVIEW_LINES = 12
"""Lines of a diff that are drawn without asking."""
OPEN_LINES = 60
OPEN_CHARS = 8_000
"""What an opened card shows; the whole is one key away."""

_ENDED = {
    TurnStatus.COMPLETE: CardState.DONE,
    TurnStatus.PARTIAL: CardState.DONE,
    TurnStatus.INTERRUPTED: CardState.INTERRUPTED,
    TurnStatus.FAILED: CardState.FAILED,
    TurnStatus.DENIED: CardState.DENIED,
}


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
        words.append(plural(facts["matches"], "match", "matches"))
    elif isinstance(facts.get("lines"), int):
        words.append(plural(facts["lines"], "line"))
    if facts.get("commit"):
        words.append(f"commit {str(facts['commit'])[:8]}")
    return show_line(" · ".join(words), 60)


class ToolCard(Vertical, Pinnable, can_focus=True):
    """One call. Enter or a click opens its result; `o` shows the whole of it. Of a command that runs, and of what was
    interrupted, the last lines of the output stand below it."""

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
        self._facts: Mapping[str, Any] = {}
        self.opened = False
        self._title = CardTitle(name, arguments, turn_number)
        self._body = Static("", classes="result", markup=False)
        self._tail = OutputTail()
        self._end = ""
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
        yield self._tail

    def on_mount(self) -> None:
        self._draw()

    def set_state(self, state: CardState, ran: Callable[[], float] | None = None) -> None:
        """How the call stands; `ran` gives the seconds for which it has been running."""
        for each in CardState:
            self.set_class(each is state, f"-{each.value}")
        self._title.set_state(state, ran)

    def write(self, end: str) -> None:
        """The output of the command that the call runs ends like this now."""
        self._end = end
        if self.opened:
            self._draw()
        else:
            self._tail.show(end)

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
        # Once for every drawing: beside an output of 2 MB it takes 25 ms to read them.
        facts = self._facts = result.facts
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
        diff, verbatim = self._diff(), ""
        if self.result is None:
            text, verbatim = "\n".join(self._so_far()), self._verbatim_arguments()
        else:
            text = diff or self._said()
            verbatim = "" if diff else self.result.content or ""
        self.post_message(WholeText(title, text, diff=bool(diff), verbatim=verbatim if verbatim != text else ""))

    def on_click(self, event: Click) -> None:
        event.stop()
        self.action_fold()

    def _diff(self) -> str:
        diff = self._facts.get("diff")
        return diff if isinstance(diff, str) else ""

    def _said(self) -> str:
        """The result in words for a person."""
        said = (self.result.content if self.result is not None else "") or ""
        if self.result is not None and self.result.status is TurnStatus.FAILED:
            return argument_errors(said)
        return recall_words(said) if self.tool_name == RECALL_TOOL else said

    def _verbatim_arguments(self) -> str:
        if isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(self.arguments, indent=2, ensure_ascii=False, default=str)

    def _draw(self) -> None:
        diff = self._diff()
        content = Content("")
        if diff:
            content = diff_content(diff, OPEN_LINES if self.opened else PREVIEW_LINES)
        elif self.opened and self.result is None:
            shown = "\n".join(show_block(text, max_chars=OPEN_CHARS) for text in self._so_far())
            content = Content.styled(shown, "$foreground-muted")
        elif self.opened and self.result is not None:
            content = _result_content(self._said())
        else:
            content = self._folded()
        self._body.update(content)
        self._body.display = bool(content)
        self._tail.show("" if self.opened else self._ending())

    def _so_far(self) -> list[str]:
        """What there is of a call without a result: what it was asked, and the last lines of its output."""
        lines = self._end.rstrip("\n").split("\n")[-OPEN_LINES:]
        return [text for text in (arguments_text(self.arguments), "\n".join(lines)) if text]

    def _ending(self) -> str:
        """The output whose last lines stand below the title of a card that is not opened."""
        if self.result is None:
            return self._end
        return without_overwritten(self._said()[-OPEN_CHARS:]) if self.state is CardState.INTERRUPTED else ""

    def _folded(self) -> Content:
        """What stands below the title of a card that is not opened."""
        if self.result is None or self.state not in (CardState.FAILED, CardState.DENIED):
            return Content("")
        return Content.styled(show_line(self._said(), 300), "$foreground-muted")


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
