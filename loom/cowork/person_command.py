"""A command that the person runs in the workspace by hand: stored before it runs, its output streamed, kept and stored.

It runs through the same warden as the model's commands. Nobody is asked about it: the person typed it. The model learns
of it with the next message.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from loom.archive import NewTurn, Turn
from loom.archive.records import PERSON_COMMAND
from loom.config import Settings
from loom.cowork.events import Listener, Outcome, ToolFinished, ToolRunning
from loom.cowork.live_output import STOPPED, LiveOutput
from loom.cowork.recorder import NotSaved, Recorder
from loom.text import storable
from loom.tools.outcome import ToolFailure
from loom.tools.shell import MAX_SECONDS, Shell

if TYPE_CHECKING:
    from loom.context.person_commands import Ending

NOT_RUN = "[stopped before it ran]"
NOT_SAVED = "[not run: it could not be saved first]"


class PersonCommand:
    """One run of one command; for one use."""

    def __init__(
        self,
        command: str,
        shell: Shell,
        settings: Settings,
        recorder: Recorder,
        count: Callable[[str], int],
        listener: Listener,
    ) -> None:
        self.command = storable(command)
        self._shell = shell
        self._seconds = min(settings.person_command_timeout or MAX_SECONDS, MAX_SECONDS)
        self._recorder = recorder
        self._count = count
        self._listener = listener
        self._call_id = f"person-{uuid4().hex}"
        self._output = LiveOutput(
            settings.shell_output_limit,
            self._call_id,
            PERSON_COMMAND,
            f"output/{self._call_id}",
            self._listener,
            self._heard,
        )
        self._exchange = 0
        self._program: asyncio.Task[Any] | None = None
        self._stopped = False

    def stop(self) -> None:
        """End it, and everything that it started; what it wrote is kept."""
        self._stopped = True
        if self._program is not None:
            self._program.cancel()

    async def store(self) -> Turn:
        """Store the command: it begins an exchange. Raises NotSaved; it is not run then."""
        # It imports pydantic-ai, half a second the first time.
        await asyncio.to_thread(importlib.import_module, "loom.context.person_commands")
        from loom.context.person_commands import command_row

        row = command_row(self.command, self._call_id, self._count)
        try:
            (turn,) = await self._recorder.store([row])
        except NotSaved:
            # It is kept, and stored when there is room again: then this is to be known of it.
            with contextlib.suppress(NotSaved):
                await self._recorder.store([await self._result(NOT_SAVED, {}, "failed")])
            raise
        self._exchange = turn.exchange
        return turn

    async def run(self) -> tuple[list[Turn], Outcome]:
        """Run the command that was stored, and store what it gave: its rows, and how it ended. Raises NotSaved, when
        that could not be stored (it is kept)."""
        began = time.monotonic()
        row, outcome = await self._ended()
        duration = round((time.monotonic() - began) * 1000)
        await self._recorder.settle_draft()
        stored = await self._recorder.store([row])
        await self._recorder.save_draft(self._exchange, ())
        self._listener(ToolFinished(self._call_id, stored[0], duration))
        return stored, outcome

    async def _result(self, text: str, facts: Mapping[str, Any], outcome: Ending) -> NewTurn:
        from loom.context.person_commands import output_row

        # 0.1 s for 2 MB: no key press waits for that.
        return await asyncio.to_thread(output_row, self._call_id, text, facts, outcome, self._count)

    async def _ended(self) -> tuple[NewTurn, Outcome]:
        """What comes of it. When the caller is cancelled the program is ended before CancelledError goes on; the draft
        says what there was."""
        # On disk before it runs: after a crash it is known that it may have run.
        await self._recorder.save_draft(self._exchange, await self._draft())
        if self._stopped:
            return await self._result(NOT_RUN, {}, "interrupted"), Outcome.INTERRUPTED
        self._listener(ToolRunning(self._call_id))
        self._program = asyncio.ensure_future(self._shell.run(self.command, self._seconds, self._output))
        try:
            await asyncio.wait([self._program])
        except asyncio.CancelledError:
            self._program.cancel()
            await asyncio.wait([self._program])
            raise
        finally:
            self._output.show()
        if self._program.cancelled():
            words = self._output.with_note(STOPPED)
            return await self._result(words, {"command": self.command}, "interrupted"), Outcome.INTERRUPTED
        if isinstance(error := self._program.exception(), ToolFailure):
            return await self._result(str(error), {}, "failed"), Outcome.COMPLETE
        done = self._program.result()
        return await self._result(done.content, done.facts, "success"), Outcome.COMPLETE

    def _heard(self) -> None:
        """More output has come."""
        self._recorder.draft(self._exchange, self._draft)

    async def _draft(self) -> Sequence[NewTurn]:
        return (await self._output.cut_off(self._count),)
