"""Messages in the form of OpenAI's chat completions, which several agents keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from loom.archive.records import NewTurn
from loom.interchange.foreign import (
    Gathered,
    arguments_of,
    called,
    given_back,
    list_of,
    object_of,
    said,
    text_of,
    thought,
    words_of,
)


def message_turns(gathered: Gathered, message: Mapping[str, Any]) -> Iterator[NewTurn]:
    """The turns that one message is made of."""
    role, content = message.get("role"), message.get("content")
    words = words_of(content)
    other = sum("text" not in object_of(part) and not isinstance(part, str) for part in list_of(content))
    if other:
        gathered.leave_out("a part without words", other)
    if role == "tool":
        call = text_of(message.get("tool_call_id"))
        tool = gathered.answered(call)
        yield given_back(call, text_of(message.get("name")) or tool if tool == "unknown" else tool, words)
    elif role == "user" and words:
        yield said("user", words)
    elif role == "assistant":
        if reasoned := text_of(message.get("reasoning_content")):
            yield thought(reasoned)
        if words:
            yield said("assistant", words)
        for asked in map(object_of, list_of(message.get("tool_calls"))):
            function, call = object_of(asked.get("function")), text_of(asked.get("id"))
            yield called(call, gathered.named(call, function.get("name")), arguments_of(function.get("arguments")))
    else:
        gathered.leave_out(f"a message of the role {text_of(role)[:40] or 'unknown'}")
