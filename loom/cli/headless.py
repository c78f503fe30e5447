"""One exchange without a screen: the same session, archive and events, printed."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from loom.cli.output import OutputError, say, unwritten
from loom.config import Settings
from loom.cowork.ending import EndingSignals, silence
from loom.cowork.events import (
    ApprovalAsked,
    Compacting,
    Decision,
    Event,
    ExchangeEnded,
    Notice,
    Outcome,
    SaveFailed,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnStored,
    UsageChanged,
)
from loom.cowork.session import CoworkSession
from loom.cowork.workbench import Workbench
from loom.errors import LoomError
from loom.locations import Locations
from loom.models.choosing import choose_model
from loom.text import plural, show, show_line

_TURN_COLUMNS = (
    "turn_number",
    "exchange",
    "role",
    "kind",
    "status",
    "content",
    "tool_calls",
    "tool_call_id",
    "tool_name",
    "created_at",
)
EXIT_NOT_ALLOWED = 3
"""The exchange came to its end, but without something that the model wanted to do."""
_EXIT = {Outcome.COMPLETE: 0, Outcome.PARTIAL: 1, Outcome.FAILED: 1, Outcome.INTERRUPTED: 130}
_ALLOWED = {"nothing": set(), "edits": {"diff"}, "commands": {"command"}, "all": {"diff", "command"}}


def run_prompt(locations: Locations, settings: Settings, workspace: Path, parsed: argparse.Namespace) -> int:
    """Run the exchange that the arguments ask for, without a prompt that of the message that has no answer; its exit
    code."""
    prompt = sys.stdin.read() if parsed.prompt == "-" else parsed.prompt
    if prompt is not None and not prompt.strip():
        raise LoomError("The prompt is empty.", "Give -p some text, or pipe it in with -p -.")
    printer = _JsonPrinter() if parsed.output == "json" else _TextPrinter()
    allowed: set[str] = _ALLOWED[parsed.allow]
    return asyncio.run(
        _run(
            locations,
            settings,
            workspace,
            parsed.resume,
            prompt,
            printer,
            allowed,
            fork=parsed.fork,
            trust_project=parsed.trust,
        )
    )


async def _run(
    locations: Locations,
    settings: Settings,
    workspace: Path,
    resume: str | None,
    prompt: str | None,
    printer: _Printer,
    allowed: set[str],
    *,
    fork: bool,
    trust_project: bool,
) -> int:
    workbench = await Workbench.open(locations, settings)
    workbench.store.tell_of_files(lambda error: say(show_line(f"loom: {error}", 500)))
    try:
        choice = await asyncio.to_thread(choose_model, settings.model, settings)
        driver = _Driver(printer, allowed)
        session = CoworkSession(workbench, workspace, choice, listener=driver.take, trust_project=trust_project)
        driver.session = session
        try:
            if resume is not None:
                found = await workbench.store.resolve_reference(resume, str(workspace))
                await session.resume(await workbench.store.fork_session(found.id) if fork else found.id)
            if session.begun_in:
                words = f"loom: written in {session.begun_in}; commands and edits go to {workspace}."
                say(show_line(words, 9_000))
            await session.prepare()
            if session.problem is not None:
                raise session.problem
            if session.beside.standing == "unasked":
                names = ", ".join(file.path for file in session.beside.project.files)
                say(show_line(f"loom: {names} not read: nobody trusted it yet; --trust does.", 500))
            with EndingSignals(driver.interrupt) as signals:
                await _ask(session, prompt)
                ended = await driver.ended
                await session.titled()
        finally:
            await session.close()
        driver.end(session, ended)
        if driver.unwritten is not None:
            raise driver.unwritten
        if ended.outcome is Outcome.INTERRUPTED and signals.exit_code is not None:
            return signals.exit_code
        if ended.outcome is Outcome.COMPLETE and driver.denied:
            return EXIT_NOT_ALLOWED
        return _EXIT[ended.outcome]
    finally:
        await workbench.close()


async def _ask(session: CoworkSession, prompt: str | None) -> None:
    """Begin the exchange. Raises LoomError when there is nothing to ask."""
    if prompt is None:
        await session.ask_again()
        return
    if (turn := session.unanswered) is not None:
        say(f"loom: T{turn.turn_number} has no answer; --retry in place of -p asks for it.")
    session.submit(prompt)


class _Driver:
    """Answers for the person who is not there, and waits for the end."""

    def __init__(self, printer: _Printer, allowed: set[str]) -> None:
        self._printer: _Printer | None = printer
        self._allowed = allowed
        self.ended: asyncio.Future[ExchangeEnded] = asyncio.get_running_loop().create_future()
        self.session: CoworkSession | None = None
        self.denied: list[str] = []
        """The tools whose calls were not allowed, in their order."""
        self.unwritten: OutputError | None = None
        """Why not everything was printed."""

    def take(self, event: Event) -> None:
        self._print(lambda printer: printer.take(event))
        if isinstance(event, ApprovalAsked):
            asyncio.get_running_loop().call_soon(self._answer, event)
        elif isinstance(event, ExchangeEnded) and not self.ended.done():
            self.ended.set_result(event)

    def end(self, session: CoworkSession, ended: ExchangeEnded) -> None:
        """Print what stands at the end."""
        self._print(lambda printer: printer.end(session, ended, self.denied))

    def _print(self, show: Callable[[_Printer], None]) -> None:
        if self._printer is None:
            return
        try:
            show(self._printer)
        except BrokenPipeError:
            # Whoever read our output has gone (`| head`). The exchange goes on to its end and is kept.
            self._printer = None
            silence()
        except OSError as error:
            # So it does where our output cannot be written; that is said when it is over.
            self._printer = None
            self.unwritten = unwritten(error)

    def _answer(self, asked: ApprovalAsked) -> None:
        if self.session is None:
            return
        if asked.preview.kind in self._allowed:
            self.session.answer(asked.call_id, Decision(allowed=True))
        else:
            self.denied.append(asked.tool_name)
            reason = "Nobody is there to ask, and this run may not do that by itself. Say what you would have done."
            self.session.answer(asked.call_id, Decision(allowed=False, reason=reason, by_person=False))

    def interrupt(self, which: signal.Signals) -> None:
        if self.session is not None:
            self.session.interrupt()


class _TextPrinter:
    """The answer on standard output as it streams; what happens around it on standard error."""

    def __init__(self) -> None:
        self._column = 0

    def take(self, event: Event) -> None:
        match event:
            case TextDelta(text=text):
                safe = show(text)
                sys.stdout.write(safe)
                sys.stdout.flush()
                self._column = 0 if safe.endswith("\n") else self._column + len(safe)
            case ToolStarted(name=name, arguments=arguments):
                self._break()
                self._aside(f"· {name} {json.dumps(arguments, ensure_ascii=False)}")
            case ToolFinished(turn=turn, duration_ms=duration):
                self._aside(f"  {turn.status} in {duration} ms (T{turn.turn_number})")
            case Compacting(words=words) if words:
                self._aside(f"· {words}")
            case Notice(severity=severity, text=text):
                self._aside(f"{severity}: {text}")
            case SaveFailed(what=what, remedy=remedy):
                self._aside(f"error: {what} {remedy}")

    def end(self, session: CoworkSession, ended: ExchangeEnded, denied: Sequence[str]) -> None:
        self._break()
        if denied:
            calls = plural(len(denied), "call")
            tools = ", ".join(dict.fromkeys(denied))
            self._aside(f"loom: {calls} not allowed ({tools}); --allow edits, commands or all lets such calls run")
        if ended.error:
            self._aside(f"loom: {ended.error}")

    def _break(self) -> None:
        if self._column:
            sys.stdout.write("\n")
            sys.stdout.flush()
            self._column = 0

    def _aside(self, line: str) -> None:
        say(show_line(line, 500))


class _JsonPrinter:
    """One JSON object at the end: the answer, every turn of the exchange, the numbers."""

    def __init__(self) -> None:
        self._turns: list[dict[str, Any]] = []
        self._notices: list[dict[str, str]] = []
        self._usage: dict[str, Any] = {}

    def take(self, event: Event) -> None:
        match event:
            case TurnStored(turn=turn):
                self._turns.append({name: turn[name] for name in _TURN_COLUMNS})
            case Notice(severity=severity, text=text):
                self._notices.append({"severity": severity, "text": text})
            case SaveFailed(what=what, remedy=remedy):
                self._notices.append({"severity": "error", "text": f"{what} {remedy}"})
            case UsageChanged(usage=usage):
                self._usage = asdict(usage)

    def end(self, session: CoworkSession, ended: ExchangeEnded, denied: Sequence[str]) -> None:
        record = session.session
        answers = [t["content"] for t in self._turns if t["role"] == "assistant" and t["kind"] == "text"]
        result = {
            "session": record.reference if record else None,
            "session_id": record.id if record else None,
            "model": session.choice.name,
            "exchange": ended.exchange,
            "outcome": ended.outcome,
            "error": ended.error,
            "denied": list(denied),
            "answer": answers[-1] if answers else "",
            "turns": self._turns,
            "notices": self._notices,
            "usage": self._usage,
        }
        sys.stdout.write(json.dumps(result, ensure_ascii=True, indent=2) + "\n")
        sys.stdout.flush()


_Printer = _TextPrinter | _JsonPrinter
