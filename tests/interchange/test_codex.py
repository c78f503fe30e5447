"""A session of Codex is read as far as it is known, once, and without what was rolled back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from loom.archive.records import TurnKind, TurnStatus
from loom.interchange.source import ImportFailed
from tests.interchange.reading_text import read_session

SESSION = "0199b8c0-54a1-7bd3-8a44-6f20c0f4a7e2"


def line(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-03-01T10:00:00.000Z", "type": kind, "payload": payload}


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return line("response_item", **{"type": kind, **fields})


def message(role: str, *words: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": each} for each in words])


TALK = [
    line("session_meta", id=SESSION, cwd="/home/ada/shop", instructions="Obey."),
    message("developer", "be good"),
    message("user", "<environment_context>\n  <cwd>/home/ada/shop</cwd>\n</environment_context>"),
    line("turn_context", model="gpt-x", cwd="/home/ada/shop"),
    message("user", "What is here?"),
    line("event_msg", type="user_message", message="What is here?"),
    item("reasoning", summary=[{"type": "summary_text", "text": "I look."}], encrypted_content="gAAAA"),
    item("function_call", name="shell", arguments='{"command": ["ls"]}', call_id="call_1"),
    item("function_call_output", call_id="call_1", output='{"output": "a.py\\n", "metadata": {"exit_code": 0}}'),
    message("assistant", "One file."),
    line("event_msg", type="agent_message", message="One file."),
    message("user", "And now?"),
    message("assistant", "Nothing."),
]


def text_of(*lines: dict[str, Any]) -> str:
    return "".join(json.dumps(each) + "\n" for each in lines)


def test_a_talk_is_read_once_and_in_its_order() -> None:
    read = read_session(text_of(*TALK))
    assert [(turn.role, turn.kind, turn.content) for turn in read.turns] == [
        ("user", TurnKind.TEXT, "What is here?"),
        ("assistant", TurnKind.THINKING, "I look."),
        ("assistant", TurnKind.TOOL_CALL, None),
        ("tool", TurnKind.TOOL_RESULT, "a.py\n"),
        ("assistant", TurnKind.TEXT, "One file."),
        ("user", TurnKind.TEXT, "And now?"),
        ("assistant", TurnKind.TEXT, "Nothing."),
    ]
    assert read.exchanges == (1, 1, 1, 1, 1, 2, 2)
    assert read.turns[2].tool_calls == [{"id": "call_1", "name": "shell", "arguments": {"command": ["ls"]}}]
    assert (read.turns[3].tool_call_id, read.turns[3].tool_name) == ("call_1", "shell")
    session = read.session
    assert (session.id, session.workspace_path, session.model_name) == (SESSION, "/home/ada/shop", "openai:gpt-x")
    assert session.system_prompt == ""
    assert len({turn.append_key for turn in read.turns}) == len(read.turns)
    assert read.skipped == {"what Codex wrote by itself": 2}


def test_what_was_rolled_back_is_left_out() -> None:
    read = read_session(text_of(*TALK, line("event_msg", type="thread_rolled_back", num_turns=1), *TALK[-2:]))
    assert [turn.content for turn in read.turns][-3:] == ["One file.", "And now?", "Nothing."]
    assert len(read.turns) == 7 and read.skipped["a turn that was rolled back"] == 2
    read = read_session(text_of(*TALK, line("event_msg", type="thread_rolled_back", num_turns=1)))
    assert read.turns[-1].content == "One file."


def test_calls_of_other_kinds_and_results_that_are_no_text_are_read() -> None:
    read = read_session(
        text_of(
            *TALK,
            item("custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="call_2"),
            item("custom_tool_call_output", call_id="call_2", output={"content": "no such file", "success": False}),
            item("local_shell_call", call_id="call_3", action={"type": "exec", "command": ["ls"]}),
            item("function_call_output", call_id="call_3", output=[{"type": "input_text", "text": "b.py"}]),
            item("web_search_call"),
            line("compacted", message="They looked at files."),
            line("telepathy"),
        )
    )
    patch, refused, shell, shown, compacted = read.turns[7:]
    assert (patch.tool_calls or [])[0]["arguments"] == "*** Begin Patch"
    assert (refused.content, refused.status) == ("no such file", TurnStatus.FAILED)
    assert (shell.tool_calls or [])[0]["arguments"]["command"] == ["ls"]
    assert (shown.content, shown.tool_name) == ("b.py", "local_shell")
    assert compacted.kind is TurnKind.NOTE and "They looked at files." in (compacted.content or "")
    assert read.skipped["an item of the type web_search_call"] == read.skipped["a line of the type telepathy"] == 1


@pytest.mark.parametrize(
    "strange",
    [
        item("message", role="user", content=[3, {"type": "input_image"}]),
        item("function_call", arguments="[" * 100_000),
        item("function_call_output", output=[[]]),
        line("event_msg", type="thread_rolled_back", num_turns="all"),
        {"type": [], "payload": 3},
    ],
)
def test_a_strange_line_costs_none_of_the_others(strange: dict[str, Any]) -> None:
    words = [turn.content for turn in read_session(text_of(*TALK, strange)).turns]
    assert words[:7] == [turn.content for turn in read_session(text_of(*TALK)).turns]


def test_a_torn_last_line_is_counted_and_an_empty_session_refused() -> None:
    assert read_session(text_of(*TALK) + '{"timestamp": "20').skipped["a line that is not whole"] == 1
    with pytest.raises(ImportFailed, match="Nothing was said"):
        read_session(text_of(TALK[0]))


def test_calls_without_ids_and_their_results_belong_together() -> None:
    pair = item("function_call", name="ls", arguments="{}"), item("function_call_output", output="a.py")
    *_, asked, given = read_session(text_of(*TALK, *pair)).turns
    (call,) = asked.tool_calls or []
    assert call["id"] == given.tool_call_id != ""


def test_no_time_is_yet_to_come() -> None:
    talk = [{**each, "timestamp": "9999-12-31T23:59:59Z"} for each in TALK]
    read = read_session(text_of(*talk))
    assert {str(turn.created_at) < "9999" for turn in read.turns} == {read.session.started_at < "9999"} == {True}


def test_what_codex_says_in_the_persons_name_is_no_message_of_theirs() -> None:
    aborted = "<turn_aborted>\nThe user interrupted the previous turn on purpose.\n</turn_aborted>"
    command = (
        "<user_shell_command>\n<command>\nls\n</command>\n<result>\nExit code: 0\n</result>\n</user_shell_command>"
    )
    skill = "<skill>\n<name>deploy</name>\nHow to deploy.\n</skill>"
    read = read_session(text_of(TALK[0], *(message("user", each) for each in (aborted, command, skill)), *TALK[1:]))
    assert [(turn.role, turn.kind, turn.content) for turn in read.turns[:2]] == [
        ("system", TurnKind.NOTE, aborted),
        ("system", TurnKind.NOTE, command),
    ]
    assert read.session.title == read_session(text_of(*TALK)).session.title
    assert read.skipped["what Codex wrote by itself"] == 1 + read_session(text_of(*TALK)).skipped.get(
        "what Codex wrote by itself", 0
    )
