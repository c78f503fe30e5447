"""The pydantic-ai agent of a session: its instructions and its tools, nothing that changes."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from pydantic_ai import Agent, Tool
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import ToolReturn
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from loom.tools.outcome import Effect, ToolOutcome, ToolSpec

TOOL_RETRIES = 5
"""Bad calls of one tool in a row before the exchange ends; the library's 1 ends it at the second."""


# The window is laid out for a prompt cache, which some providers use only when asked to. Anthropic's keys are given one
# by one because a breakpoint for the tools would take one from the messages (see loom.context.caching); that of the
# instructions covers the tools, which stand before them.
_CACHED = ModelSettings(cache=True, anthropic_cache=True, anthropic_cache_instructions=True)  # type: ignore[typeddict-unknown-key]


def build_tools(specs: Sequence[ToolSpec]) -> list[Tool[None]]:
    """The tools as pydantic-ai takes them, their schemas made from annotations and docstrings."""
    return [_tool(spec) for spec in specs]


def build_agent(model: Model, instructions: str, tools: Sequence[Tool[None]]) -> Agent[None, str]:
    """An agent over the given tools. Import and construction take about a second: call it in a thread."""
    return Agent(
        model,
        instructions=instructions,
        tools=tools,
        retries=TOOL_RETRIES,
        model_settings=_CACHED,
        name="loom",
    )


def _tool(spec: ToolSpec) -> Tool[None]:
    # What changes something runs one at a time, in the order in which the model asked for it.
    return Tool(
        _returning(spec.function),
        name=spec.name,
        takes_ctx=False,
        sequential=spec.effect is not Effect.READ,
        docstring_format="google",
        require_parameter_descriptions=True,
    )


def _returning(function: Callable[..., Awaitable[ToolOutcome]]) -> Callable[..., Awaitable[Any]]:
    """The function, giving what pydantic-ai takes: the output for the model, the facts beside it."""

    @functools.wraps(function)
    async def call(*args: Any, **kwargs: Any) -> Any:
        outcome = await function(*args, **kwargs)
        if outcome.failed:
            raise ToolFailed(outcome.content)
        return ToolReturn(return_value=outcome.content, metadata=outcome.facts or None)

    return call
