"""A question and its answer stand beside each other, whatever was done in between."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from loom.archive import ConversationStore, NewTurn, TurnKind
from loom.archive.reindex import reindex

QUESTION = NewTurn(role="user", content="Where did we leave the spare keys of the boathouse?")
ANSWER = NewTurn(role="assistant", content="Under the third flower pot, it seems.")
SMALL_TALK = [
    NewTurn(role=role, content=f"{subject} {words}")
    for subject in ("The weather", "Our lunch", "This tram", "The choir")
    for role, words in (("user", "was rather good today."), ("assistant", "is always a pleasure to hear of."))
]


def work(calls: int, tool: str = "read_file") -> list[NewTurn]:
    """Calls with their results, and what a model says on its way."""
    turns = []
    for i in range(calls):
        call = {"id": f"c{i}", "name": tool, "arguments": {"path": f"notes/{i}.md"}}
        turns += [
            NewTurn(role="assistant", content=f"Now note number {i}."),
            NewTurn(role="assistant", kind=TurnKind.THINKING, content="Hm."),
            NewTurn(role="assistant", kind=TurnKind.TOOL_CALL, content=None, tool_calls=[call]),
            NewTurn(role="tool", kind=TurnKind.TOOL_RESULT, content=f"Bread {i}, milk, eggs.", tool_name=tool),
        ]
    return turns


async def hits(store: ConversationStore, session: str) -> list[int]:
    return [hit.turn_number for hit in await store.search_turns(session, "Where are the keys of the boathouse?")]


async def told(store: ConversationStore, session: str, *parts: Sequence[NewTurn]) -> None:
    for part in parts:
        await store.append_turns(session, part)


@pytest.mark.parametrize("calls", [0, 1, 12, 240])
@pytest.mark.parametrize("indexed", ["nothing", "the question", "everything"])
async def test_an_answer_is_found_by_its_question(
    store: ConversationStore, session: str, calls: int, indexed: str
) -> None:
    await told(store, session, SMALL_TALK, [QUESTION])
    if indexed == "the question":
        await asyncio.to_thread(reindex, store.path)
    await told(store, session, work(calls), [ANSWER], SMALL_TALK)
    if indexed == "everything":
        await asyncio.to_thread(reindex, store.path)
    question = len(SMALL_TALK) + 1
    assert (await hits(store, session))[:2] == [question + 4 * calls + 1, question]


async def test_a_remark_at_the_end_of_the_index_is_no_answer(store: ConversationStore, session: str) -> None:
    remark, *others = work(1)
    await told(store, session, SMALL_TALK, [QUESTION, remark])
    await asyncio.to_thread(reindex, store.path)
    await told(store, session, others, [ANSWER], SMALL_TALK)
    question = len(SMALL_TALK) + 1
    assert (await hits(store, session))[:2] == [question + 5, question]


async def test_what_the_person_says_next_is_no_answer(store: ConversationStore, session: str) -> None:
    """The exchange ended in a call: denied, interrupted."""
    lunch = NewTurn(role="user", content="Let us talk about lunch: soup or salad.")
    await told(store, session, SMALL_TALK, [QUESTION], work(1), [lunch], SMALL_TALK)
    await asyncio.to_thread(reindex, store.path)
    question = len(SMALL_TALK) + 1
    found = await hits(store, session)
    assert found[:2] == [question + 1, question]
    assert question + 5 not in found[:3]


@pytest.mark.parametrize("calls", [1, 4])
async def test_a_remark_before_a_recall_is_no_answer(store: ConversationStore, session: str, calls: int) -> None:
    """Such a call is not in the index, nor is what it gave back."""
    await told(store, session, SMALL_TALK, [QUESTION], work(calls, "conversation_recall"), [ANSWER], SMALL_TALK)
    await asyncio.to_thread(reindex, store.path)
    question = len(SMALL_TALK) + 1
    answer = question + 4 * calls + 1
    assert (await hits(store, session))[:2] == [answer, question]
    around = await store.get_turns_around(session, question)
    assert [turn.turn_number for turn in around] == [question - 1, question, answer]


async def test_an_answer_with_a_thought_behind_it_is_one(store: ConversationStore, session: str) -> None:
    thought = NewTurn(role="assistant", kind=TurnKind.THINKING, content="Done.")
    await told(store, session, SMALL_TALK, [QUESTION, ANSWER, thought], SMALL_TALK)
    await asyncio.to_thread(reindex, store.path)
    question = len(SMALL_TALK) + 1
    assert (await hits(store, session))[:2] == [question + 1, question]
    around = await store.get_turns_around(session, question + 1)
    assert [turn.turn_number for turn in around] == [question, question + 1, question + 3]


async def test_an_answer_in_another_session_is_none(store: ConversationStore, session: str) -> None:
    await told(store, session, [QUESTION], work(2))
    other = await store.create_session("/work", "none", "")
    await told(store, other, [ANSWER])
    await asyncio.to_thread(reindex, store.path)
    page = await store.search("Where are the keys of the boathouse?")
    assert other not in {hit.session_id for hit in page.hits}


async def test_what_the_model_says_on_its_way_is_no_answer(store: ConversationStore, session: str) -> None:
    await told(store, session, SMALL_TALK, [QUESTION], work(6), [ANSWER], SMALL_TALK)
    await asyncio.to_thread(reindex, store.path)
    found = await hits(store, session)
    first = len(SMALL_TALK) + 1
    ways = {first + 1 + 4 * i for i in range(1, 6)}
    assert found.index(first + 25) < min((found.index(way) for way in ways & {*found}), default=len(found))
