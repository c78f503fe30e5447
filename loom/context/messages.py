"""The codec between pydantic-ai's messages and the archive's rows: byte-equal there and back, instructions aside."""

from loom.context.decode import WindowMessage, messages_from_turns, window_messages
from loom.context.encode import turns_from_request, turns_from_response, usage_numbers
from loom.context.repair import repair

__all__ = [
    "WindowMessage",
    "messages_from_turns",
    "repair",
    "turns_from_request",
    "turns_from_response",
    "usage_numbers",
    "window_messages",
]
