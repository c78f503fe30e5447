"""Turns are found by number, exchange, tool and call."""

from __future__ import annotations

from contextlib import closing

import pytest

from loom.archive import ConversationStore, NewTurn, TurnKind
from loom.archive.database import connect
from loom.archive.reading import EXCHANGES, SIZES


def _call(call_id: str, name: str) -> NewTurn:
    calls = [{"id": call_id, "name": name, "arguments": {}}]
    return NewTurn(role="assistant", content=None, kind=TurnKind.TOOL_CALL, tool_calls=calls, token_count=3)


def _result(call_id: str, name: str, output: str) -> NewTurn:
    return NewTurn(
        role="tool", content=output, kind=TurnKind.TOOL_RESULT, tool_call_id=call_id, tool_name=name, token_count=5
    )


@pytest.fixture
async def talk(store: ConversationStore, session: str) -> str:
    """Ten exchanges of four turns: question, call, result, answer."""
    for n in range(1, 11):
        name = "read_file" if n % 2 else "shell_execute"
        await store.append_turns(session, [NewTurn(role="user", content=f"question {n}", token_count=1)])
        await store.append_turns(session, [_call(f"c{n}", name)])
        await store.append_turns(session, [_result(f"c{n}", name, f"output {n}")])
        await store.append_turns(session, [NewTurn(role="assistant", content=f"answer {n}", token_count=2)])
    return session


async def test_pages_run_oldest_first(store: ConversationStore, talk: str) -> None:
    assert [turn.turn_number for turn in await store.get_turns(talk, 0, 3)] == [1, 2, 3]
    assert [turn.turn_number for turn in await store.get_turns(talk, 38, 50)] == [39, 40]
    assert await store.get_turns(talk, 40, 50) == []


async def test_the_turns_before_one_run_up_to_it(store: ConversationStore, talk: str) -> None:
    assert [turn.turn_number for turn in await store.get_turns_before(talk, None, 3)] == [38, 39, 40]
    assert [turn.turn_number for turn in await store.get_turns_before(talk, 3, 10)] == [1, 2]


async def test_a_range_includes_both_ends(store: ConversationStore, talk: str) -> None:
    assert [turn.turn_number for turn in await store.get_range(talk, 4, 6)] == [4, 5, 6]
    assert await store.get_range(talk, 6, 4) == []


async def test_one_turn_or_none(store: ConversationStore, talk: str) -> None:
    turn = await store.get_turn(talk, 1)
    assert turn is not None
    assert turn["content"] == "question 1"
    assert await store.get_turn(talk, 41) is None


async def test_exchanges_come_whole(store: ConversationStore, talk: str) -> None:
    found = await store.get_exchanges(talk, 2, 3)
    assert [turn.turn_number for turn in found] == list(range(5, 13))


async def test_exchange_sizes_run_newest_first(store: ConversationStore, talk: str) -> None:
    sizes = await store.get_exchange_sizes(talk, None, 2)
    assert [(s.exchange, s.first_turn, s.last_turn, s.tokens) for s in sizes] == [(10, 37, 40, 11), (9, 33, 36, 11)]
    assert [s.exchange for s in await store.get_exchange_sizes(talk, 3, 10)] == [2, 1]


async def test_results_of_a_tool_run_newest_first(store: ConversationStore, talk: str) -> None:
    found = await store.find_tool_turns(talk, "read_file", 2)
    assert [turn.content for turn in found] == ["output 9", "output 7"]
    assert await store.find_tool_turns(talk, "write_file", 2) == []


async def test_the_turn_that_asked_is_found(store: ConversationStore, talk: str) -> None:
    turn = await store.find_call(talk, "c4")
    assert turn is not None
    assert turn.turn_number == 14
    await store.append_turns(talk, [_call("open", "read_file")])
    unanswered = await store.find_call(talk, "open")
    assert unanswered is not None
    assert unanswered.turn_number == 41
    assert await store.find_call(talk, "never asked") is None


async def test_of_a_call_id_that_was_used_twice_each_result_has_its_own_call(
    store: ConversationStore, talk: str
) -> None:
    await store.append_turns(talk, [_call("c1", "read_file"), _result("c1", "read_file", "again")])
    found = [await store.find_call(talk, "c1", before=result) for result in (3, 42)]
    assert [turn and turn.turn_number for turn in found] == [2, 41]
    assert await store.find_call(talk, "c1", before=2) is None


async def test_an_unknown_session_has_no_turns(store: ConversationStore) -> None:
    assert await store.get_turns("nowhere") == []
    assert await store.get_turn_count("nowhere") == 0


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM conversation_turns WHERE session_id = 's' AND turn_number < 9 ORDER BY turn_number DESC LIMIT 9",
        SIZES,
        EXCHANGES,
        "SELECT * FROM conversation_turns WHERE session_id = 's' AND tool_name = 't' AND role = 'tool'"
        " ORDER BY turn_number DESC LIMIT 9",
        "SELECT * FROM conversation_turns WHERE session_id = 's' AND role = 'assistant' AND turn_number < 9"
        " ORDER BY turn_number DESC",
    ],
)
async def test_an_index_answers_in_order(store: ConversationStore, query: str) -> None:
    with closing(connect(store.path, readonly=True)) as connection:
        values = [None] * query.count("?")
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", values)]
    assert not any(step.startswith("SCAN") or "TEMP B-TREE" in step for step in plan), plan


@pytest.mark.parametrize("condition", ["1", "workspace_path = '/w'", "workspace_commit = 'c'"])
@pytest.mark.parametrize("shown", ["is_active > 0", "1"])
async def test_an_index_gives_the_list_its_order(store: ConversationStore, condition: str, shown: str) -> None:
    query = (
        f"SELECT * FROM cowork_sessions WHERE {condition} AND {shown}"
        " ORDER BY listed_at DESC, is_active DESC, rowid DESC LIMIT 50"
    )
    with closing(connect(store.path, readonly=True)) as connection:
        (step,) = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}")]
    assert "USING INDEX sessions_by" in step
