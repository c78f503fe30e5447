"""Turns, made as the archive would hand them out."""

from __future__ import annotations

import json
from typing import Any

from loom.archive.records import Role, Turn, TurnKind, TurnStatus


class Conversation:
    """A session that is told turn by turn; `turns` is what the archive would give."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []

    def add(self, role: Role, content: str | None, **columns: Any) -> int:
        number = columns.pop("turn_number", len(self.turns) + 1)
        row: dict[str, Any] = {
            "session_id": "s",
            "turn_number": number,
            "exchange": 1,
            "role": role,
            "kind": TurnKind.TEXT,
            "status": TurnStatus.COMPLETE,
            "content": content,
            "tool_calls": None,
            "tool_call_id": None,
            "tool_name": None,
            "token_count": 0,
            "part_json": None,
            "message_meta": None,
            "usage": None,
            "cost_usd": None,
            "created_at": "2026-01-01T00:00:00.000000Z",
            "digest": "",
        }
        self.turns.append(Turn(**(row | columns)))
        return number

    def user(self, text: str) -> int:
        return self.add("user", text)

    def assistant(self, text: str) -> int:
        return self.add("assistant", text)

    def tool(
        self,
        name: str,
        arguments: dict[str, Any],
        output: str = "",
        *,
        facts: dict[str, Any] | None = None,
        status: TurnStatus = TurnStatus.COMPLETE,
    ) -> int:
        """A call and its result: the result's turn number."""
        call_id = f"call-{len(self.turns)}"
        call = {"id": call_id, "name": name, "arguments": arguments}
        self.add("assistant", None, kind=TurnKind.TOOL_CALL, tool_calls=[call])
        part = None if facts is None else json.dumps({"content": output, "metadata": facts})
        return self.add(
            "tool",
            output,
            kind=TurnKind.TOOL_RESULT,
            status=status,
            tool_call_id=call_id,
            tool_name=name,
            part_json=part,
        )

    def run(self, command: str, code: int | None, output: str = "", **facts: Any) -> int:
        stated = {"command": command, "exit_code": code, **facts}
        return self.tool("shell_execute", {"command": command}, output, facts=stated)
