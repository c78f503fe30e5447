"""Commands that ran, and the errors that a later run of the same command resolves."""

from __future__ import annotations

import re
from dataclasses import replace

from loom.state.calls import Result
from loom.state.entries import put
from loom.state.errors import telling_line
from loom.state.model import (
    MAX_COMMANDS,
    MAX_ERRORS,
    MAX_OPEN_ERRORS,
    Command,
    ErrorResolved,
    OpenError,
    SessionState,
)

_FILES_NAMED = 3

# Commands that only look: the first to leave when there are too many.
_LOOKING = re.compile(
    r"\s*(?:(?:ls|ll|cat|head|tail|less|pwd|echo|printf|which|type|whoami|date|find|grep|rg|fd|tree|wc|file|stat|du|df|env|ps|cd)\b[^|;&>]*"
    r"|git (?:status|log|diff|show|branch|remote|blame|ls-files|rev-parse|describe)\b[^|;&>]*)$"
)


def looks_only(command: Command) -> bool:
    """True for a command that succeeded and only showed something."""
    return command.exit_code == 0 and bool(_LOOKING.match(command.command))


def ran(state: SessionState, result: Result, output: str, turn: int) -> SessionState:
    """The state after a command ended with an exit code, or was killed (None)."""
    command = Command(result.command, result.exit_code, turn)
    commands = put(state.commands, command, MAX_COMMANDS + 1, same=lambda c: c.command == command.command)
    if len(commands) > MAX_COMMANDS:
        leaves = next((c for c in commands if looks_only(c)), commands[0])
        commands = tuple(c for c in commands if c is not leaves)
    state = replace(state, commands=commands)
    return _resolved(state, command) if command.exit_code == 0 else _failed(state, command, output)


def _failed(state: SessionState, command: Command, output: str) -> SessionState:
    nothing_said = "killed or timed out" if command.exit_code is None else f"exit code {command.exit_code}"
    error = OpenError(command.command, telling_line(output) or nothing_said, command.turn)
    # The same message again is the same error: it began when it was first seen.
    if any(e.command == error.command and e.message == error.message for e in state.open_errors):
        return state
    return replace(state, open_errors=put(state.open_errors, error, MAX_OPEN_ERRORS))


def _resolved(state: SessionState, command: Command) -> SessionState:
    errors = state.errors_resolved
    for error in state.open_errors:
        if error.command == command.command:
            fixed_by = _changed_between(state, error.turn, command.turn)
            resolved = ErrorResolved(error.message, error.command, error.turn, command.turn, fixed_by)
            errors = put(errors, resolved, MAX_ERRORS)
    still_open = tuple(e for e in state.open_errors if e.command != command.command)
    return replace(state, errors_resolved=errors, open_errors=still_open)


def _changed_between(state: SessionState, failed: int, succeeded: int) -> str:
    paths = [file.path for file in state.files_touched if failed < file.turn < succeeded]
    more = len(paths) - _FILES_NAMED
    return ", ".join(paths[-_FILES_NAMED:]) + (f" and {more} more" if more > 0 else "")
