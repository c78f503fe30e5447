"""From the archive's rows to pydantic-ai's messages, without a byte changed where the parts were kept.

Rows without `part_json` (imports, the public `append_turn`, drafts after a crash) are read from their plain columns.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

import pydantic
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from loom.archive.records import Turn, TurnKind, TurnStatus
from loom.context.encode import MESSAGE, REQUEST_PART, RESPONSE_PART
from loom.context.framing import framed_command, framed_summary
from loom.context.measure import Count, message_tokens

Side = Literal["request", "response"]

_PLAIN_OUTCOMES: dict[TurnStatus, Literal["success", "failed", "denied", "interrupted"]] = {
    TurnStatus.COMPLETE: "success",
    TurnStatus.PARTIAL: "success",
    TurnStatus.FAILED: "failed",
    TurnStatus.DENIED: "denied",
    TurnStatus.INTERRUPTED: "interrupted",
}


@dataclass(frozen=True, slots=True)
class WindowMessage:
    """One message and the turns it is made of."""

    message: ModelMessage
    first_turn: int
    last_turn: int
    exchange: int
    tokens: int
    """As counted when it was read; its instructions are not part of it."""
    part_turns: tuple[int, ...]
    """For each of the message's parts, the turn that holds it."""


def messages_from_turns(turns: Sequence[Turn]) -> list[ModelMessage]:
    """The messages that these rows are, oldest first. Never raises: a damaged row is read from its plain columns.

    Notes and receipts are for the person and give nothing. The result is what was said, not yet what a provider
    accepts: see `loom.context.repair.repair`.
    """
    return [_build(group)[0] for group in _groups(turns)]


def window_messages(turns: Sequence[Turn], count: Count) -> list[WindowMessage]:
    """The same messages, each with its turns and its tokens."""
    return [
        WindowMessage(
            message,
            first_turn=group.rows[0].turn_number,
            last_turn=group.rows[-1].turn_number,
            exchange=group.rows[0].exchange,
            tokens=message_tokens(message, count),
            part_turns=part_turns,
        )
        for group in _groups(turns)
        for message, part_turns in [_build(group)]
    ]


@dataclass(slots=True)
class _Group:
    """The rows of one message."""

    side: Side
    rows: list[Turn]
    meta: str | None
    plain: bool
    """Made of rows that hold no part: neighbours of the same kind may join."""


def _groups(turns: Iterable[Turn]) -> list[_Group]:
    groups: list[_Group] = []
    for row in turns:
        if row.kind in (TurnKind.NOTE, TurnKind.RECEIPT):
            continue
        if row.kind is TurnKind.SUMMARY:
            groups.append(_Group("request", [row], None, plain=True))
            continue
        plain = row.part_json is None and row.message_meta is None
        if plain and row.role == "system":
            continue
        last = groups[-1] if groups else None
        side = _side(row, last)
        if last is not None and row.message_meta is None and _continues(last, row, side, plain):
            last.rows.append(row)
        else:
            groups.append(_Group(side, [row], row.message_meta, plain))
    return groups


def _side(row: Turn, last: _Group | None) -> Side:
    if row.message_meta is not None:
        kind = _mapping(row.message_meta).get("kind")
        if kind in ("request", "response"):
            return "request" if kind == "request" else "response"
    if row.role == "assistant":
        return "response"
    # A provider's own tool answers inside the response; every other result begins a request and so has its meta.
    inside = row.role == "tool" and row.part_json is not None and row.message_meta is None
    return "response" if inside and last is not None and last.side == "response" else "request"


def _continues(last: _Group, row: Turn, side: Side, plain: bool) -> bool:
    if last.side != side or last.plain != plain or last.rows[-1].exchange != row.exchange:
        return False
    return not plain or side == "response"


def _build(group: _Group) -> tuple[ModelMessage, tuple[int, ...]]:
    """The message, and for each of its parts the turn that holds it."""
    if not group.plain:
        held = [row for row in group.rows if row.part_json is not None]
        parts = ",".join(row.part_json or "" for row in held)
        meta = group.meta or _default_meta(group)
        try:
            message = MESSAGE.validate_json(f'{{"parts":[{parts}],{meta.strip().removeprefix("{")}')
        except pydantic.ValidationError:
            # Damaged, or written by a version that knew other parts: each row for itself.
            return _rebuild(group)
        if len(message.parts) == len(held):
            return message, tuple(row.turn_number for row in held)
    return _rebuild(group)


def _default_meta(group: _Group) -> str:
    first = group.rows[0]
    meta: dict[str, Any] = {"kind": group.side, "timestamp": _when(first).isoformat()}
    if group.side == "response" and any(row.status is TurnStatus.INTERRUPTED for row in group.rows):
        meta["state"] = "interrupted"
    return json.dumps(meta)


def _rebuild(group: _Group) -> tuple[ModelMessage, tuple[int, ...]]:
    try:
        message = MESSAGE.validate_json(f'{{"parts":[],{(group.meta or "").strip().removeprefix("{")}')
    except pydantic.ValidationError:
        message = MESSAGE.validate_json(f'{{"parts":[],{_default_meta(group).removeprefix("{")}')
    of_request = isinstance(message, ModelRequest)
    adapter = REQUEST_PART if of_request else RESPONSE_PART
    plain_parts = _plain_request_parts if of_request else _plain_response_parts
    parts = [(part, row.turn_number) for row in group.rows for part in _parts(row, adapter, plain_parts)]
    return _with_parts(message, [part for part, _ in parts]), tuple(turn for _, turn in parts)


def _with_parts(message: ModelMessage, parts: list[Any]) -> ModelMessage:
    if isinstance(message, ModelRequest):
        return replace(message, parts=parts)
    return replace(message, parts=parts)


def _parts(row: Turn, adapter: pydantic.TypeAdapter[Any], plain_parts: Callable[[Turn], list[Any]]) -> list[Any]:
    if row.part_json is not None:
        try:
            return [adapter.validate_json(row.part_json)]
        except pydantic.ValidationError:
            return plain_parts(row)
    if row.message_meta is not None and not row.content:
        return []  # a message without parts
    return plain_parts(row)


def _plain_request_parts(row: Turn) -> list[Any]:
    content = row.content or ""
    if row.kind is TurnKind.SUMMARY:
        return [UserPromptPart(framed_summary(content), timestamp=_when(row))]
    if row.role == "tool":
        return [
            ToolReturnPart(
                tool_name=row.tool_name or "unknown",
                content=content,
                tool_call_id=row.tool_call_id or f"turn-{row.turn_number}",
                timestamp=_when(row),
                outcome=_PLAIN_OUTCOMES[row.status],
            )
        ]
    if command := row.person_command:
        content = framed_command(command)
    return [UserPromptPart(content, timestamp=_when(row))]


def _plain_response_parts(row: Turn) -> list[Any]:
    parts: list[Any] = []
    if row.content and row.kind is TurnKind.THINKING:
        parts.append(ThinkingPart(row.content))
    elif row.content and row.kind is not TurnKind.TOOL_CALL:
        parts.append(TextPart(row.content))
    return parts + [_plain_call(row, at, call) for at, call in enumerate(row.tool_calls or ())]


def _plain_call(row: Turn, at: int, call: dict[str, Any]) -> ToolCallPart:
    # Other agents' files spell a call the way Chat Completions does: {"id", "function": {"name", "arguments"}}.
    inner = call.get("function")
    spelled = inner if isinstance(inner, dict) else call
    arguments = spelled.get("arguments")
    return ToolCallPart(
        tool_name=str(spelled.get("name") or "unknown"),
        args=arguments if isinstance(arguments, str | dict) else None,
        tool_call_id=str(call.get("id") or f"turn-{row.turn_number}-{at}"),
    )


def _when(row: Turn) -> datetime:
    """The row's time, so that reading the same rows twice gives the same message."""
    try:
        return datetime.fromisoformat(row.created_at)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)


def _mapping(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
