"""A session of Claude Code is read as far as it is known, and what is left out is counted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from loom.archive.records import TurnKind, TurnStatus
from loom.interchange.source import ImportFailed
from tests.interchange.reading_text import read_session

SESSION = "0b7e51a2-3c44-4f0e-9a51-2d6c8a4be001"


def line(kind: str, uuid: str = "", **more: Any) -> dict[str, Any]:
    """One line, as Claude Code writes it."""
    made = {"type": kind, "sessionId": SESSION, "cwd": "/home/ada/shop", "timestamp": "2026-03-01T10:00:00.000Z"}
    return {**made, **({"uuid": uuid} if uuid else {}), **more}


def asked(uuid: str, content: object, **more: Any) -> dict[str, Any]:
    return line("user", uuid, message={"role": "user", "content": content}, **more)


def answered(uuid: str, *blocks: dict[str, Any], message: str = "m1", model: str = "claude-x", **more: Any) -> Any:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 5, "output_tokens": 7}
    body = {"id": message, "role": "assistant", "model": model, "content": [*blocks], "usage": usage}
    return line("assistant", uuid, message=body, **more)


def say(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


CALL = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [say("a.py")], "is_error": True}

TALK = [
    line("file-history-snapshot"),
    asked("u1", "What is here?\u2028Look."),
    answered("a1", {"type": "thinking", "thinking": "I look.", "signature": "s"}),
    answered("a2", CALL),
    asked("u2", [RESULT]),
    answered("a3", say("One file."), message="m2"),
    asked("u3", "And now?"),
    answered("a4", say("Nothing."), message="m3"),
]


def text_of(*lines: dict[str, Any]) -> str:
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in lines)


def said(*lines: dict[str, Any]) -> list[tuple[str, TurnKind, str | None]]:
    return [(turn.role, turn.kind, turn.content) for turn in read_session(text_of(*lines)).turns]


def test_a_talk_is_read_in_its_order_exchange_by_exchange() -> None:
    read = read_session(text_of(*TALK))
    assert [(turn.role, turn.kind, turn.content) for turn in read.turns] == [
        ("user", TurnKind.TEXT, "What is here?\u2028Look."),
        ("assistant", TurnKind.THINKING, "I look."),
        ("assistant", TurnKind.TOOL_CALL, None),
        ("tool", TurnKind.TOOL_RESULT, "a.py"),
        ("assistant", TurnKind.TEXT, "One file."),
        ("user", TurnKind.TEXT, "And now?"),
        ("assistant", TurnKind.TEXT, "Nothing."),
    ]
    assert read.exchanges == (1, 1, 1, 1, 1, 2, 2)
    assert read.turns[2].tool_calls == [{"id": "toolu_1", "name": "Bash", "arguments": {"command": "ls"}}]
    result = read.turns[3]
    assert (result.tool_call_id, result.tool_name, result.status) == ("toolu_1", "Bash", TurnStatus.FAILED)
    session = read.session
    assert (session.id, session.workspace_path, session.model_name) == (SESSION, "/home/ada/shop", "anthropic:claude-x")
    assert session.started_at == "2026-03-01T10:00:00.000000Z"
    assert len({turn.append_key for turn in read.turns}) == len(read.turns)
    assert not read.skipped


def test_a_response_over_several_lines_is_paid_once() -> None:
    usages = [turn.usage for turn in read_session(text_of(*TALK)).turns]
    assert usages[1] == {"input_tokens": 105, "output_tokens": 7, "cache_read_tokens": 90}
    assert [bool(usage) for usage in usages] == [False, True, False, False, True, False, True]


def test_the_title_is_the_persons_then_the_newest_of_the_models() -> None:
    titled = [line("ai-title", aiTitle="First"), line("ai-title", aiTitle="Second")]
    assert read_session(text_of(*TALK)).session.title == "What is here?\u2028Look."
    clear = asked("u0", "<command-name>/clear</command-name>")
    assert read_session(text_of(clear, *TALK)).session.title == "What is here?\u2028Look."
    assert read_session(text_of(*TALK, *titled)).session.title == "Second"
    named = line("custom-title", customTitle="Mine")
    assert read_session(text_of(*TALK, named, *titled)).session.title == "Mine"


@pytest.mark.parametrize("why", ["[Request interrupted by user]", "[Request interrupted by user for tool use]"])
def test_an_interruption_is_a_note_and_no_message_of_the_persons(why: str) -> None:
    stopped = [asked("i1", [say(why)]), asked("i2", "Look at the screenshot.")]
    read = read_session(text_of(*stopped, *TALK))
    assert read.session.title == "Look at the screenshot."
    assert (read.turns[0].role, read.turns[0].kind, read.turns[0].content) == ("system", TurnKind.NOTE, why)


def test_the_summary_of_another_session_is_no_title_of_this_one() -> None:
    own = {"type": "summary", "summary": "Files of the shop", "leafUuid": "a4"}
    other = {"type": "summary", "summary": "The deadlock on orders", "leafUuid": "z9"}
    assert read_session(text_of(own, other, *TALK)).session.title == "Files of the shop"
    assert read_session(text_of(*TALK, own, other)).session.title == "Files of the shop"
    assert read_session(text_of(other, *TALK, other)).session.title == "What is here?\u2028Look."
    assert read_session(text_of(*TALK, {"type": "summary", "summary": "Of nothing"})).session.title == "Of nothing"


def test_what_is_no_word_of_the_talk_is_left_out_and_counted() -> None:
    read = read_session(
        text_of(
            *TALK,
            asked("s1", "go and look", isSidechain=True),
            asked("m1", "<caveat>", isMeta=True),
            line("telepathy"),
            asked("i1", [{"type": "image", "source": {}}, say("see this")]),
        )
        + '{"type": "user", "mess'
    )
    assert read.turns[-1].content == "see this"
    assert read.skipped == {
        "what a sub-agent said": 1,
        "what Claude Code wrote by itself": 1,
        "a line of the type telepathy": 1,
        "an image or a document": 1,
        "a line that is not whole": 1,
    }


def test_a_compaction_is_a_note_and_its_summary_no_message() -> None:
    compacted = [
        line("system", "c1", subtype="compact_boundary", compactMetadata={"trigger": "auto"}),
        asked("c2", "They looked at files.", isCompactSummary=True),
    ]
    notes = said(*TALK, *compacted)[-2:]
    assert [note[:2] for note in notes] == [("system", TurnKind.NOTE)] * 2
    assert "They looked at files." in (notes[1][2] or "")


def test_lines_that_come_again_and_answers_of_no_model_count_once_and_for_nothing() -> None:
    again = [asked("u1", "What is here?"), answered("e1", say("API Error"), message="m9", model="<synthetic>")]
    read = read_session(text_of(*TALK, *again))
    assert read.turns[-1].content == "API Error" and read.turns[-1].usage is None
    assert len(read.turns) == 8 and read.session.model_name == "anthropic:claude-x"


def test_what_was_typed_meanwhile_is_a_message() -> None:
    queued = line("attachment", "q1", attachment={"type": "queued_command", "prompt": "and the tests"})
    assert said(*TALK, queued)[-1] == ("user", TurnKind.TEXT, "and the tests")


@pytest.mark.parametrize(
    "lines",
    [
        [line("user", "u", message=None)],
        [line("assistant", "a", message={"content": [7, None, {"type": "tool_use"}], "usage": "much"})],
        [asked("u", [{"type": "tool_result"}, {"type": "text"}, 3])],
        [{"type": [], "sessionId": "s"}],
        [{"type": "user", "sessionId": 7, "uuid": [], "message": {"content": "hello"}, "timestamp": 3}],
    ],
)
def test_a_strange_line_costs_none_of_the_others(lines: list[dict[str, Any]]) -> None:
    words = [turn.content for turn in read_session(text_of(*TALK, *lines)).turns]
    assert words[:7] == [turn.content for turn in read_session(text_of(*TALK)).turns]


def test_a_file_in_which_nothing_was_said_is_refused() -> None:
    with pytest.raises(ImportFailed, match="Nothing was said"):
        read_session(text_of(line("file-history-snapshot"), line("progress")))
