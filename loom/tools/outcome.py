"""What a tool is and what it gives back: the contract between tools, permissions and front ends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from loom.errors import LoomError


class Effect(StrEnum):
    """What a call can change; decides who is asked."""

    READ = "read"
    """Changes nothing: runs by itself."""
    KEEP = "keep"
    """Changes only what loom itself keeps (pins, memory), in a way that the person sees and can undo: runs by
    itself."""
    WRITE = "write"
    """Changes files inside the workspace: asks, and shows the diff."""
    EXECUTE = "execute"
    """Runs a command: asks, and shows the whole command."""


class ToolFailure(LoomError):
    """A call that cannot do what was asked. The text goes to the model, which may try otherwise."""


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """The result of a call that ran.

    `facts` is small JSON kept beside the output, never sent to the model; cards, diffs and the state are made of it.
    Keys in use: `path` (relative to the workspace, `/` separated), `action` (`read`, `created`, `edited`, `listed`,
    `searched`, `pinned`, `unpinned`, `remembered`), `added` and `removed` (lines), `diff` (unified diff text),
    `command`, `exit_code`, `timed_out`, `duration_ms`, `truncated`, `commit` and `subject` (a git commit that was
    made), `matches` (count), `lines` (count).
    """

    content: str
    """Everything the tool has to say, whole: the archive keeps it, the window trims it."""
    facts: dict[str, Any] = field(default_factory=dict)
    failed: bool = False
    """True when the call ran and its answer is a failure (a command that exited non-zero is not:
    its exit code is a fact)."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What a person sees before saying yes: the truth of what will happen, whole."""

    title: str
    """One line: `Run a command`, `Edit src/auth.py`."""
    body: str
    """The whole command, or the whole unified diff."""
    kind: str
    """`command` or `diff`."""
    scope: str
    """What "always this session" would allow, in words and exactly: `shell commands that are exactly
    this one`, `edits to files in this workspace`."""
    scope_key: str
    """Equal keys are allowed together; kept for the session only."""
    warning: str = ""
    """Why this one is dangerous, if it is (`deletes files recursively`)."""
    wider_scope: str = ""
    """What a second, wider "always" would allow, in words and exactly: `every command that begins with "git status"`.
    Empty when there is none; never there for what is dangerous."""
    wider_key: str = ""
    """As `scope_key`, for the wider scope."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool: its name, its function and what it may do.

    The function's annotations and docstring (Google style, with `Args:`) are its schema for the model; it
    returns a ToolOutcome or raises ToolFailure.
    """

    name: str
    function: Callable[..., Awaitable[ToolOutcome]]
    effect: Effect
    preview: Callable[[Mapping[str, Any]], Awaitable[Preview | None]] | None = None
    """Required unless the effect is READ or KEEP: given the validated arguments. Raises ToolFailure when the
    call cannot work (no such file, no unique match), so that nobody is asked about nothing. None means that this
    very call changes nothing (`git status`) and runs by itself."""
