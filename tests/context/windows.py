"""A window with room for a short talk, and what of its requests the tests look at."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter

from loom.config import Settings
from loom.context.budget import Budget
from loom.context.measure import message_tokens
from loom.context.window import Assembly, Window
from tests.support.window_rows import words

SETTINGS = Settings(tool_output_preview_tokens=400, tool_output_trim_chars=600)


def a_window(tokens: int = 10_000, settings: Settings = SETTINGS, *, reserve: int = 1_000) -> Window:
    """A window of this many tokens: `reserve` of them for the answer, 200 for tools and instructions."""
    budget = Budget(tokens, reserve, settings.high_water, settings.low_water)
    window = Window(words, settings, budget)
    window.set_floor(tools=100, instructions=100)
    return window


def text_of(messages: Sequence[ModelMessage]) -> str:
    return "\n".join(str(getattr(part, "content", "")) for message in messages for part in message.parts)


def dumped(assembly: Assembly) -> bytes:
    """The messages as bytes, to be compared."""
    return ModelMessagesTypeAdapter.dump_json(assembly.messages)


def counted(assembly: Assembly, floor: int) -> int:
    """The tokens of the messages, counted anew, and of what stands before them."""
    return floor + sum(message_tokens(message, words) for message in assembly.messages)
