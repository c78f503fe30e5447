"""What a person ran in the workspace by hand, as rows of the archive: a call with the role `user`, and its output.

The rows hold the command and its output and nothing else; how the model is told of them is decided when they are read
(`loom.context.framing`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from pydantic_ai.messages import ModelRequest, ToolReturnPart

from loom.archive.records import PERSON_COMMAND, NewTurn, TurnKind
from loom.context.encode import turns_from_request
from loom.context.framing import framed_command
from loom.context.measure import PART_OVERHEAD, Count

Ending = Literal["success", "failed", "interrupted"]


def command_row(command: str, call_id: str, count: Count) -> NewTurn:
    """The command, which begins an exchange."""
    call = {"id": call_id, "name": PERSON_COMMAND, "arguments": {"command": command}}
    tokens = PART_OVERHEAD + count(framed_command(command))
    return NewTurn(role="user", kind=TurnKind.TOOL_CALL, content=None, tool_calls=[call], token_count=tokens)


def output_row(call_id: str, text: str, facts: Mapping[str, Any], outcome: Ending, count: Count) -> NewTurn:
    """What it gave; `facts` as those of a tool's outcome. Storing it again under the same call stores it once."""
    part = ToolReturnPart(PERSON_COMMAND, text, call_id, metadata=dict(facts) or None, outcome=outcome)
    (row,) = turns_from_request(ModelRequest(parts=[part]), count)
    return replace(row, append_key=f"output/{call_id}")
