"""Filters and scopes, of the query and of the caller, as the store's users see them."""

from __future__ import annotations

from pathlib import Path

import pytest

from loom.archive import ConversationStore, NewTurn
from loom.archive.records import TurnKind
from tests.archive.searching import found, index_all, tell
from tests.support.checkout import git, make_checkout
from tests.support.zone import reading_in


@pytest.mark.parametrize("indexed", [False, True], ids=["behind the watermark", "indexed"])
async def test_the_filter_for_a_tool_finds_its_calls_and_its_results(
    store: ConversationStore, session: str, indexed: bool
) -> None:
    def call(number: int, name: str, **arguments: str) -> dict[str, object]:
        return {"id": f"c{number}", "name": name, "arguments": arguments}

    run = call(1, "run_command", command="pytest -q tests/archive")
    read = call(2, "read_file", path="pytest.ini")
    recall = call(3, "conversation_recall", query="pytest pelican")
    await store.append_turns(
        session,
        [
            NewTurn(role="user", content="run pytest"),
            NewTurn(role="assistant", content="Gladly.", tool_calls=[run, read], kind=TurnKind.TOOL_CALL),
            NewTurn(role="tool", content="pytest: 3 passed", tool_call_id="c1", tool_name="run_command"),
            NewTurn(role="tool", content="[pytest]", tool_call_id="c2", tool_name="read_file"),
            NewTurn(role="assistant", content="pytest passed, I read no file.", tool_calls=[]),
            NewTurn(role="assistant", content=None, tool_calls=[recall, read], kind=TurnKind.TOOL_CALL),
        ],
    )
    if indexed:
        await index_all(store)
    assert set(await found(store, session, "tool:run_command pytest")) == {2, 3}
    assert set(await found(store, session, "tool:run_command pytest role:assistant")) == {2}
    assert set(await found(store, session, "tool:run_command")) == {2, 3}
    assert set(await found(store, session, "tool:read_file pytest")) == {2, 4, 6}
    assert set(await found(store, session, "tool:run_command", tools=["read_file"])) == {2}
    assert await found(store, session, "tool:conversation_recall pytest") == []
    assert await found(store, session, "pelican") == []


async def fill_filters(store: ConversationStore, session: str) -> None:
    await store.append_turns(
        session,
        [
            NewTurn(role="user", content="parser question", created_at="2024-03-10T09:00:00.000000Z"),
            NewTurn(role="assistant", content="parser: see src/parse.py", created_at="2024-03-11T09:00:00.000000Z"),
            NewTurn(
                role="tool", content="parser output", tool_name="read_file", created_at="2024-03-12T09:00:00.000000Z"
            ),
            NewTurn(role="user", content="parser and lexer", created_at="2024-04-01T09:00:00.000000Z"),
        ],
    )


@pytest.mark.parametrize("indexed", [False, True], ids=["behind the watermark", "indexed"])
@pytest.mark.parametrize(
    ("query", "turns"),
    [
        ("parser role:user", {1, 4}),
        ("parser role:user,tool", {1, 3, 4}),
        ("parser tool:read_file", {3}),
        ("parser file:parse.py", {2}),
        ("parser file:src/parse.py", {2}),
        ("parser before:2024-03-11", {1}),
        ("parser before:2024-03-12T00:00", {1, 2}),
        ("parser after:2024-04", {4}),
        ("parser after:2024-03-11 before:2024-04-01", {2, 3}),
        ("parser -lexer", {1, 2, 3}),
        ("parser -question -see", {3, 4}),
        ('"parser and lexer"', {4}),
        ('"parser output" role:tool', {3}),
        ("role:user", {1, 4}),
        ("tool:read_file", {3}),
        ("role:user -lexer", {1}),
        ("-lexer after:2024-03-11", {2, 3}),
        ("file:parse.py", {2}),
        ("file:parse.py -question", {2}),
        ("after:2024-03-12", {3, 4}),
        ("parser session:nosuchsession", set()),
        ("parser tool:write_file", set()),
    ],
)
async def test_filters_leave_what_they_name(
    store: ConversationStore, session: str, query: str, turns: set[int], indexed: bool
) -> None:
    await fill_filters(store, session)
    if indexed:
        await index_all(store)
    assert set(await found(store, session, query)) == turns


async def test_filters_of_the_caller_and_of_the_query_both_hold(store: ConversationStore, session: str) -> None:
    await fill_filters(store, session)
    assert set(await found(store, session, "parser", roles=("user",))) == {1, 4}
    assert set(await found(store, session, "parser role:user", roles=("tool",))) == set()
    assert set(await found(store, session, "parser", tools=("read_file",))) == {3}
    assert set(await found(store, session, "parser tool:write_file", tools=("read_file",))) == set()
    assert set(await found(store, session, "parser tool:read", tools=("read_file",))) == {3}
    assert set(await found(store, session, "parser before:2024-04-01", after="2024-03-11T00:00:00Z")) == {2, 3}


async def test_the_scope_is_a_session_a_workspace_or_everything(store: ConversationStore, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    one, two = [await store.create_session(here, "offline", "") for _ in range(2)]
    three = await store.create_session(there, "offline", "", title="Kiosk")
    for session in (one, two, three):
        await tell(store, session, "the kangaroo plan")
    await index_all(store)
    assert {hit.session_id for hit in (await store.search("kangaroo")).hits} == {one, two, three}
    assert {hit.session_id for hit in (await store.search("kangaroo", workspace=here)).hits} == {one, two}
    page = await store.search("kangaroo", session_id=three)
    assert [hit.session_id for hit in page.hits] == [three]
    assert page.searched_turns == 1
    details = await store.get_session(three)
    assert details is not None
    for name in (details.reference, three[:8], "kiosk"):
        assert {hit.session_id for hit in (await store.search(f"kangaroo session:{name}")).hits} == {three}


@pytest.mark.parametrize("name", ["größe", "GRÖSSE", "ошибка", "{reference}"])
async def test_a_session_is_named_in_capitals_or_without(store: ConversationStore, tmp_path: Path, name: str) -> None:
    session = await store.create_session(tmp_path, "offline", "", title="Größe: Ошибка")
    other = await store.create_session(tmp_path, "offline", "", title="Other")
    for each in (session, other):
        await tell(store, each, "the kangaroo plan")
    details = await store.get_session(session)
    assert details is not None
    name = name.format(reference=details.reference.upper())
    assert {hit.session_id for hit in (await store.search(f"kangaroo session:{name}")).hits} == {session}


async def test_another_checkout_of_the_same_history_is_the_same_workspace(
    store: ConversationStore, tmp_path: Path
) -> None:
    here = make_checkout(tmp_path / "here")
    git(tmp_path, "clone", "-q", str(here), "there")
    session = await store.create_session(tmp_path / "there", "offline", "")
    await store.append_turn(session, "user", "the marmot whistles")
    page = await store.search("marmot", workspace=here)
    assert [hit.session_id for hit in page.hits] == [session]
    assert [listed.id for listed in await store.list_sessions(here)] == [session]


@pytest.mark.parametrize(
    ("query", "turns"),
    [
        ("parser after:2026-07-01", {2, 3}),
        ("parser before:2026-07-01", {1, 4, 5}),
        ("parser before:2026-01-15", {4}),
        ("parser after:2026-01-15 before:2026-07", {1, 5}),
        ("parser after:2026-07-01T00:00Z", {3}),
        ("parser before:9999-12-31", {1, 2, 3, 4, 5}),
        ("parser after:0001-01-01", {1, 2, 3, 4, 5}),
    ],
)
async def test_days_begin_at_midnight_in_summer_and_in_winter(
    store: ConversationStore, session: str, query: str, turns: set[int]
) -> None:
    told = (
        "2026-06-30T21:59:00Z",  # 23:59 in Berlin, in summer
        "2026-06-30T22:01:00Z",
        "2026-07-01T10:00:00Z",
        "2026-01-14T22:59:00Z",  # 23:59, in winter
        "2026-01-14T23:01:00Z",
    )
    await store.append_turns(session, [NewTurn(role="user", content="parser", created_at=moment) for moment in told])
    with reading_in("Europe/Berlin"):
        assert set(await found(store, session, query)) == turns
