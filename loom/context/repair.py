"""Makes any list of messages one that every provider takes, whatever was interrupted, denied, damaged or imported."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    RetryPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from loom.context.framing import BEGINNING, INTERRUPTED_CALL, NO_OUTPUT


def repair(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The same conversation, valid for every provider. Pure, deterministic, a fixed point of itself; what needs no
    repair is handed on as the same object.

    Every call has exactly one result, in the request right after it and before anything else there; every result
    has its call; call ids are unique; neighbours of the same side are one message; no message and no text is empty;
    the first message is a request, and calls are never the last word. A result without words says that it has none:
    Anthropic refuses an empty one (https://github.com/zed-industries/zed/pull/27130). The text of an interrupted
    answer stays; its thinking, if no provider signed it, goes (nobody takes half a thought back).
    """
    # Results of no call may have been all that stood between two answers: joined once more at the end.
    valid = _join(_pair(_join(_without_empty(messages))))
    if valid and isinstance(valid[0], ModelResponse):
        start = UserPromptPart(BEGINNING, timestamp=valid[0].timestamp)
        valid.insert(0, ModelRequest(parts=[start], timestamp=valid[0].timestamp))
    return valid


def _without_empty(messages: Iterable[ModelMessage]) -> list[ModelMessage]:
    kept: list[ModelMessage] = []
    for message in messages:
        if isinstance(message, ModelRequest):
            asked = [_with_words(part) for part in message.parts if not _says_nothing(part)]
            if asked:
                kept.append(message if _are_same(asked, message.parts) else replace(message, parts=asked))
        else:
            said = [part for part in message.parts if _worth_sending(part, message)]
            if said:
                kept.append(message if len(said) == len(message.parts) else replace(message, parts=said))
    return kept


def _says_nothing(part: ModelRequestPart) -> bool:
    if not isinstance(part, UserPromptPart):
        return False
    return not part.content.strip() if isinstance(part.content, str) else not part.content


def _with_words(part: Any) -> ModelRequestPart:
    is_empty = isinstance(part, ToolReturnPart) and isinstance(part.content, str) and not part.content.strip()
    worded: ModelRequestPart = replace(part, content=NO_OUTPUT) if is_empty else part
    return worded


def _worth_sending(part: ModelResponsePart, response: ModelResponse) -> bool:
    if isinstance(part, TextPart):
        # An empty text may still carry a provider's signature.
        return bool(part.content.strip() or part.id or part.provider_details)
    if isinstance(part, ThinkingPart):
        vouched = part.signature or (part.id and part.provider_name) or part.provider_details
        return bool(vouched) or (bool(part.content) and response.state != "interrupted")
    return True


def _join(messages: Iterable[ModelMessage]) -> list[ModelMessage]:
    joined: list[ModelMessage] = []
    for message in messages:
        last = joined[-1] if joined else None
        if isinstance(message, ModelRequest) and isinstance(last, ModelRequest):
            # The later one's instructions and run are the ones that hold.
            joined[-1] = replace(message, parts=[*last.parts, *message.parts])
        elif isinstance(message, ModelResponse) and isinstance(last, ModelResponse) and not _calls(last):
            whole = message if message.state != "interrupted" else replace(message, state=last.state)
            joined[-1] = replace(whole, parts=[*last.parts, *message.parts])
        else:
            joined.append(message)
    return joined


def _pair(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Calls and results matched, response by response."""
    paired: list[ModelMessage] = []
    used: set[str] = set()
    waiting: list[_Call] = []
    for message in messages:
        if isinstance(message, ModelRequest):
            answered = _answer(message, waiting)
            waiting = []
            if answered.parts:
                paired.append(answered)
        else:
            if waiting:
                paired.append(_answer(_nothing(waiting), waiting))
            response, waiting = _open(message, used)
            paired.append(response)
    if waiting:
        paired.append(_answer(_nothing(waiting), waiting))
    return paired


@dataclass(frozen=True, slots=True)
class _Call:
    """A call that waits for its result."""

    stored_id: str
    """The id under which the result was stored; differs from the part's if that had to be made unique."""
    part: ToolCallPart
    asked_at: datetime


def _nothing(calls: Sequence[_Call]) -> ModelRequest:
    return ModelRequest(parts=[], timestamp=calls[0].asked_at)


def _open(response: ModelResponse, used: set[str]) -> tuple[ModelResponse, list[_Call]]:
    """The response with unique call ids, and its calls."""
    calls: list[_Call] = []
    parts: list[ModelResponsePart] = []
    for part in response.parts:
        if not isinstance(part, ToolCallPart):
            parts.append(part)
            continue
        unique = _unique(part.tool_call_id, used)
        used.add(unique)
        call = part if unique == part.tool_call_id else replace(part, tool_call_id=unique)
        parts.append(call)
        calls.append(_Call(part.tool_call_id, call, response.timestamp))
    return (response if _are_same(parts, response.parts) else replace(response, parts=parts)), calls


def _unique(call_id: str, used: set[str]) -> str:
    if call_id and call_id not in used:
        return call_id
    number = 2
    while f"{call_id or 'call'}-{number}" in used:
        number += 1
    return f"{call_id or 'call'}-{number}"


def _answer(request: ModelRequest, calls: Sequence[_Call]) -> ModelRequest:
    """The request with one result for each of `calls` in front, results of no call left out."""
    waiting = list(calls)
    results: list[ModelRequestPart] = []
    others: list[ModelRequestPart] = []
    for part in request.parts:
        stored_id = _answers(part)
        if stored_id is None:
            others.append(part)
            continue
        call = next((call for call in waiting if call.stored_id == stored_id), None)
        if call is not None:
            waiting.remove(call)
            results.append(part if call.part.tool_call_id == stored_id else _renamed(part, call.part))
    results += [_no_result(call) for call in waiting]
    parts = [*results, *others]
    return request if _are_same(parts, request.parts) else replace(request, parts=parts)


def _are_same(parts: Sequence[object], others: Sequence[object]) -> bool:
    return len(parts) == len(others) and all(new is old for new, old in zip(parts, others, strict=True))


def _no_result(call: _Call) -> ToolReturnPart:
    return ToolReturnPart(
        tool_name=call.part.tool_name,
        content=INTERRUPTED_CALL,
        tool_call_id=call.part.tool_call_id,
        timestamp=call.asked_at,
        outcome="interrupted",
    )


def _answers(part: ModelRequestPart) -> str | None:
    """The id of the call that this part answers; None if it answers none."""
    if isinstance(part, ToolReturnPart):
        return part.tool_call_id
    if isinstance(part, RetryPromptPart) and part.tool_name is not None:
        return part.tool_call_id
    return None


def _renamed(part: Any, call: ToolCallPart) -> ModelRequestPart:
    renamed: ModelRequestPart = replace(part, tool_call_id=call.tool_call_id)
    return renamed


def _calls(response: ModelResponse) -> bool:
    return any(isinstance(part, ToolCallPart) for part in response.parts)
