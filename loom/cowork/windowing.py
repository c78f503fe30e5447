"""What each request is made of: assembled before it is sent, recorded, and made smaller when it does not fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import RetryModelRequest
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse
from pydantic_ai.models import ModelRequestContext, ModelRequestParameters
from pydantic_ai.tools import RunContext

from loom.config import OFFLINE
from loom.context.assembly import Assembly
from loom.context.caching import BY_BREAKPOINTS, with_cache_points
from loom.context.manifests import manifest_of
from loom.context.measure import schema_lines
from loom.context.window import Window
from loom.cowork.events import Listener, Notice, WindowTrimmed
from loom.cowork.recorder import Recorder
from loom.cowork.requests import RequestLog
from loom.cowork.summarising import Summariser
from loom.models.errors import is_overflow, overflow_limit


class Windowing(AbstractCapability[None]):
    """Puts the window in the place of the run's own messages, for each request anew."""

    def __init__(
        self,
        window: Window,
        summariser: Summariser,
        recorder: Recorder,
        requests: RequestLog,
        count: Callable[[str], int],
        listener: Listener,
        exchange: int,
        model_name: str,
    ) -> None:
        super().__init__()
        self._window = window
        self._summariser = summariser
        self._recorder = recorder
        self._requests = requests
        self._count = count
        self._listener = listener
        self._exchange = exchange
        self._model_name = model_name
        self._shrunk = False
        self._refused = False  # the request that is sent next is one that did not fit, made smaller

    # Here and not in `before_model_request`: this runs again for a second attempt after an overflow.
    async def prepare_model_request(
        self, ctx: RunContext[None], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        assembly = self._window.assemble(ctx.messages, leave_to=await self._sum_up())
        await self._record(assembly, request_context.model_request_parameters)
        if self._refused:
            self._refused = False
            self._listener(
                Notice("warning", "The provider says that this does not fit its window: sent once more, smaller.")
            )
        if assembly.notice:
            self._listener(Notice("warning", assembly.notice))
        messages = assembly.messages
        if request_context.model.system in BY_BREAKPOINTS:
            messages = with_cache_points(messages)
        return replace(request_context, messages=messages)

    async def _sum_up(self) -> int:
        """Make the summary that the policy wants, if it wants one now. The turn up to which exchanges are to leave
        because there is none; 0 for no such turn. Raises NotSaved."""
        to_turn, overflow = self._summariser.wanted_to(self._window), self._window.overflow
        if not to_turn:
            return 0
        turn = await self._summariser.try_turn(self._window, to_turn)
        if turn is None:
            return to_turn
        self._window.add(await self._recorder.store([turn]))
        if overflow:
            self._listener(Notice("warning", f"{overflow} It was summed up again."))
        return 0

    async def _record(self, assembly: Assembly, parameters: ModelRequestParameters) -> None:
        """Keep what the request was made of, and what left the window for it or is shown shorter. Raises NotSaved."""
        instructions = _instructions(assembly.messages)
        tools = schema_lines(parameters.function_tools)
        digest = self._requests.fingerprints.digest(assembly.messages, instructions, tools)
        await self._requests.add(
            lambda session_id, request: manifest_of(
                assembly,
                session_id=session_id,
                request=request,
                exchange=self._exchange,
                model_name=self._model_name,
                window=self._window.budget.window,
                instructions=instructions,
                tools=tools,
                digest=digest,
            )
        )
        receipt, shortening = assembly.receipt, assembly.shortening
        if receipt is not None:
            self._window.add(await self._recorder.store([receipt.turn(self._count)]))
            self._listener(WindowTrimmed(receipt.first_turn, receipt.last_turn, receipt.line))
        elif shortening is not None:
            self._window.add(await self._recorder.store([shortening.turn(self._count)]))

    async def after_model_request(
        self, ctx: RunContext[None], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        usage = response.usage
        self._window.report(usage.input_tokens)
        # The offline model has no cache: its 0 is no share of one.
        cached = None if self._model_name == OFFLINE else usage.cache_read_tokens
        await self._requests.reported(usage.input_tokens, cached)
        return response

    async def on_model_request_error(
        self, ctx: RunContext[None], *, request_context: ModelRequestContext, error: Exception
    ) -> ModelResponse:
        if is_overflow(error) and not self._shrunk and self._window.overflowed(overflow_limit(error)):
            self._shrunk = self._refused = True
            raise RetryModelRequest from error
        raise error


def _instructions(messages: Sequence[ModelMessage]) -> str:
    newest = messages[-1] if messages else None
    return (newest.instructions or "") if isinstance(newest, ModelRequest) else ""
