"""The tool shell_execute."""

import os
import shutil
import signal
from collections.abc import Mapping
from typing import Any

from loom.config import Settings
from loom.text import storable
from loom.tools.capture import Capture
from loom.tools.command_prefix import prefix_of
from loom.tools.danger import danger_of_command
from loom.tools.environment import environment_for_commands
from loom.tools.offloop import in_thread
from loom.tools.outcome import Preview, ToolFailure, ToolOutcome
from loom.tools.paths import Workspace, in_words
from loom.tools.process import Ended, run_program
from loom.tools.watching import capture_of_call

MAX_SECONDS = 86_400


class Shell:
    def __init__(self, workspace: Workspace, settings: Settings) -> None:
        self._workspace = workspace
        self._seconds = settings.shell_timeout
        self._limit = settings.shell_output_limit
        self._program = shutil.which("bash") or "/bin/sh"

    async def shell_execute(self, command: str, timeout_seconds: int = 0) -> ToolOutcome:
        """Run a shell command in the workspace, without input. Everything it started is ended with it.

        Args:
            command: The command line.
            timeout_seconds: Seconds it may take; 0 is the usual time.
        """
        return await self.run(command, timeout_seconds, capture_of_call(self._limit))

    async def run(self, command: str, seconds: int, capture: Capture) -> ToolOutcome:
        """Run it for at most `seconds` (0: the usual time), its output into `capture` as it comes.

        Raises ToolFailure if it cannot be started. When the caller is cancelled, everything that it started is ended
        before CancelledError goes on.
        """
        command, seconds = self._checked(command, seconds)
        try:
            ended = await run_program(
                [self._program, "-c", command],
                folder=self._workspace.root,
                environment=environment_for_commands(os.environ),
                seconds=seconds,
                take=capture.take,
            )
        except OSError as error:
            started = ToolFailure(f"The command cannot be started: {in_words(error)}.")
            raise self._workspace.gone() or started from error
        return ToolOutcome(told(capture, ended, seconds), facts_of(command, capture, ended))

    async def preview(self, arguments: Mapping[str, Any]) -> Preview:
        """The command exactly as it will run, the time it may take and where."""
        command, seconds = self._checked(arguments["command"], arguments.get("timeout_seconds", 0))
        root = self._workspace.root
        prefix = await in_thread(lambda: prefix_of(command, root))
        return Preview(
            title=f"Run a command (at most {seconds:,} s, in {root})",
            body=command,
            kind="command",
            scope="shell commands that are exactly this one",
            scope_key=f"shell:{root}\0{command}",
            warning=danger_of_command(command, root),
            wider_scope=_wider(prefix) if prefix else "",
            wider_key=f"shell-prefix:{root}\0{prefix}" if prefix else "",
        )

    def _checked(self, command: str, seconds: int) -> tuple[str, int]:
        command = storable(command)
        if not command.strip() or "\0" in command:
            raise ToolFailure("The command is empty or holds a NUL character.", "Give a command line.")
        if not 0 <= seconds <= MAX_SECONDS:
            raise ToolFailure(f"timeout_seconds is {seconds}.", f"Give 0 (the usual time) to {MAX_SECONDS:,}.")
        return command, seconds or self._seconds


def _wider(prefix: str) -> str:
    what = f"every shell command that begins with `{prefix}`, without operators and warnings"
    return f"{what}; what runs may read whatever you may read"


def told(capture: Capture, ended: Ended, seconds: int, *, always: bool = True) -> str:
    """The output, and below it in brackets how it ended; `always` says so of a plain success too."""
    notes = []
    if ended.left_behind:
        notes.append("processes that it left running were ended")
    if ended.timed_out:
        notes.append(f"timed out: ended after {seconds:,} s")
    elif ended.signal is not None:
        notes.append(f"ended by {_signal_name(ended.signal)}")
    elif always or ended.exit_code:
        notes.append(f"exit code {ended.exit_code}")
    output = capture.text().rstrip("\n") or "(no output)"
    return f"{output}\n[{'; '.join(notes)}]" if notes else output


def facts_of(command: str, capture: Capture, ended: Ended) -> dict[str, Any]:
    """What is kept beside the output of a command that ran."""
    return {
        "command": command,
        "exit_code": ended.exit_code,
        "timed_out": ended.timed_out,
        "duration_ms": ended.duration_ms,
        "truncated": capture.dropped > 0,
    }


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
