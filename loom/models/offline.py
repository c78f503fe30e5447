"""The offline model: a pydantic-ai model without intelligence, for working without a key or a server."""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic_ai.messages import (
    FinishReason,
    ModelMessage,
    ModelResponse,
    ModelResponsePart,
    ModelResponseStreamEvent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext
from pydantic_ai.usage import RequestUsage

from loom.config import OFFLINE
from loom.models.choice import OFFLINE_WINDOW
from loom.models.offline_grammar import parse
from loom.models.offline_plan import Call, make_plan
from loom.models.offline_reading import Exchange, input_tokens, read_exchange, tokens_of
from loom.models.offline_replies import final_answer, thinking

PROVIDER = "loom"

_WORD = re.compile(r"\S+\s*|\s+")
_LONG_WORD = 4_000
_ARGUMENT_CHUNK = 64


@dataclass(frozen=True, slots=True)
class Script:
    """One response: what is thought, then what is said, then at most one call."""

    thinking: str
    text: str
    call: Call | None

    @property
    def finish_reason(self) -> FinishReason:
        return "tool_call" if self.call else "stop"


class OfflineModel(Model[None]):
    """Streams word by word and calls the real tools; everything it says is made of what they return.

    It keeps nothing between requests: the messages alone say what was asked and how far it has come. `delay_ms` is
    the pause between words, in milliseconds.
    """

    def __init__(self, *, delay_ms: int = 0) -> None:
        # The base class would load the price list (half a second); nothing here has a price.
        self._settings = None
        self._profile = None
        self._delay = delay_ms / 1000

    @property
    def model_name(self) -> str:
        return OFFLINE

    @property
    def system(self) -> str:
        return PROVIDER

    @property
    def context_window(self) -> int:
        return OFFLINE_WINDOW

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """The whole response at once."""
        _, parameters = self.prepare_request(model_settings, model_request_parameters)
        script = write_script(read_exchange(messages), _tool_names(parameters))
        parts: list[ModelResponsePart] = []
        if script.thinking:
            parts.append(ThinkingPart(content=script.thinking))
        if script.text:
            parts.append(TextPart(content=script.text))
        arguments = _arguments(script.call)
        if script.call:
            parts.append(ToolCallPart(tool_name=script.call.tool, args=arguments, tool_call_id=new_call_id()))
        return ModelResponse(
            parts=parts,
            model_name=OFFLINE,
            provider_name=PROVIDER,
            finish_reason=script.finish_reason,
            usage=RequestUsage(
                input_tokens=input_tokens(messages, parameters),
                output_tokens=tokens_of(len(script.thinking) + len(script.text) + len(arguments)),
            ),
        )

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """The response word by word."""
        _, parameters = self.prepare_request(model_settings, model_request_parameters)
        yield OfflineStream(
            model_request_parameters=parameters,
            script=write_script(read_exchange(messages), _tool_names(parameters)),
            delay=self._delay,
            input_tokens=input_tokens(messages, parameters),
        )


def write_script(exchange: Exchange, tools: frozenset[str]) -> Script:
    """The response that comes next in the exchange."""
    plan = make_plan(parse(exchange.prompt), exchange.done, tools)
    thoughts = "" if exchange.begun else thinking(plan)
    if plan.call:
        return Script(thoughts, plan.call.saying, plan.call)
    files = exchange.attachments
    ignored = "" if not files else "the attached file" if files == 1 else f"the {files} attached files"
    return Script(thoughts, final_answer(plan, introduce=not exchange.introduced, ignored=ignored), None)


def new_call_id() -> str:
    """An id that no other call of any session has."""
    return f"call_{uuid.uuid4().hex[:20]}"


def _tool_names(parameters: ModelRequestParameters) -> frozenset[str]:
    return frozenset(tool.name for tool in parameters.function_tools)


def _arguments(call: Call | None) -> str:
    return json.dumps(call.arguments, ensure_ascii=False) if call else ""


@dataclass
class OfflineStream(StreamedResponse):
    """One response as it streams. `cancel()` ends it at the next word, also in the middle of a pause."""

    script: Script
    delay: float
    """Seconds between words."""
    input_tokens: int
    _closed: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _began: datetime = field(default_factory=lambda: datetime.now(UTC), init=False)
    _sent: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._count(0)

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        manager = self._parts_manager
        for word in words(self.script.thinking):
            if not await self._go_on(word):
                return
            for event in manager.handle_thinking_delta(vendor_part_id="thinking", content=word):
                yield event
        for word in words(self.script.text):
            if not await self._go_on(word):
                return
            for event in manager.handle_text_delta(vendor_part_id="text", content=word):
                yield event
        if self.script.call:
            call_id = new_call_id()
            name: str | None = self.script.call.tool
            for piece in chunks(_arguments(self.script.call)):
                if not await self._go_on(piece):
                    return
                for event in manager.handle_tool_call_delta_events(
                    vendor_part_id="call", tool_name=name, args=piece, tool_call_id=call_id
                ):
                    yield event
                name = None
        self.finish_reason = self.script.finish_reason

    async def _go_on(self, piece: str) -> bool:
        """Wait as long as a word takes; False when the stream was closed meanwhile."""
        if self.delay:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._closed.wait(), self.delay)
        else:
            # Without a pause, an interruption would still have to wait for the last word.
            await asyncio.sleep(0)
        if self._closed.is_set():
            return False
        self._count(len(piece))
        return True

    def _count(self, chars: int) -> None:
        self._sent += chars
        self._usage = RequestUsage(input_tokens=self.input_tokens, output_tokens=tokens_of(self._sent))

    async def close_stream(self) -> None:
        self._closed.set()

    @property
    def model_name(self) -> str:
        return OFFLINE

    @property
    def provider_name(self) -> str:
        return PROVIDER

    @property
    def provider_url(self) -> None:
        return None

    @property
    def timestamp(self) -> datetime:
        return self._began


def words(text: str) -> Iterator[str]:
    """The text in words with the space behind them; a very long one in pieces. Joined they are the text."""
    for found in _WORD.finditer(text):
        word = found[0]
        for start in range(0, len(word), _LONG_WORD):
            yield word[start : start + _LONG_WORD]


def chunks(arguments: str) -> Iterator[str]:
    """The arguments of a call in at most some fifty pieces. Joined they are the arguments."""
    size = max(_ARGUMENT_CHUNK, len(arguments) // 50)
    for start in range(0, len(arguments), size):
        yield arguments[start : start + size]
