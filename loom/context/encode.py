"""From pydantic-ai's messages to the archive's rows: one row a part.

Beside the plain columns that people search and read, a row keeps its part dumped alone (`part_json`), and the first
row of a message keeps the message without parts and instructions (`message_meta`).
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pydantic
import pydantic_core
from pydantic_ai.messages import (
    BaseToolCallPart,
    BaseToolReturnPart,
    BinaryContent,
    FilePart,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    RetryFeedbackPart,
    RetryPromptPart,
    SpeechPart,
    TextContent,
    ThinkingPart,
    UserPromptPart,
)

from loom.archive.records import NewTurn, TurnKind, TurnStatus
from loom.context.measure import Count, part_tokens
from loom.text import storable

_CONFIG = pydantic.ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")
REQUEST_PART: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(ModelRequestPart, config=_CONFIG)
RESPONSE_PART: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(ModelResponsePart, config=_CONFIG)
MESSAGE: pydantic.TypeAdapter[ModelMessage] = pydantic.TypeAdapter(ModelMessage, config=_CONFIG)
"""The same bytes as pydantic-ai's own ModelMessagesTypeAdapter, for one message and for one part."""

MAX_DEPTH = 100
TOO_DEEP = "[nested too deep]"
"""What stands in the plain columns for what lies deeper than MAX_DEPTH; `part_json` keeps the model's own words."""

_META_LEFT_OUT = {"parts", "instructions"}
_OUTCOMES = {
    "success": TurnStatus.COMPLETE,
    "failed": TurnStatus.FAILED,
    "retried": TurnStatus.FAILED,
    "denied": TurnStatus.DENIED,
    "interrupted": TurnStatus.INTERRUPTED,
}
_USAGE = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "output_reasoning_tokens",
    "input_audio_tokens",
    "output_audio_tokens",
)


def turns_from_request(request: ModelRequest, count: Count) -> list[NewTurn]:
    """The rows of a request: one a part, at least one. Instructions are left out: they change at every request
    and are kept in the manifest."""
    rows = [_request_row(part, count) for part in request.parts]
    return _with_meta(rows or [NewTurn(role="user", content="")], request)


def turns_from_response(
    response: ModelResponse,
    count: Count,
    *,
    status: TurnStatus = TurnStatus.COMPLETE,
    cost_usd: float | None = None,
) -> list[NewTurn]:
    """The rows of a response: one a part, at least one (a response without parts is an empty text).

    `status` is how the response ended, so it goes to its last row; what came before that was whole. `cost_usd` is
    what the response cost if known better than by `response.usage`.
    """
    rows = [_response_row(part, count) for part in response.parts]
    rows = _with_meta(rows or [NewTurn(role="assistant", content="")], response)
    rows[0] = replace(rows[0], usage=usage_numbers(response), cost_usd=_cost(response, cost_usd))
    if rows[-1].status is TurnStatus.COMPLETE:
        rows[-1] = replace(rows[-1], status=status)
    return rows


def usage_numbers(response: ModelResponse) -> dict[str, int] | None:
    """The token counts that the provider reported with the response; None if it reported none."""
    reported = {name: getattr(response.usage, name) for name in _USAGE}
    numbers = {name: value for name, value in reported.items() if value}
    return numbers or None


def _cost(response: ModelResponse, known: float | None) -> float | None:
    cost = response.usage.cost if known is None else known
    return None if cost is None else float(cost)


def _request_row(part: ModelRequestPart, count: Count) -> NewTurn:
    row = NewTurn(role="system", content="", part_json=_dump(REQUEST_PART, part), token_count=part_tokens(part, count))
    if isinstance(part, UserPromptPart | SpeechPart):
        words = prompt_text(part) if isinstance(part, UserPromptPart) else part.content
        return replace(row, role="user", content=storable(words))
    if isinstance(part, BaseToolReturnPart):
        return _result_row(row, part)
    if isinstance(part, RetryPromptPart | RetryFeedbackPart):
        return _feedback_row(row, part)
    content = getattr(part, "content", None)
    return replace(row, content=storable(content) if isinstance(content, str) else "")


def _feedback_row(row: NewTurn, part: RetryPromptPart | RetryFeedbackPart) -> NewTurn:
    row = replace(row, content=storable(part.model_response()), status=TurnStatus.FAILED)
    if isinstance(part, RetryFeedbackPart) or part.tool_name is None:
        return row
    return replace(
        row,
        role="tool",
        kind=TurnKind.TOOL_RESULT,
        tool_name=storable(part.tool_name),
        tool_call_id=storable(part.tool_call_id),
    )


def _response_row(part: ModelResponsePart, count: Count) -> NewTurn:
    row = NewTurn(
        role="assistant", content="", part_json=_dump(RESPONSE_PART, part), token_count=part_tokens(part, count)
    )
    if isinstance(part, BaseToolCallPart):
        call = {
            "id": storable(part.tool_call_id),
            "name": storable(part.tool_name),
            "arguments": _arguments(part),
        }
        return replace(row, kind=TurnKind.TOOL_CALL, content=None, tool_calls=[call])
    if isinstance(part, BaseToolReturnPart):
        # What a provider's own tool (its web search) gave back inside the answer.
        return _result_row(row, part)
    if isinstance(part, FilePart):
        return replace(row, kind=TurnKind.FILE, content=_media_text(part.content))
    kind = TurnKind.THINKING if isinstance(part, ThinkingPart) else TurnKind.TEXT
    return replace(row, kind=kind, content=storable(getattr(part, "content", None) or ""))


def _result_row(row: NewTurn, part: BaseToolReturnPart[Any]) -> NewTurn:
    return replace(
        row,
        role="tool",
        kind=TurnKind.TOOL_RESULT,
        content=storable(result_text(part)),
        status=_OUTCOMES[part.outcome],
        tool_name=storable(part.tool_name),
        tool_call_id=storable(part.tool_call_id),
    )


def result_text(part: BaseToolReturnPart[Any]) -> str:
    """A tool result as the model reads it, without the wrapping that some providers put around errors."""
    try:
        items = part.content_items(mode="str", wrap_if_error=False)
    except (ValueError, TypeError):
        # Content that no JSON can hold: a tool of the wrong kind, or a lone surrogate.
        return _plain_json(part.content)
    return "\n".join(item if isinstance(item, str) else _media_text(item) for item in items)


def prompt_text(part: UserPromptPart) -> str:
    """The words of a prompt; what is no words stands as `[image, 12 kB]`."""
    items = [part.content] if isinstance(part.content, str) else part.content
    return "\n".join(text for item in items if (text := _media_text(item)))


def _media_text(item: Any) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, TextContent):
        return item.content
    if isinstance(item, BinaryContent):
        return f"[{_media_kind(item.media_type)}, {_size(len(item.data))}]"
    kind = getattr(item, "kind", "file")
    if kind == "cache-point":
        return ""
    where = getattr(item, "url", None) or getattr(item, "file_id", "")
    return f"[{kind.removesuffix('-url')} {where}]"


def _media_kind(media_type: str) -> str:
    kind = media_type.split("/", maxsplit=1)[0]
    return kind if kind in ("image", "audio", "video") else "file"


def _size(length: int) -> str:
    return f"{length / 1e6:.1f} MB" if length >= 1_000_000 else f"{max(1, round(length / 1000))} kB"


def _arguments(part: BaseToolCallPart[Any]) -> Any:
    """The arguments as a mapping; the raw text if they are not one."""
    if not isinstance(part.args, str):
        return _storable_tree(part.args or {})
    try:
        arguments = json.loads(part.args) if part.args else {}
    except (ValueError, RecursionError):
        return storable(part.args)
    return _storable_tree(arguments) if isinstance(arguments, dict) else storable(part.args)


def _with_meta(rows: list[NewTurn], message: ModelMessage) -> list[NewTurn]:
    rows[0] = replace(rows[0], message_meta=_dump(MESSAGE, message, exclude=_META_LEFT_OUT))
    return rows


def _dump(adapter: pydantic.TypeAdapter[Any], value: Any, exclude: set[str] | None = None) -> str:
    # A result of None is content; every other None is a default, which reading gives back.
    exclude_none = not (isinstance(value, BaseToolReturnPart) and value.content is None)
    try:
        return adapter.dump_json(value, exclude=exclude, exclude_none=exclude_none, warnings=False).decode()
    except (pydantic_core.PydanticSerializationError, UnicodeError, ValueError, RecursionError):
        # A lone surrogate, an object that no JSON can hold, nesting without end: stored as near as can be.
        tree = adapter.dump_python(value, exclude=exclude, exclude_none=exclude_none, warnings=False)
        return _plain_json(tree)


def _plain_json(value: Any) -> str:
    text = pydantic_core.to_json(_storable_tree(value), bytes_mode="base64", serialize_unknown=True)
    return text.decode()


def _storable_tree(value: Any, depth: int = 0) -> Any:
    if isinstance(value, str):
        return storable(value)
    if depth >= MAX_DEPTH and isinstance(value, dict | list | tuple):
        return TOO_DEEP
    if isinstance(value, dict):
        return {_storable_tree(key, depth + 1): _storable_tree(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_storable_tree(item, depth + 1) for item in value]
    return value
