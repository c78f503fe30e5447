"""What happens in a conversation, as frozen records: the one thing that the TUI and the headless commands draw.

Every event that speaks of a turn is sent after that turn is on disk. Events of one session arrive in order, on
the event loop's thread; a listener must return at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from loom.archive.records import Turn
from loom.context.usage import WindowUsage
from loom.state import SessionState
from loom.tools.outcome import Preview


class Outcome(StrEnum):
    """How an exchange ended."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    """The last answer stops short: the provider ended it before the model did."""
    INTERRUPTED = "interrupted"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class SessionOpened:
    """The session exists in the archive (sent at the first message) or was resumed."""

    session_id: str
    reference: str
    title: str


@dataclass(frozen=True, slots=True)
class TitleChanged:
    """The session got its title from a model (setting `title_model`), or, before any message, from a command."""

    title: str


@dataclass(frozen=True, slots=True)
class TurnStored:
    """A turn is durable. Draws user messages, and closes what was streamed before it."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the answer; several arrive for one text."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """More of the model's reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A call was stored and is about to run or to be asked about."""

    call_id: str
    name: str
    arguments: dict[str, Any]
    turn_number: int


@dataclass(frozen=True, slots=True)
class ToolRunning:
    """The call was let through and runs now."""

    call_id: str
    begun: bool = True
    """False where it may have run for long when this was noticed: another loom runs it."""


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """A command that runs, the model's or the person's, has written more: at most ten times a second."""

    call_id: str
    end: str
    """The end of its output so far, at most about 8 kB; what it wrote over with carriage returns is folded away."""


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A call's result is stored. `turn` has content, status (complete, failed, denied) and facts."""

    call_id: str
    turn: Turn
    duration_ms: int | None
    """None where nobody measured it: another loom ran it."""


@dataclass(frozen=True, slots=True)
class ApprovalAsked:
    """The exchange waits for a person. Answer with `CoworkSession.answer(call_id, decision)`."""

    call_id: str
    tool_name: str
    preview: Preview


@dataclass(frozen=True, slots=True)
class ApprovalAnswered:
    """The question was answered, or withdrawn by an interruption (decision None)."""

    call_id: str
    decision: Decision | None


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's answer to an approval."""

    allowed: bool
    always: bool = False
    """Allow everything in the preview's scope until the session is closed."""
    wider: bool = False
    """With `always`: in the preview's wider scope."""
    reason: str = ""
    """For the model, when denied."""
    by_person: bool = True
    """False where nobody was there to ask."""


@dataclass(frozen=True, slots=True)
class UsageChanged:
    usage: WindowUsage


@dataclass(frozen=True, slots=True)
class StateChanged:
    state: SessionState


@dataclass(frozen=True, slots=True)
class WindowTrimmed:
    """Exchanges left the window (receipt is the line that says so). Nothing left the archive."""

    first_turn: int
    last_turn: int
    receipt: str


@dataclass(frozen=True, slots=True)
class Compacting:
    """A summary of the window is being written: what is done now, in words; empty when it is over."""

    words: str


@dataclass(frozen=True, slots=True)
class QueueChanged:
    """Messages typed during the exchange, oldest first."""

    waiting: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the person should know. severity: information, warning, error."""

    severity: str
    text: str


@dataclass(frozen=True, slots=True)
class InstructionsUnasked:
    """The project has instructions that the model does not read, because nobody has said yet whether it may: sent when
    they appear, and again when they change."""

    paths: tuple[str, ...]
    """Their files; none when there is nothing to be asked about any more."""


@dataclass(frozen=True, slots=True)
class SaveFailed:
    """A turn could not be written. Its text is kept in memory; `CoworkSession.retry_save()` tries again."""

    what: str
    remedy: str
    message: str = ""
    """The person's message, when it is what could not be written: no turn of the conversation shows it yet."""


@dataclass(frozen=True, slots=True)
class TakenOver:
    """Another loom has the session now: nothing is stored here any more. Sent once; what ran is being stopped."""


@dataclass(frozen=True, slots=True)
class ExchangeStarted:
    exchange: int


@dataclass(frozen=True, slots=True)
class ExchangeEnded:
    exchange: int
    outcome: Outcome
    error: str = ""
    """What went wrong and what to do, when failed."""


Event = (
    SessionOpened
    | TitleChanged
    | TurnStored
    | TextDelta
    | ThinkingDelta
    | ToolStarted
    | ToolRunning
    | CommandOutput
    | ToolFinished
    | ApprovalAsked
    | ApprovalAnswered
    | UsageChanged
    | StateChanged
    | WindowTrimmed
    | Compacting
    | QueueChanged
    | Notice
    | InstructionsUnasked
    | SaveFailed
    | TakenOver
    | ExchangeStarted
    | ExchangeEnded
)

Listener = Callable[[Event], None]
