"""Whatever happened, the next request is one that every provider takes."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
    repair_messages,
)

from loom.context.framing import BEGINNING, INTERRUPTED_CALL
from loom.context.repair import repair
from tests.support.wild_messages import conversations


def asked(text: str) -> ModelRequest:
    return ModelRequest(parts=[UserPromptPart(text)])


def called(*ids: str) -> ModelResponse:
    return ModelResponse(parts=[ToolCallPart("ls", {"path": "."}, call_id) for call_id in ids])


def returned(*ids: str) -> ModelRequest:
    return ModelRequest(parts=[ToolReturnPart("ls", f"result of {call_id}", call_id) for call_id in ids])


def answered(text: str) -> ModelResponse:
    return ModelResponse(parts=[TextPart(text)])


def shape(messages: Sequence[ModelMessage]) -> list[list[str]]:
    return [[part.part_kind for part in message.parts] for message in messages]


def results(messages: Sequence[ModelMessage]) -> dict[str, str]:
    return {
        part.tool_call_id: str(part.content)
        for message in messages
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    }


def assert_valid(messages: Sequence[ModelMessage]) -> None:
    assert not messages or isinstance(messages[0], ModelRequest)
    ids: list[str] = []
    waiting: list[str] = []
    for before, message in zip([None, *messages], messages, strict=False):
        assert message.parts
        assert before is None or type(before) is not type(message), "neighbours alternate"
        if isinstance(message, ModelRequest):
            kinds = [isinstance(part, ToolReturnPart) for part in message.parts]
            assert kinds == sorted(kinds, reverse=True), "results come first"
            assert sorted(p.tool_call_id for p in message.parts if isinstance(p, ToolReturnPart)) == sorted(waiting)
            waiting = []
            assert all(p.content for p in message.parts if isinstance(p, UserPromptPart))
            texts = [p.content for p in message.parts if isinstance(p, ToolReturnPart)]
            assert all(text.strip() for text in texts if isinstance(text, str))
        else:
            assert not waiting
            waiting = [part.tool_call_id for part in message.parts if isinstance(part, ToolCallPart)]
            ids += waiting
            assert all(
                p.content.strip() or p.id or p.provider_details for p in message.parts if isinstance(p, TextPart)
            )
    assert not waiting, "calls are never the last word"
    assert len(set(ids)) == len(ids) and all(ids)


@given(conversations)
@settings(deadline=None, max_examples=150)
def test_any_conversation_becomes_valid_and_stays_as_it_is(messages: list[ModelMessage]) -> None:
    before = ModelMessagesTypeAdapter.dump_json(messages)
    repaired = repair(messages)
    assert_valid(repaired)
    again = repair(repaired)
    assert len(again) == len(repaired) and all(a is b for a, b in zip(again, repaired, strict=True))
    assert ModelMessagesTypeAdapter.dump_json(messages) == before, "nothing is edited in place"


@given(conversations)
@settings(deadline=None, max_examples=50)
def test_the_library_finds_nothing_left_to_repair(messages: list[ModelMessage]) -> None:
    repaired = repair(messages)
    assert ModelMessagesTypeAdapter.dump_json(repair_messages(repaired)) == ModelMessagesTypeAdapter.dump_json(repaired)


@given(st.lists(st.sampled_from(["ask", "call", "return", "answer"]), max_size=12), st.data())
@settings(deadline=None, max_examples=100)
def test_no_words_of_the_person_and_no_answered_result_is_lost(kinds: list[str], data: st.DataObject) -> None:
    messages: list[ModelMessage] = []
    kept: set[str] = set()
    open_ids: list[str] = []
    for number, kind in enumerate(kinds):
        if kind == "ask":
            messages.append(asked(f"wish {number}"))
            kept.add(f"wish {number}")
        elif kind == "call":
            open_ids = [f"c{number}", f"d{number}"]
            messages.append(called(*open_ids))
        elif kind == "return":
            ids = data.draw(st.lists(st.sampled_from(open_ids or ["orphan"]), unique=True))
            messages.append(returned(*ids))
            kept |= {f"result of {i}" for i in ids if i in open_ids}
            open_ids = [i for i in open_ids if i not in ids]
        else:
            messages.append(answered(f"answer {number}"))
            kept.add(f"answer {number}")
            open_ids = []
    text = str([getattr(part, "content", "") for message in repair(messages) for part in message.parts])
    assert all(words in text for words in kept)


def test_a_valid_conversation_is_handed_on_untouched() -> None:
    messages = [asked("go"), called("a", "b"), returned("a", "b"), answered("done"), asked("thanks")]
    assert all(a is b for a, b in zip(repair(messages), messages, strict=True))


def test_an_unanswered_call_is_answered_before_the_next_wish() -> None:
    repaired = repair([asked("go"), called("a", "b"), returned("b"), asked("and?")])
    assert shape(repaired)[2] == ["tool-return", "tool-return", "user-prompt"]
    assert results(repaired) == {"a": INTERRUPTED_CALL, "b": "result of b"}


def test_a_conversation_that_ends_in_calls_ends_in_their_results() -> None:
    repaired = repair([asked("go"), called("a")])
    assert shape(repaired) == [["user-prompt"], ["tool-call"], ["tool-return"]]


def test_results_of_no_call_are_dropped() -> None:
    assert shape(repair([asked("go"), returned("x"), answered("done")])) == [["user-prompt"], ["text"]]


def test_results_stored_one_by_one_become_one_message() -> None:
    repaired = repair([asked("go"), called("a", "b"), returned("a"), returned("b"), answered("done")])
    assert shape(repaired)[2] == ["tool-return", "tool-return"]


def test_an_id_used_again_by_a_local_server_is_made_unique_with_its_result() -> None:
    repaired = repair(
        [asked("go"), called("call_0"), returned("call_0"), called("call_0", "call_0"), returned("call_0", "call_0")]
    )
    assert list(results(repaired)) == ["call_0", "call_0-2", "call_0-3"]
    assert_valid(repaired)


def test_a_second_result_of_the_same_call_is_dropped() -> None:
    repaired = repair([asked("go"), called("a"), returned("a", "a"), answered("done")])
    assert shape(repaired)[2] == ["tool-return"]


def test_an_interrupted_answer_keeps_its_words_and_loses_half_a_thought() -> None:
    cut = ModelResponse(parts=[ThinkingPart("I was just"), TextPart("The answer is")], state="interrupted")
    assert shape(repair([asked("why?"), cut, asked("go on")])) == [["user-prompt"], ["text"], ["user-prompt"]]


def test_a_thought_that_its_provider_signed_stays() -> None:
    thought = ThinkingPart("hm", signature="s", provider_name="anthropic")
    cut = ModelResponse(parts=[thought, TextPart("The answer")], state="interrupted")
    assert shape(repair([asked("why?"), cut]))[1] == ["thinking", "text"]


def test_an_empty_answer_leaves_no_gap() -> None:
    empty = ModelResponse(parts=[])
    assert shape(repair([asked("why?"), empty, asked("hello?")])) == [["user-prompt", "user-prompt"]]


def test_a_conversation_that_starts_with_an_answer_gets_a_beginning() -> None:
    first = repair([answered("As I said,")])[0]
    [part] = first.parts
    assert isinstance(part, UserPromptPart) and part.content == BEGINNING


def test_the_last_requests_instructions_hold() -> None:
    old = ModelRequest(parts=[UserPromptPart("a")], instructions="old")
    new = ModelRequest(parts=[UserPromptPart("b")], instructions="new")
    [joined] = repair([old, new])
    assert isinstance(joined, ModelRequest) and joined.instructions == "new"


def test_a_result_without_words_says_so() -> None:
    empty = ModelRequest(parts=[ToolReturnPart("ls", " \n", "c1"), ToolReturnPart("ls", "a.py", "c2")])
    messages = [asked("q"), called("c1", "c2"), empty]
    assert results(repair(messages)) == {"c1": "(no output)", "c2": "a.py"}
    assert repair(repair(messages)) == repair(messages)
