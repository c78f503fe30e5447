"""The state from turns that went through the real archive and the real codec."""

from __future__ import annotations

from pathlib import Path

from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart

from loom.archive import ConversationStore
from loom.archive.records import TurnStatus
from loom.context.messages import turns_from_request, turns_from_response
from loom.state import SessionState, advance, rebuild


async def test_a_session_read_back_gives_the_state_it_had(tmp_path: Path) -> None:
    facts = {"path": "src/auth.py", "action": "edited", "added": 1, "removed": 1}
    exchange = [
        ModelRequest(parts=[UserPromptPart("Never use an ORM. Fix src/auth.py")]),
        ModelResponse(parts=[TextPart("I look."), ToolCallPart("edit_file", {"path": "src/auth.py"}, "c1")]),
        ModelRequest(parts=[ToolReturnPart("edit_file", "Edited.", "c1", metadata=facts)]),
        ModelResponse(parts=[TextPart("Done.")]),
    ]
    store = await ConversationStore.open(tmp_path / "archive.db")
    try:
        session = await store.create_session(str(tmp_path), "offline", "")
        live = SessionState()
        for message in exchange:
            new = (
                turns_from_request(message, len)
                if isinstance(message, ModelRequest)
                else turns_from_response(message, len, status=TurnStatus.COMPLETE)
            )
            live = advance(live, await store.append_turns(session, new))
        assert rebuild(await store.get_turns(session, 0, 100)) == live
    finally:
        await store.close()
    assert [(file.path, file.action, file.turn) for file in live.files_touched] == [("src/auth.py", "edited", 4)]
    assert live.constraints[0].text == "Never use an ORM."


async def test_rows_of_the_plain_public_interface_are_understood(tmp_path: Path) -> None:
    store = await ConversationStore.open(tmp_path / "archive.db")
    try:
        session = await store.create_session(str(tmp_path), "m", "")
        await store.append_turn(session, "user", "write it")
        call = {"id": "1", "name": "write_file", "arguments": '{"path": "a.py", "content": ""}'}
        await store.append_turn(session, "assistant", None, tool_calls=[call])
        await store.append_turn(session, "tool", "ok", tool_call_id="1", tool_name="write_file")
        state = rebuild(await store.get_turns(session))
    finally:
        await store.close()
    assert [(file.path, file.action, file.turn) for file in state.files_touched] == [("a.py", "created", 3)]
