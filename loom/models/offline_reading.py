"""What the offline model reads from the messages: the last prompt, what became of its calls, and their size."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_ai.messages import (
    BaseToolReturnPart,
    BinaryContent,
    FileUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters

from loom.attached import split_attached
from loom.models.offline_plan import Done
from loom.models.offline_replies import NAME
from loom.text import storable

CHARS_PER_TOKEN = 4
"""The offline model counts a token for every four characters, rounded up, and says so: it has no tokenizer."""

ATTACHMENT_TOKENS = 1_000
"""What an image or another attachment counts as; real models charge 85 to some 1,600 for an image."""

_STATE = "<loom-state>"
"""How a part begins that holds the session state, which may have paragraphs of its own."""

_APPENDED = re.compile(
    r"\s*(?:\[(?:system:|loom\b|hint:|recall|this may refer to turns|t\d[^\]\n]{0,40} left the window)|<loom\b)",
    re.IGNORECASE,
)
"""How a paragraph begins that loom put behind (or before) the person's own words: a hint, a receipt."""

_PINS = "<loom-pins>"
"""How a part begins that holds pins, which have paragraphs of their own."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """The exchange that the model is asked to go on with."""

    prompt: str
    """The person's own words, without hints."""
    attachments: int
    """Images and other files that came with them."""
    done: tuple[Done, ...]
    """The calls made since, in the order in which they were asked for."""
    begun: bool
    """True when the model has already answered something in this exchange."""
    introduced: bool
    """True when an earlier exchange in the window has the offline model's introduction."""


def read_exchange(messages: Sequence[ModelMessage]) -> Exchange:
    """The last exchange of the messages. Never raises; an exchange without a prompt has an empty one."""
    start = len(messages)
    prompt, attachments = "", 0
    while start > 0:
        start -= 1
        message = messages[start]
        if isinstance(message, ModelRequest) and (found := _prompt(message)) is not None:
            prompt, attachments = found
            break
    since = messages[start:]
    return Exchange(
        prompt=storable(prompt),
        attachments=attachments,
        done=_done(since),
        begun=any(isinstance(message, ModelResponse) for message in since),
        introduced=any(
            isinstance(part, TextPart) and NAME in part.content
            for message in messages[:start]
            if isinstance(message, ModelResponse)
            for part in message.parts
        ),
    )


def _prompt(message: ModelRequest) -> tuple[str, int] | None:
    """The newest words of the person in a request, and how many attachments; None if there are none.

    Subclasses of UserPromptPart are the library's own notes. Requests without an answer between them arrive as one,
    so the last part that is more than a hint is the one that counts.
    """
    attachments = 0
    found = False
    for part in reversed(message.parts):
        if type(part) is not UserPromptPart:
            continue
        items: Sequence[UserContent] = [part.content] if isinstance(part.content, str) else part.content
        attachments += sum(isinstance(item, BinaryContent | FileUrl) for item in items)
        found = True
        words = "\n\n".join(filter(None, (_own_words(text) for text in _texts(items))))
        if words:
            return words, attachments
    return ("", attachments) if found else None


def _texts(items: Iterable[UserContent]) -> Iterable[str]:
    for item in items:
        if isinstance(item, str):
            yield item
        elif isinstance(item, TextContent):
            yield item.content


def _own_words(text: str) -> str:
    """The text without the paragraphs that loom put around it, and without what goes along with it: that is data, no
    request. Of the session state and of pins, nothing."""
    if text.startswith((_STATE, _PINS)):
        return ""
    paragraphs = text.split("\n\n")
    while paragraphs and _APPENDED.match(paragraphs[-1]):
        paragraphs.pop()
    while paragraphs and _APPENDED.match(paragraphs[0]):
        del paragraphs[0]
    return split_attached("\n\n".join(paragraphs))[0].strip()


def _done(messages: Iterable[ModelMessage]) -> tuple[Done, ...]:
    calls: dict[str, ToolCallPart] = {}
    results: dict[str, Done] = {}
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                calls.setdefault(part.tool_call_id, part)
            elif isinstance(part, ToolReturnPart) and part.tool_call_id in calls:
                call = calls[part.tool_call_id]
                text = part.content if isinstance(part.content, str) else part.model_response_str()
                results[part.tool_call_id] = Done(call.tool_name, _arguments(call), text, part.outcome)
            elif isinstance(part, RetryPromptPart) and part.tool_call_id in calls:
                call = calls[part.tool_call_id]
                results[part.tool_call_id] = Done(call.tool_name, _arguments(call), part.model_response(), "retried")
    # A call without a result was cut off before it had one: to ask again would do it twice.
    return tuple(
        results.get(call_id) or Done(call.tool_name, _arguments(call), "There is no result.", "interrupted")
        for call_id, call in calls.items()
    )


def _arguments(call: ToolCallPart) -> dict[str, Any]:
    if isinstance(call.args, dict):
        return dict(call.args)
    try:
        arguments = json.loads(call.args or "{}")
    except (ValueError, RecursionError):
        return {}
    return arguments if isinstance(arguments, dict) else {}


def tokens_of(chars: int) -> int:
    """Tokens of so many characters, by the rule of CHARS_PER_TOKEN."""
    return -(-chars // CHARS_PER_TOKEN)


def input_tokens(messages: Sequence[ModelMessage], parameters: ModelRequestParameters) -> int:
    """Tokens of everything that was sent: instructions, tool schemas and all messages."""
    chars = sum(len(part.content) for part in parameters.instruction_parts or ())
    for tool in parameters.function_tools:
        chars += len(tool.name) + len(tool.description or "") + len(json.dumps(tool.parameters_json_schema))
    attachments = 0
    for message in messages:
        for part in message.parts:
            if isinstance(part, UserPromptPart):
                items: Sequence[UserContent] = [part.content] if isinstance(part.content, str) else part.content
                chars += sum(len(text) for text in _texts(items))
                attachments += sum(isinstance(item, BinaryContent | FileUrl) for item in items)
            elif isinstance(part, BaseToolReturnPart):
                chars += len(part.content if isinstance(part.content, str) else part.model_response_str())
            elif isinstance(part, ToolCallPart):
                chars += len(part.tool_name) + len(part.args_as_json_str())
            elif isinstance(part, TextPart | ThinkingPart) or isinstance(getattr(part, "content", None), str):
                chars += len(str(getattr(part, "content", "")))
    return tokens_of(chars) + attachments * ATTACHMENT_TOKENS
