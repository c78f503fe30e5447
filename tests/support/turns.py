"""Stored turns made by hand, for what draws them."""

from __future__ import annotations

import json
from typing import Any

from loom.archive.records import PERSON_COMMAND, Role, Session, Turn, TurnKind, TurnStatus

WHEN = "2026-03-04T10:00:00.000000Z"


def turn(
    number: int,
    role: Role,
    content: str | None,
    kind: TurnKind = TurnKind.TEXT,
    status: TurnStatus = TurnStatus.COMPLETE,
    *,
    exchange: int = 1,
    call: dict[str, Any] | None = None,
    call_id: str | None = None,
    tool: str | None = None,
    facts: dict[str, Any] | None = None,
) -> Turn:
    return Turn(
        session_id="s",
        turn_number=number,
        exchange=exchange,
        role=role,
        kind=kind,
        status=status,
        content=content,
        tool_calls=[call] if call else None,
        tool_call_id=call_id,
        tool_name=tool,
        token_count=0,
        part_json=json.dumps({"metadata": facts}) if facts is not None else None,
        message_meta=None,
        usage=None,
        cost_usd=None,
        created_at=WHEN,
        digest="",
    )


def call_turn(number: int, call_id: str, name: str, arguments: dict[str, Any]) -> Turn:
    call = {"id": call_id, "name": name, "arguments": arguments}
    return turn(number, "assistant", None, TurnKind.TOOL_CALL, call=call)


def person_command(number: int, call_id: str, command: str) -> Turn:
    """What a person ran by hand; a `result_turn` is its output."""
    call = {"id": call_id, "name": PERSON_COMMAND, "arguments": {"command": command}}
    return turn(number, "user", None, TurnKind.TOOL_CALL, call=call)


def result_turn(
    number: int,
    call_id: str,
    name: str,
    content: str,
    facts: dict[str, Any] | None = None,
    status: TurnStatus = TurnStatus.COMPLETE,
) -> Turn:
    return turn(number, "tool", content, TurnKind.TOOL_RESULT, status, call_id=call_id, tool=name, facts=facts or {})


def session_record(**changes: Any) -> Session:
    values: dict[str, Any] = {
        "id": "0190-session",
        "reference": "k3f9",
        "title": "Fix the login timeout",
        "focus": "run the tests",
        "tags": (),
        "workspace_path": "/home/ada/src/shop",
        "workspace_commit": None,
        "model_name": "offline",
        "started_at": WHEN,
        "last_active_at": WHEN,
        "turn_count": 6,
        "exchange_count": 2,
        "total_tokens": 0,
        "input_tokens": 0,
        "output_tokens": 0,
        "cache_read_tokens": 0,
        "cost_usd": 0.0,
        "parent_id": None,
        "fork_turn": None,
        "lease_epoch": 1,
        "is_active": True,
    }
    return Session(**{**values, **changes})
