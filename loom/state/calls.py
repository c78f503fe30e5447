"""What a tool result says happened: from its facts, or from its call where it states none."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from dataclasses import dataclass
from typing import Any

from loom.archive.records import PERSON_COMMAND, Turn
from loom.state.model import PendingCall

COMMAND_TOOLS = ("shell_execute", "git_command", PERSON_COMMAND)
FILE_TOOLS = {"write_file": "created", "edit_file": "edited"}
MAX_COMMAND_CHARS = 2_000

# A whole line of its own, so that a commit subject or a log that speaks of exit codes is not one.
_EXIT_CODE = re.compile(
    r"\W*(?:command |process )?(?:exit(?:ed)?(?:[ _]?(?:with|code|status))*|return(?:ed)?[ _]code)"
    r"\s*[:=]?\s*(-?\d{1,5})\W*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Result:
    """A tool result, understood; empty strings and None where it does not say."""

    path: str
    action: str
    command: str
    exit_code: int | None
    timed_out: bool
    facts: dict[str, Any]
    """Empty for a row that loom's own tools did not write."""


def pending_calls(turn: Turn) -> list[PendingCall]:
    """The calls of this turn whose results the state is made of."""
    found = []
    # The column holds JSON: what it says it is, and what another program put there, are two things.
    calls: object = turn.tool_calls
    for call in calls if isinstance(calls, list) else ():
        if not isinstance(call, dict):
            continue
        name, call_id, arguments = call.get("name"), call.get("id"), _arguments(call.get("arguments"))
        if not isinstance(call_id, str):
            continue
        if name in FILE_TOOLS:
            found.append(PendingCall(call_id, _text(arguments.get("path")), "", turn.turn_number))
        elif name in COMMAND_TOOLS:
            found.append(PendingCall(call_id, "", _command(name, arguments), turn.turn_number))
    return found


def result_of(turn: Turn, call: PendingCall | None) -> Result:
    """What the result says. Its facts come first; the call it answers fills in what older rows left out."""
    facts = _facts(turn)
    command = _text(facts.get("command")) or (call.command if call else "")
    code = facts.get("exit_code")
    if turn.tool_name == "git_command" and command and not command.startswith("git "):
        command = f"git {command}"
    timed_out = facts.get("timed_out") is True
    if not isinstance(code, int) or isinstance(code, bool):
        code = None if timed_out or "exit_code" in facts else _exit_code(turn.content or "")
    return Result(
        path=_text(facts.get("path")) or (call.path if call else ""),
        # Facts without an action say that nothing was written: the file held just that already.
        action=_text(facts.get("action")) if facts else FILE_TOOLS.get(turn.tool_name or "", ""),
        command=_bounded(command),
        exit_code=code,
        timed_out=timed_out,
        facts=facts,
    )


def _facts(turn: Turn) -> dict[str, Any]:
    try:
        return turn.facts
    except (ValueError, AttributeError, TypeError, RecursionError):
        return {}  # a damaged part: its columns still speak


def _arguments(arguments: object) -> dict[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return {}
    return arguments if isinstance(arguments, dict) else {}


def _command(name: object, arguments: dict[str, Any]) -> str:
    if name == "shell_execute":
        return _text(arguments.get("command"))
    args = arguments.get("args")
    if isinstance(args, list):
        return shlex.join(["git", *(str(arg) for arg in args)])
    return f"git {_text(args)}".strip()


def _exit_code(content: str) -> int:
    """The exit code that the first or the last lines tell; 0 for a complete result that tells none."""
    lines = (content[:2_000].splitlines()[:2] + content[-2_000:].splitlines()[-2:]) if content else []
    for line in lines:
        if stated := _EXIT_CODE.fullmatch(line[:200]):
            return int(stated[1])
    return 0


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _bounded(command: str) -> str:
    # The digest keeps two long commands with the same beginning apart.
    if len(command) <= MAX_COMMAND_CHARS:
        return command
    digest = hashlib.sha256(command.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{command[: MAX_COMMAND_CHARS - 100]}… ({len(command):,} characters, sha256 {digest})"
