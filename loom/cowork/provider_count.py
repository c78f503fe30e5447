"""The provider's own count of the window, asked for between exchanges when a setting says so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from pydantic_ai.messages import ModelMessage, ModelRequest
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from loom.context.window import Window
from loom.cowork.events import Listener, Notice
from loom.models.choice import ModelChoice
from loom.models.errors import explain_error

PATIENCE = 15.0
"""Seconds that a count may take; the estimate stands meanwhile and after."""


class ProviderCount:
    """Asks in the background; nothing waits for the answer. Where there is none, the estimate stands, and that is said.

    For one event loop.
    """

    def __init__(
        self,
        model: Model,
        choice: ModelChoice,
        instructions: str,
        tools: Sequence[ToolDefinition],
        window: Window,
        listener: Listener,
    ) -> None:
        self._model = model
        self._choice = choice
        self._instructions = instructions
        self._parameters = ModelRequestParameters(function_tools=list(tools))
        self._window = window
        self._listener = listener
        self._task: asyncio.Task[None] | None = None
        self._asked: int | None = None
        self._able = True
        self._warned = ""

    def ask(self, counted: Callable[[], None]) -> None:
        """Begin to count what the window holds now, unless that is known or the provider cannot; `counted` is called
        when the gauge reads on the provider's number. A count that is still under way is given up."""
        messages, tokens = self._window.standing()
        if not self._able or not messages or tokens == self._asked:
            return
        if self._task is not None:
            self._task.cancel()
        self._asked = tokens
        self._task = asyncio.ensure_future(self._count(messages, tokens, counted))

    async def stop(self) -> None:
        """Give up what is under way."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _count(self, messages: list[ModelMessage], tokens: int, counted: Callable[[], None]) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                usage = await self._model.count_tokens(self._instructed(messages), None, self._parameters)
        except NotImplementedError:
            self._able = False
            self._say(
                "information", f"{self._choice.name} cannot count tokens ahead of a request: loom estimates them."
            )
            return
        except TimeoutError:
            self._say("warning", "The provider's token count did not come in time: the estimate stands.")
            return
        except Exception as error:  # noqa: BLE001 - every library has errors of its own, and none may end the program
            self._say("warning", f"The provider's token count failed: {explain_error(error, self._choice).what}")
            return
        # An exchange may have begun meanwhile: the number is then of another window.
        if usage.input_tokens and self._window.standing()[1] == tokens:
            self._window.learn(tokens, usage.input_tokens)
            counted()

    def _instructed(self, messages: list[ModelMessage]) -> list[ModelMessage]:
        at = max((n for n, message in enumerate(messages) if isinstance(message, ModelRequest)), default=0)
        newest = messages[at]
        if isinstance(newest, ModelRequest):
            return [*messages[:at], replace(newest, instructions=self._instructions), *messages[at + 1 :]]
        return messages

    def _say(self, severity: str, words: str) -> None:
        self._asked = None
        if words != self._warned:
            # Once for each kind of trouble: it comes back after every exchange.
            self._warned = words
            self._listener(Notice(severity, words))
