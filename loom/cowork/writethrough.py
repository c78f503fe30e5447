"""Write-through inside a run: nothing happens next until what happened is in the archive."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import uuid4

from pydantic_ai.capabilities import AbstractCapability, WrapToolExecuteHandler, on_event
from pydantic_ai.messages import (
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import RunContext, ToolDefinition

from loom.archive import NewTurn, Turn
from loom.archive.records import TurnKind, TurnStatus
from loom.context.messages import turns_from_request, turns_from_response
from loom.context.window import Window
from loom.cowork.events import Listener, Notice, ToolFinished, ToolRunning, ToolStarted
from loom.cowork.in_progress import InProgress
from loom.cowork.live_output import STOPPED
from loom.cowork.recorder import NotSaved, Recorder
from loom.models.endings import cut_short
from loom.tools.offloop import settled


class WriteThrough(AbstractCapability[None]):
    """Stores each response before a tool runs, each tool result before the next request, and, when the run is cut,
    what there was of them."""

    def __init__(
        self,
        recorder: Recorder,
        listener: Listener,
        window: Window,
        count: Callable[[str], int],
        progress: InProgress,
        measure: Callable[[], None],
    ) -> None:
        super().__init__()
        self._recorder = recorder
        self._listener = listener
        self._window = window
        self._count = count
        self._progress = progress
        self._measure = measure
        self._stored_messages = 1  # the run begins with the prompt, which is stored already
        self._calls: dict[str, Turn] = {}
        self._answered: set[str] = set()
        self._started_at: dict[str, float] = {}
        self.turns: list[Turn] = []
        """Every turn of the run so far, ascending."""

    def running(self, call_id: str) -> None:
        """The call was let through and runs now: its duration counts from here."""
        self._started_at[call_id] = time.monotonic()
        self._listener(ToolRunning(call_id))

    async def before_model_request(
        self, ctx: RunContext[None], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        await self._store_requests(ctx.messages)
        return request_context

    async def _store_requests(self, messages: Sequence[ModelMessage]) -> None:
        """Store what no event told of: feedback that the library itself puts into a request."""
        for message in messages[self._stored_messages :]:
            if isinstance(message, ModelRequest):
                left = [part for part in message.parts if not self._known(part)]
                if left:
                    await self._store(turns_from_request(replace(message, parts=left), self._count))
        self._stored_messages = len(messages)

    def _known(self, part: object) -> bool:
        if isinstance(part, UserPromptPart):
            return True
        return isinstance(part, ToolReturnPart) and part.tool_call_id in self._answered

    async def after_model_request(
        self, ctx: RunContext[None], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        response = _with_unique_calls(response)
        cut = cut_short(response)
        status = TurnStatus.PARTIAL if cut else TurnStatus.COMPLETE
        await self.store_response(response, status)
        if cut:
            self._listener(Notice("warning", cut))
        return response

    async def store_response(self, response: ModelResponse, status: TurnStatus) -> None:
        """Store a response, whole or cut, in place of its draft. Raises NotSaved."""
        await self._recorder.settle_draft()
        turns = turns_from_response(response, self._count, status=status)
        # From here on the turns are stored or kept; before, the streamed words are all that there is.
        self._progress.answer.clear()
        stored = await self._store(turns)
        for turn in stored:
            for call in turn.tool_calls or ():
                self._calls[call["id"]] = turn
                # Some local servers begin their call ids anew in every response.
                self._answered.discard(call["id"])
                self._started_at.pop(call["id"], None)

    @on_event(FunctionToolCallEvent)
    async def _called(self, ctx: RunContext[None], event: FunctionToolCallEvent) -> None:
        call = event.part
        turn = self._calls.get(call.tool_call_id)
        self._listener(
            ToolStarted(call.tool_call_id, call.tool_name, call.args_as_dict(), turn.turn_number if turn else 0)
        )

    async def wrap_tool_execute(
        self,
        ctx: RunContext[None],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        handler: WrapToolExecuteHandler,
    ) -> Any:
        turn = self._calls.get(call.tool_call_id)
        with self._progress.watching(call.tool_call_id, call.tool_name, turn.turn_number if turn else 0):
            return await handler(args)

    @on_event(FunctionToolResultEvent)
    async def _returned(self, ctx: RunContext[None], event: FunctionToolResultEvent) -> None:
        await self._store_result(event.part)

    async def _store_result(self, part: object) -> None:
        if isinstance(part, ToolReturnPart) and part.tool_call_id not in self._answered:
            # Whoever interrupts now hears of it when the result is stored: it has happened.
            await settled(self._store_encoded(part))

    async def _store_encoded(self, part: ToolReturnPart) -> None:
        # 0.1 s for the output of a command that wrote 2 MB: no key press waits for that.
        (result,) = await asyncio.to_thread(turns_from_request, ModelRequest(parts=[part]), self._count)
        await self._answer(part.tool_call_id, result)

    async def _answer(self, call_id: str, result: NewTurn) -> None:
        """Store the result of a call, in place of what the draft has of it."""
        output = self._progress.output_of(call_id)
        if output is not None:
            await self._recorder.settle_draft()
            # Should loom be killed before the draft is gone, the same key says that its end is known.
            result = replace(result, append_key=output.key)
        self._answered.add(call_id)
        (turn,) = await self._store([result])
        if output is not None:
            await self._progress.forget(call_id)
        began = self._started_at.get(call_id, time.monotonic())
        self._listener(ToolFinished(call_id, turn, round((time.monotonic() - began) * 1000)))

    async def settle(self, messages: Sequence[ModelMessage]) -> None:
        """Store what an interrupted or failed run left: the answer as far as it came, results that no event
        announced, and a word for every call that got no result. Raises NotSaved."""
        await self._recorder.settle_draft()
        failed: NotSaved | None = None
        for leave in self._left(messages):
            try:
                await leave()
            except NotSaved as error:
                failed = error  # kept by the recorder, like everything that follows
        if failed is not None:
            raise failed
        await self._progress.forget_all()

    def _left(self, messages: Sequence[ModelMessage]) -> Iterator[Callable[[], Awaitable[object]]]:
        for part in _since_last_response(messages):
            if isinstance(part, ToolReturnPart) and part.tool_call_id in self._calls:
                yield partial(self._store_result, part)
        last = messages[-1] if messages else None
        # One without parts is no answer: it would stand between the message and another attempt.
        if isinstance(last, ModelResponse) and last.state == "interrupted" and last.parts and not self._holds(last):
            yield partial(self.store_response, last, TurnStatus.INTERRUPTED)
        elif streamed := self._progress.answer.turns():
            self._progress.answer.clear()
            yield partial(self._store, streamed)
        for call_id, turn in list(self._calls.items()):
            if call_id not in self._answered:
                yield partial(self._store_unanswered, call_id, turn)

    def _holds(self, response: ModelResponse) -> bool:
        calls = [part.tool_call_id for part in response.parts if isinstance(part, ToolCallPart)]
        return bool(calls) and all(call in self._calls for call in calls)

    async def _store_unanswered(self, call_id: str, turn: Turn) -> None:
        call = next(c for c in turn.tool_calls or () if c["id"] == call_id)
        ran = call_id in self._started_at
        words = "Interrupted while it ran: it may have taken effect." if ran else "Interrupted before it ran."
        if (output := self._progress.output_of(call_id)) is not None:
            words = output.with_note(STOPPED)
        result = NewTurn(
            role="tool",
            kind=TurnKind.TOOL_RESULT,
            status=TurnStatus.INTERRUPTED,
            content=words,
            tool_call_id=call_id,
            tool_name=call["name"],
            # 0.1 s for the longest output: no key press waits for that.
            token_count=await asyncio.to_thread(self._count, words),
        )
        await self._answer(call_id, result)

    async def _store(self, turns: Sequence[NewTurn]) -> list[Turn]:
        stored = await self._recorder.store(turns)
        self._window.add(stored)
        self.turns.extend(stored)
        self._measure()
        return stored


def _with_unique_calls(response: ModelResponse) -> ModelResponse:
    """The response, no id of a call twice in it: results are told apart by them."""
    seen: set[str] = set()
    parts: list[ModelResponsePart] = []
    for part in response.parts:
        if isinstance(part, ToolCallPart):
            if part.tool_call_id in seen:
                part = replace(part, tool_call_id=f"{part.tool_call_id}-{uuid4().hex[:8]}")  # noqa: PLW2901
            seen.add(part.tool_call_id)
        parts.append(part)
    return replace(response, parts=parts)


def _since_last_response(messages: Sequence[ModelMessage]) -> list[object]:
    """The parts of the requests behind the last response: what the tools gave since."""
    parts: list[object] = []
    for message in reversed(messages):
        if isinstance(message, ModelResponse):
            break
        parts[:0] = message.parts
    return parts
