"""One exchange: the person's message goes to the model, tools run, the answer comes back, all of it kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic_ai import Agent, CancellationToken, capture_run_messages
from pydantic_ai.exceptions import AgentRunError, RunCancelled, UsageLimitExceeded
from pydantic_ai.messages import AgentStreamEvent, ModelMessage
from pydantic_ai.run import AgentRunResultEvent
from pydantic_ai.usage import UsageLimits

from loom.archive.records import TurnStatus
from loom.cowork.events import Listener, Outcome
from loom.cowork.gate import Gate
from loom.cowork.in_progress import InProgress
from loom.cowork.recorder import NotSaved
from loom.cowork.windowing import Windowing
from loom.cowork.writethrough import WriteThrough
from loom.errors import LoomError
from loom.models.choice import ModelChoice
from loom.models.errors import explain_error


@dataclass(slots=True)
class Exchange:
    """A run of the agent, with everything that must happen around it."""

    agent: Agent[None, str]
    choice: ModelChoice
    listener: Listener
    writer: WriteThrough
    windowing: Windowing
    gate: Gate
    progress: InProgress
    request_limit: int
    """Model requests before the exchange stops; 0 is no limit."""
    log_fault: Callable[[BaseException], None]
    token: CancellationToken

    async def run(self, prompt: str, instructions: str) -> tuple[Outcome, str]:
        """How it ended, and what went wrong in words; `instructions` go behind the static ones. Everything that came of
        it is stored when this returns, except after NotSaved, when it waits in the recorder.

        Raises asyncio.CancelledError when the task itself is cancelled, after storing what there was.
        """
        with capture_run_messages() as captured:
            try:
                await self._run(prompt, instructions)
            except RunCancelled as cancelled:
                return await self._settle(cancelled.all_messages(), Outcome.INTERRUPTED, "")
            except asyncio.CancelledError as cancelled:
                run = RunCancelled.from_cancellation(cancelled)
                await asyncio.shield(self._settle(run.all_messages() if run else captured, Outcome.INTERRUPTED, ""))
                raise
            except NotSaved as error:
                return await self._settle(captured, Outcome.FAILED, str(error))
            except UsageLimitExceeded:
                words = (
                    f"The model asked {self.request_limit} times without finishing; the exchange was stopped. "
                    "Say `go on` to let it continue, or raise request_limit in the settings."
                )
                return await self._settle(captured, Outcome.FAILED, words)
            except LoomError as error:
                return await self._settle(captured, Outcome.FAILED, str(error))
            except Exception as error:  # noqa: BLE001 - whatever breaks ends the exchange, not the program
                if not isinstance(error, AgentRunError):
                    self.log_fault(error)
                return await self._settle(captured, Outcome.FAILED, str(explain_error(error, self.choice)))
        cut = self.writer.turns and self.writer.turns[-1].status is TurnStatus.PARTIAL
        return (Outcome.PARTIAL if cut else Outcome.COMPLETE), ""

    async def _run(self, prompt: str, instructions: str) -> None:
        # No history: the window puts it in front of every request, from the archive.
        async with self.agent.run_stream_events(
            prompt,
            instructions=instructions or None,
            cancellation_token=self.token,
            usage_limits=UsageLimits(request_limit=self.request_limit or None),
            capabilities=[self.writer, self.windowing, self.gate],
        ) as events:
            async for event in events:
                if not isinstance(event, AgentRunResultEvent):
                    self._draw(event)

    def _draw(self, event: AgentStreamEvent) -> None:
        words = self.progress.take(event)
        if words is not None:
            self.listener(words)

    async def _settle(self, messages: Sequence[ModelMessage], outcome: Outcome, error: str) -> tuple[Outcome, str]:
        try:
            await self.writer.settle(messages)
        except NotSaved as failure:
            return Outcome.FAILED, error or str(failure)
        return outcome, error
