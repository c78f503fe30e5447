"""Sessions of gptsh and of pydantic-deep, which are one JSON document each."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.usage import RequestUsage

from loom.archive.records import TurnKind, TurnStatus
from loom.interchange.source import ImportFailed
from tests.interchange.reading_text import read_session

GPTSH: dict[str, Any] = {
    "id": "7x2m",
    "title": "Feeling Fine Check",
    "created_at": "2025-10-27T09:15:30Z",
    "agent": {"name": "default", "model": "gpt-4.1"},
    "provider": {"name": "openai"},
    "messages": [
        {"role": "system", "content": "Obey."},
        {"role": "user", "content": "I am feeling fine"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "time", "arguments": '{"zone": "UTC"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "09:15"},
        {"role": "assistant", "content": "That's great to hear!"},
        {"role": "user", "content": "How am I feeling?"},
    ],
}


def test_a_session_of_gptsh_is_read() -> None:
    read = read_session(json.dumps(GPTSH, indent=2))
    assert [(turn.role, turn.kind, turn.content) for turn in read.turns] == [
        ("user", TurnKind.TEXT, "I am feeling fine"),
        ("assistant", TurnKind.TOOL_CALL, None),
        ("tool", TurnKind.TOOL_RESULT, "09:15"),
        ("assistant", TurnKind.TEXT, "That's great to hear!"),
        ("user", TurnKind.TEXT, "How am I feeling?"),
    ]
    assert read.exchanges == (1, 1, 1, 1, 2)
    assert read.turns[1].tool_calls == [{"id": "c1", "name": "time", "arguments": {"zone": "UTC"}}]
    assert read.turns[2].tool_name == "time"
    session = read.session
    assert (session.title, session.model_name) == ("Feeling Fine Check", "openai:gpt-4.1")
    assert (session.started_at, session.workspace_path) == ("2025-10-27T09:15:30.000000Z", "")
    assert read.skipped == {"a message of the role system": 1}


def test_one_that_has_grown_is_the_same_session() -> None:
    grown = {**GPTSH, "messages": [*GPTSH["messages"], {"role": "assistant", "content": "Fine."}]}
    first, second = (read_session(json.dumps(each)) for each in (GPTSH, grown))
    assert first.session.id == second.session.id
    assert [turn.append_key for turn in second.turns][:5] == [turn.append_key for turn in first.turns]
    assert read_session(json.dumps({**GPTSH, "id": "k3f9"})).session.id != first.session.id


def test_messages_of_pydantic_ai_are_read_as_its_library_writes_them() -> None:
    written = ModelMessagesTypeAdapter.dump_json(
        [
            ModelRequest(parts=[SystemPromptPart("Obey."), UserPromptPart("What is here?")]),
            ModelResponse(
                parts=[ThinkingPart("I look."), ToolCallPart("ls", {"path": "."}, "c1"), ToolCallPart("ls", "{", "c2")],
                usage=RequestUsage(input_tokens=9, output_tokens=3),
                model_name="gpt-x",
                provider_name="openai",
            ),
            ModelRequest(
                parts=[
                    ToolReturnPart("ls", {"files": ["é.py"]}, "c1"),
                    ToolReturnPart("ls", "That is no JSON.", "c2", outcome="retried"),
                ]
            ),
            ModelResponse(parts=[TextPart("One file.")]),
        ]
    )
    made = json.loads(written)
    older = {"part_kind": "retry-prompt", "tool_name": "ls", "tool_call_id": "c2", "content": "That is no JSON."}
    made_before = [*made[:2], {**made[2], "parts": [made[2]["parts"][0], older]}, made[3]]
    read = read_session(json.dumps(made))
    assert [turn.status for turn in read_session(json.dumps(made_before)).turns] == [turn.status for turn in read.turns]
    assert [(turn.role, turn.kind, turn.status, turn.content) for turn in read.turns] == [
        ("user", TurnKind.TEXT, TurnStatus.COMPLETE, "What is here?"),
        ("assistant", TurnKind.THINKING, TurnStatus.COMPLETE, "I look."),
        ("assistant", TurnKind.TOOL_CALL, TurnStatus.COMPLETE, None),
        ("assistant", TurnKind.TOOL_CALL, TurnStatus.COMPLETE, None),
        ("tool", TurnKind.TOOL_RESULT, TurnStatus.COMPLETE, '{"files": ["é.py"]}'),
        ("tool", TurnKind.TOOL_RESULT, TurnStatus.FAILED, "That is no JSON."),
        ("assistant", TurnKind.TEXT, TurnStatus.COMPLETE, "One file."),
    ]
    assert [(turn.tool_calls or [{}])[0].get("arguments") for turn in read.turns[2:4]] == [{"path": "."}, "{"]
    assert read.turns[1].usage == {"input_tokens": 9, "output_tokens": 3, "cache_read_tokens": 0}
    assert [turn.usage for turn in read.turns[2:]] == [None] * 5
    assert read.session.model_name == "openai:gpt-x"
    assert read.turns[0].created_at is not None
    assert read.skipped == {"a part of the kind system-prompt": 1}


def test_a_result_of_pydantic_deep_belongs_to_its_call_however_the_ids_are_spelled() -> None:
    call = {"part_kind": "tool-call", "tool_name": "fs.ls", "tool_call_id": "functions.ls:0", "args": {}}
    result = {**call, "part_kind": "tool-return", "content": "a.py"}
    made = [{"kind": "response", "parts": [call]}, {"kind": "request", "parts": [result]}]
    asked, given = read_session(json.dumps(made)).turns
    (called,) = asked.tool_calls or []
    assert (called["id"], called["name"]) == (given.tool_call_id, given.tool_name) == ("functions_ls_0", "fs_ls")


@pytest.mark.parametrize(
    "document",
    [
        {"messages": [3, {"role": "user"}], "agent": {}, "provider": None},
        [{"kind": "request", "parts": [4, {"part_kind": "user-prompt", "content": ""}, {"part_kind": []}]}],
    ],
)
def test_one_in_which_nothing_was_said_is_refused(document: object) -> None:
    with pytest.raises(ImportFailed, match="Nothing was said"):
        read_session(json.dumps(document))
