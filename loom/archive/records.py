"""What the archive hands out and takes in: frozen rows, readable by attribute and by column name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Literal

from loom.turn_numbers import Ranges

Role = Literal["user", "assistant", "tool", "system"]

PERSON_COMMAND = "person_command"
"""The tool name of what a person ran in the workspace by hand; no model has it."""


class TurnKind(StrEnum):
    """What a turn is, finer than its role."""

    TEXT = "text"
    """Words: the person's message, the model's answer."""
    THINKING = "thinking"
    """The model's reasoning, where the provider shows it."""
    TOOL_CALL = "tool_call"
    """One call that the model asked for; `tool_calls` holds it as a one-item list. With the role `user` it is a command
    that the person ran themselves, of the tool PERSON_COMMAND."""
    TOOL_RESULT = "tool_result"
    """What a call gave back; `content` is the whole output, whatever the window shows of it."""
    FILE = "file"
    """Binary content (an image) from the person or the model; `part_json` holds it."""
    SUMMARY = "summary"
    """A compaction's summary; the window starts after `message_meta.left_to` while it stands."""
    RECEIPT = "receipt"
    """The line that says which turns left the window."""
    NOTE = "note"
    """loom's own word to the person (cleared, uncompacted, error); never in the model's window."""


class TurnStatus(StrEnum):
    """How a turn ended."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    """The provider stopped early (length limit, connection closed without a finish reason)."""
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    DENIED = "denied"


class Row:
    """Column access for a record: `turn["content"]` is `turn.content`, as in a database row."""

    __slots__ = ()

    def __getitem__(self, column: str) -> Any:
        if column not in self.keys():
            raise KeyError(column)
        return getattr(self, column)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> tuple[str, ...]:
        return tuple(f.name for f in fields(self))  # type: ignore[arg-type]

    def get(self, column: str, default: Any = None) -> Any:
        return getattr(self, column) if column in self.keys() else default


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn:
    """A turn about to be appended; the archive gives it its number, exchange and digest."""

    role: Role
    content: str | None
    kind: TurnKind = TurnKind.TEXT
    status: TurnStatus = TurnStatus.COMPLETE
    tool_calls: list[dict[str, Any]] | None = None
    """On an assistant turn: `[{"id": …, "name": …, "arguments": {…} or "raw text"}]`."""
    tool_call_id: str | None = None
    """On a tool turn: the `id` of the call it answers."""
    tool_name: str | None = None
    """On a tool turn: the tool that ran."""
    token_count: int = 0
    """Tokens that this turn takes in a window, estimated: 0 to 2**53 - 1."""
    part_json: str | None = None
    """The message part, dumped; lossless resume reads this and not the columns above."""
    message_meta: str | None = None
    """On the first turn of a message: the message without parts and instructions, dumped."""
    usage: dict[str, int] | None = None
    """On the first turn of a response: `input_tokens, output_tokens, cache_read_tokens, …`. What is not a whole number
    from 0 to 2**53 - 1 is left out when it is stored."""
    cost_usd: float | None = None
    append_key: str | None = None
    """Appending the same key to the same session twice stores one turn."""
    created_at: str | None = None
    """ISO 8601, UTC, microseconds, `Z`; the archive's clock if None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSession:
    """What a session begins with that comes back from elsewhere, under its own id."""

    id: str
    reference: str
    """Taken if it is free."""
    title: str
    workspace_path: str
    workspace_commit: str | None
    model_name: str
    system_prompt: str
    started_at: str
    parent_id: str | None
    fork_turn: int | None
    copied: int = 0
    """So many turns from its beginning on are in the session that it is a copy of, and do not come back with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn(Row):
    """One row of `conversation_turns`."""

    session_id: str
    turn_number: int
    exchange: int
    role: Role
    kind: TurnKind
    status: TurnStatus
    content: str | None
    tool_calls: list[dict[str, Any]] | None
    tool_call_id: str | None
    tool_name: str | None
    token_count: int
    part_json: str | None
    message_meta: str | None
    usage: dict[str, int] | None
    cost_usd: float | None
    created_at: str
    digest: str

    @property
    def facts(self) -> dict[str, Any]:
        """What a tool reported beside its output (path, action, exit_code, diff …): see `loom.tools.outcome`.

        Empty on every turn that is not a tool result recorded by loom.
        """
        if self.part_json is None or self.role != "tool":
            return {}
        metadata = json.loads(self.part_json).get("metadata")
        return metadata if isinstance(metadata, dict) else {}

    @property
    def is_pin(self) -> bool:
        """Whether it holds words that were pinned, as `loom.state.pins` notes it; not so where a turn was."""
        if self.kind is not TurnKind.NOTE or not self.message_meta:
            return False
        try:
            meta = json.loads(self.message_meta)
        except (ValueError, RecursionError):
            return False
        pin = meta.get("pin") if isinstance(meta, dict) else None
        return isinstance(pin, dict) and isinstance(pin.get("text"), str) and "turn" not in pin

    @property
    def person_command(self) -> str:
        """The command that the person ran by hand with this turn; empty on every other turn."""
        if self.role != "user" or self.kind is not TurnKind.TOOL_CALL or not self.tool_calls:
            return ""
        arguments = self.tool_calls[0].get("arguments")
        command = arguments.get("command") if isinstance(arguments, dict) else None
        return command if isinstance(command, str) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeSize(Row):
    """What an exchange would take in a window."""

    exchange: int
    first_turn: int
    last_turn: int
    tokens: int
    """Sum of the `token_count` of its turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease(Row):
    """The right to be the one writer of a session."""

    session_id: str
    epoch: int
    """What `lease_epoch` of the session was set to; an append of an older epoch stores nothing."""
    pid: int
    host: str
    since: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Session(Row):
    """One row of the session list: everything small about a session."""

    id: str
    reference: str
    """Short, typeable, unique: 4 or more base36 characters, at least one a letter."""
    title: str
    """First line of the first message unless the person named it."""
    focus: str
    """First line of the newest message, at most 100 characters."""
    tags: tuple[str, ...]
    workspace_path: str
    workspace_commit: str | None
    """The root commit of the workspace's git history, with `:folder/` behind it when the workspace is a folder
    inside of the checkout: finds the sessions of a folder that moved."""
    model_name: str
    started_at: str
    last_active_at: str
    turn_count: int
    exchange_count: int
    total_tokens: int
    """Input plus output tokens of every request, as the provider reported them."""
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cost_usd: float
    parent_id: str | None
    fork_turn: int | None
    lease_epoch: int
    is_active: bool
    """False once the person deleted the session from the list; its turns stay until `purge`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDetail(Session):
    """A session with its large columns."""

    system_prompt: str
    session_state: str
    """JSON, as `update_session_state` was last given; `{}` before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit(Row):
    """One turn found, best first."""

    session_id: str
    session_reference: str
    session_title: str
    turn_number: int
    exchange: int
    role: Role
    kind: TurnKind
    status: TurnStatus
    tool_name: str | None
    created_at: str
    score: float
    """Higher is better; comparable within one answer only."""
    content: str
    """The whole text of the turn (a tool call: its name and arguments)."""
    snippet: str
    """At most about 240 characters of `content`, centred on the match; newlines kept. Of turns that went along with a
    message only what they are."""
    highlights: tuple[tuple[int, int], ...]
    """Matches inside `snippet`: (start, end) character offsets, ascending, not overlapping."""
    also_in: tuple[str, ...] = ()
    """References of other sessions that were searched and have the very same turn, because one was forked."""
    by_meaning: bool = False
    """Found because it is near in meaning to what was asked; it has none of the words."""

    @property
    def is_pin(self) -> bool:
        """Whether it is words that the person pinned, and no turn of the conversation: no other note is found."""
        return self.kind is TurnKind.NOTE


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPage:
    """What a search of several sessions gives."""

    hits: tuple[SearchHit, ...]
    searched_turns: int
    """How many turns were in scope, what forks have in common once: about, while a fork is being indexed."""
    waiting_turns: int = 0
    """How many more were not searched, because the index is being made and too many wait for it."""
    fault: str = ""
    """What is wrong with a filter of the query that means nothing, in words: such a date was ignored, any other such
    filter was taken for words."""
    obstacles: tuple[str, ...] = ()
    """Where no hit was found by the words: which filters of the query kept it from that, in words."""
    doubts: tuple[str, ...] = ()
    """What the query has in quotation marks and no turn has, or older ones may have, in words."""
    elapsed_ms: float

    @property
    def has_words(self) -> bool:
        """Whether anything was found by the words that were asked for, and not by what they mean alone."""
        return not all(hit.by_meaning for hit in self.hits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision(Row):
    """A later message of the user's that takes back what a found turn says."""

    session_id: str
    session_reference: str
    turn_number: int
    created_at: str
    passage: str
    """The words that take it back, as written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest(Row):
    """What one request to the model was made of."""

    session_id: str
    request: int
    """Counts requests of a session from 1."""
    exchange: int
    created_at: str
    model_name: str
    window_tokens: int
    segments: dict[str, int]
    """Tokens by segment name, see `loom.context.usage`: by our own count (an older loom: as the gauge showed them)."""
    turns: tuple[tuple[int, int], ...]
    """Turn numbers in the window: inclusive ranges, ascending."""
    texts: dict[str, str]
    """What stood in the request and is no turn: `instructions`, `tools`, `state`, `receipt`, `pins`, `hint`. On
    disk, words that are those of the request before are a reference to it."""
    estimated_tokens: int
    """Input tokens by our own count, before any word from the provider."""
    reported_tokens: int | None
    """Input tokens as the provider reported them; None until the response, or if it never did."""
    cache_read_tokens: int | None = None
    """Those of the reported tokens that came from the provider's cache; None when it did not say."""
    recipe: dict[str, Any] = field(default_factory=dict)
    """How the request is put together again, see `loom.context.recipes`; empty if an older loom sent it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLine(Row):
    """One request in a list of them: its numbers without its texts, so that ten thousand are read at once."""

    request: int
    exchange: int
    created_at: str
    model_name: str
    window_tokens: int
    high_water: int | None
    """Input tokens at which exchanges left; None if an older loom sent it."""
    expected_tokens: int
    """Input tokens as the gauge showed them when it was sent."""
    estimated_tokens: int
    """By our own count."""
    reported_tokens: int | None
    cache_read_tokens: int | None
    last_turn: int
    """The newest turn in it."""
    left_to: int
    """The newest turn that had left."""
    summary: int
    """The turn of the summary that stood in it; 0 without one."""
    rewound: Ranges = ()
    """The turns that the person had rewound past."""

    @property
    def cached_share(self) -> float | None:
        """The share of its input that came from the provider's cache, 0 to 1; None when the provider did not say."""
        if not self.reported_tokens or self.cache_read_tokens is None:
            return None
        return min(1.0, self.cache_read_tokens / self.reported_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An answer as far as it has streamed; recovered as interrupted turns after a crash."""

    session_id: str
    exchange: int
    turns: tuple[NewTurn, ...] = field(default_factory=tuple)
    updated_at: str = ""
