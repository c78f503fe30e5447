"""Where a provider that caches by breakpoints (Anthropic) is told to end what it keeps.

State, pins and hint stand beside the newest message and are gone from it in the next exchange, so nothing behind the
message before can be found again there. Breakpoints go behind the two messages of the person before the newest: the
nearer one writes what the next exchange reads at the farther one. With those of the instructions and of the end of the
request that is four, the most that Anthropic takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic_ai.messages import CachePoint, ModelMessage, ModelRequest, UserPromptPart

POINTS = 2
BY_BREAKPOINTS = frozenset(("anthropic",))
"""The systems, as pydantic-ai names them, that read them."""


def with_cache_points(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The same messages with the breakpoints in them."""
    asked = [at for at, message in enumerate(messages) if _prompt_at(message) is not None]
    marked = list(messages)
    for at in asked[:-1][-POINTS:]:
        message = messages[at]
        place = _prompt_at(message)
        if place is not None and isinstance(message, ModelRequest):
            marked[at] = _marked(message, place)
    return marked


def _prompt_at(message: ModelMessage) -> int | None:
    """The place of the last words of the person in a message."""
    if not isinstance(message, ModelRequest):
        return None
    return max((at for at, part in enumerate(message.parts) if isinstance(part, UserPromptPart)), default=None)


def _marked(message: ModelRequest, place: int) -> ModelRequest:
    part = message.parts[place]
    if not isinstance(part, UserPromptPart):
        return message
    content = [part.content] if isinstance(part.content, str) else list(part.content)
    parts = [*message.parts]
    parts[place] = replace(part, content=[*content, CachePoint()])
    return replace(message, parts=parts)
