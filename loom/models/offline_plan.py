"""From requests and what became of the calls so far to the next call. Pure: the same messages, the same plan."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from loom.models.offline_requests import (
    Clause,
    Commit,
    FindFiles,
    Git,
    Greeting,
    ListFiles,
    ReadFile,
    RecallCalls,
    RecallRange,
    RecallSearch,
    RecallSummary,
    Remember,
    ReplaceText,
    Request,
    RunCommand,
    RunTests,
    SearchText,
    Unknown,
    WriteFile,
)

Status = Literal["success", "failed", "denied", "interrupted", "retried"]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call about to be made."""

    tool: str
    arguments: dict[str, Any]
    saying: str
    """One sentence for the person, Markdown."""


@dataclass(frozen=True, slots=True)
class Done:
    """A call of this exchange and its result, read from the messages."""

    tool: str
    arguments: dict[str, Any]
    text: str
    status: Status


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one request has come."""

    request: Request
    done: tuple[Done, ...] = ()
    missing: str = ""
    """The tool that it needs and that is not there."""
    skipped: bool = False
    """True when it was joined by "then" to one that was denied or failed."""

    @property
    def went_wrong(self) -> bool:
        return bool(self.missing) or self.skipped or any(done.status != "success" for done in self.done)


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do next: make `call`, or answer with all of `progress` when there is none."""

    progress: tuple[Progress, ...]
    call: Call | None = None
    refused: tuple[Unknown, ...] = field(default=())
    """The words that kept the whole message from being taken as requests."""


def make_plan(clauses: Sequence[Clause], done: Sequence[Done], tools: Collection[str]) -> Plan:
    """The next call of the exchange, or the final answer's material.

    A message that is mostly no requests is not acted upon at all: it is a paste or prose, and the one line of it that
    looks like a command was not meant as one.
    """
    unknown = [clause.request for clause in clauses if isinstance(clause.request, Unknown)]
    meant = sum(not isinstance(clause.request, Unknown | Greeting) for clause in clauses)
    if unknown and (not meant or len(unknown) > meant):
        return Plan((), None, tuple(unknown))
    waiting = deque(done)
    progress: list[Progress] = []
    for clause in clauses:
        if clause.follows and progress and progress[-1].went_wrong:
            progress.append(Progress(clause.request, skipped=True))
            continue
        mine: list[Done] = []
        while (call := next_call(clause.request, mine)) is not None:
            if call.tool not in tools:
                progress.append(Progress(clause.request, tuple(mine), missing=call.tool))
                break
            # Calls that another model made in the same exchange are nobody's here.
            while waiting and waiting[0].tool != call.tool:
                waiting.popleft()
            if not waiting:
                return Plan((*progress, Progress(clause.request, tuple(mine))), call)
            mine.append(waiting.popleft())
        else:
            progress.append(Progress(clause.request, tuple(mine)))
    return Plan(tuple(progress))


def next_call(request: Request, done: Sequence[Done]) -> Call | None:  # noqa: PLR0911  one return a step
    """The call that the request needs next, given its own calls so far; None when there is nothing to do."""
    if done and done[-1].status != "success":
        return None
    match request, len(done):
        case RunTests(), 0:
            return Call("list_directory", {"path": "."}, "Looking for the way to run the tests.")
        case RunTests(), 1:
            command = command_for_tests(done[0].text)
            return _shell(command) if command else None
        case Commit(), 0:
            return Call("git_command", {"args": ["add", "-A"]}, "Adding every change.")
        case Commit(message=message), 1:
            return Call("git_command", {"args": ["commit", "-m", message]}, "Committing.")
        case _, 0:
            return _only_call(request)
    return None


def _only_call(request: Request) -> Call | None:  # noqa: PLR0911, PLR0912  one return for each kind of request
    match request:
        case ListFiles(path=path):
            return Call("list_directory", {"path": path}, f"Listing {code(path)}.")
        case ReadFile(path=path, first=first, last=last):
            arguments: dict[str, Any] = {"path": path}
            if first:
                arguments |= {"offset": first, "limit": last - first + 1}
            return Call("read_file", arguments, f"Reading {code(path)}.")
        case FindFiles(pattern=pattern, path=path):
            return Call(
                "find_files", {"pattern": spread(pattern), "path": path}, f"Looking for files like {code(pattern)}."
            )
        case SearchText(text=text, path=path, literal=literal):
            return Call(
                "search_text",
                {"pattern": text, "path": path, "literal": literal},
                f"Searching {code(path)} for {code(text)}.",
            )
        case WriteFile(path=path, content=content):
            return Call("write_file", {"path": path, "content": content}, f"Writing {code(path)}.")
        case ReplaceText(path=path, old=old, new=new):
            return Call("edit_file", {"path": path, "old_text": old, "new_text": new}, f"Editing {code(path)}.")
        case RunCommand(command=command):
            return _shell(command)
        case Git(args=args):
            return Call("git_command", {"args": list(args)}, f"Asking git: {code(' '.join(args))}.")
        case RecallSearch(query=query):
            return _recall(f"Searching the archive for {code(query)}.", action="search", query=query)
        case RecallRange(first=first, last=last):
            where = f"T{first}" if first == last else f"T{first}–T{last}"
            return _recall(f"Looking up {where}.", action="range", start_turn=first, end_turn=last)
        case RecallCalls(tool=tool):
            return _recall(f"Looking up the calls of {code(tool)}.", action="tool_calls", tool_name=tool)
        case RecallSummary():
            return _recall("Looking at the session so far.", action="summary")
        case Remember(note=note):
            return Call("write_memory", {"content": f"- {note}"}, "Noting it for later sessions too.")
    return None


def _shell(command: str) -> Call:
    return Call("shell_execute", {"command": command}, f"Running {code(command)}.")


def _recall(saying: str, **arguments: Any) -> Call:
    return Call("conversation_recall", arguments, saying)


def spread(pattern: str) -> str:
    """The pattern for find_files: a bare name is looked for anywhere, as part of a name."""
    if any(sign in pattern for sign in "*?[/"):
        return pattern
    return f"**/*{pattern}*"


_TEST_COMMANDS = (
    (r"pytest\.ini|conftest\.py|pyproject\.toml|setup\.cfg|setup\.py|tox\.ini|tests", "python3 -m pytest -q"),
    (r"Cargo\.toml", "cargo test"),
    (r"go\.mod", "go test ./..."),
    (r"package\.json", "npm test"),
    (r"Makefile", "make test"),
    (r"test", "python3 -m pytest -q"),
)


def command_for_tests(listing: str) -> str:
    """The command that runs the tests of a workspace with this listing; empty if nothing tells."""
    for names, command in _TEST_COMMANDS:
        if re.search(rf"(?<![\w.-])(?:{names})(?![\w.-])", listing):
            return command
    return ""


def code(text: str, limit: int = 80) -> str:
    """The text as inline code on one line, cut to `limit` characters."""
    line = " ".join(text.split())
    line = line if len(line) <= limit else f"{line[: limit - 1]}…"
    ticks = max((len(run) for run in re.findall("`+", line)), default=0)
    fence = "`" * (ticks + 1)
    return f"{fence} {line} {fence}" if ticks or not line else f"{fence}{line}{fence}"
