"""The session state: what has happened, as data. Every entry cites the turn it comes from."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal

from loom.archive.rewound import ranges_in
from loom.turn_numbers import Ranges

MAX_FILES = 20
MAX_DECISIONS = 10
MAX_ERRORS = 5
MAX_OPEN_ERRORS = 10
MAX_COMMANDS = 8
MAX_CONSTRAINTS = 20
MAX_PINS = 20
MAX_PENDING_CALLS = 32
MAX_FOCUS_CHARS = 100

FileAction = Literal["created", "edited", "deleted"]
PinnedBy = Literal["person", "model"]


@dataclass(frozen=True, slots=True)
class FileTouched:
    path: str
    action: FileAction
    turn: int


@dataclass(frozen=True, slots=True)
class Decision:
    text: str
    turn: int


@dataclass(frozen=True, slots=True)
class Constraint:
    """What the person said never, always, must or "X, not Y": their words."""

    text: str
    turn: int
    replaces: int | None = None
    """The turn of the contrary constraint that this one replaced."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command that ran: exact text, exit code (None: timed out or killed)."""

    command: str
    exit_code: int | None
    turn: int


@dataclass(frozen=True, slots=True)
class OpenError:
    """A command that failed and has not yet succeeded; kept so that a later success resolves it."""

    command: str
    message: str
    turn: int


@dataclass(frozen=True, slots=True)
class ErrorResolved:
    message: str
    command: str
    failed_turn: int
    turn: int
    fixed_by: str = ""
    """The files that changed between failure and success, as text; empty when none did."""


@dataclass(frozen=True, slots=True)
class Pin:
    """What stays in front of the model; one a turn."""

    text: str
    turn: int
    """The pinned turn; for words that are no turn, the note that pinned them."""
    by: PinnedBy = "person"


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A call that has no result yet; kept because a result that states no facts is understood by its call."""

    call_id: str
    path: str
    command: str
    turn: int


@dataclass(frozen=True, slots=True)
class SessionState:
    """Everything mechanical about a session. Oldest entries first in every tuple; each is bounded."""

    files_touched: tuple[FileTouched, ...] = ()
    key_decisions: tuple[Decision, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    commands: tuple[Command, ...] = ()
    errors_resolved: tuple[ErrorResolved, ...] = ()
    open_errors: tuple[OpenError, ...] = ()
    pins: tuple[Pin, ...] = ()
    pending_calls: tuple[PendingCall, ...] = ()
    current_focus: str = ""
    last_turn: int = 0
    """The newest turn that this state has seen."""
    rewound: Ranges = ()
    """Turns that the person rewound past: nothing of them stands in it, but for what they pinned."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> SessionState:
        """The state that `to_json` gave. Unknown keys and damaged entries are left out: `rebuild` from the
        turns gives the truth again."""
        state = cls()
        kinds: dict[str, type[Any]] = {
            "files_touched": FileTouched,
            "key_decisions": Decision,
            "constraints": Constraint,
            "commands": Command,
            "errors_resolved": ErrorResolved,
            "open_errors": OpenError,
            "pins": Pin,
            "pending_calls": PendingCall,
        }
        for name, kind in kinds.items():
            entries = data.get(name)
            if isinstance(entries, list):
                kept: Any = tuple(e for e in (_entry(kind, x) for x in entries) if e)
                state = replace(state, **{name: kept})
        focus, last = data.get("current_focus"), data.get("last_turn")
        return replace(
            state,
            current_focus=focus if isinstance(focus, str) else "",
            last_turn=last if isinstance(last, int) else 0,
            rewound=ranges_in(data.get("rewound")),
        )


def read_state(document: str) -> SessionState:
    """The state as the archive keeps it beside the session; an empty one where that cannot be read."""
    try:
        data = json.loads(document)
    except json.JSONDecodeError:
        return SessionState()
    return SessionState.from_json(data) if isinstance(data, dict) else SessionState()


def _entry(kind: type[Any], data: object) -> Any | None:
    if not isinstance(data, dict):
        return None
    wanted = {field.name: _KINDS.get(str(field.type), str) for field in fields(kind)}
    if not all(isinstance(data[name], wanted.get(name, object)) for name in data):
        return None
    try:
        return kind(**data)
    except TypeError:
        return None


_KINDS: dict[str, type | tuple[type, ...]] = {"int": int, "int | None": (int, type(None))}
