"""Search, as the store's users see it."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from loom.archive import ConversationStore
from loom.archive.records import TurnKind
from loom.archive.search import SearchEngine
from loom.archive.search.engine import Abandoned
from loom.archive.search.tail import TailCache
from loom.attached import HEAD, with_attached
from tests.archive.searching import FILLER, found, index_all, tell, turn_numbers


@pytest.mark.parametrize("indexed", [False, True], ids=["behind the watermark", "indexed"])
@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("The auth module signs a JWT for each login.", "auth JWT"),
        ("We met at the café by the river.", "café"),
        ("We met at the café by the river.", "cafe"),
        ("We met at the CAFE by the river.", "café"),
        ("設定は日本語で書いてください。", "日本語"),
        ("設定は日本語で書いてください。", "本語で書"),
        ("설정을 한국어로 바꿔 주세요", "한국어"),
        ('The greeter must say "hi" to everybody.', 'say "hi"'),
        ("Call refreshToken() before it expires.", "refreshToken"),
        ("Call refreshToken() before it expires.", "refreshtoken"),
        ("Call refreshToken() before it expires.", "refresh token"),
        ("Call refreshToken() before it expires.", "refreshTokne"),
        ("Open src/auth.py and look.", "src/auth.py"),
        ("Open src/auth.py and look.", "auth.py"),
        ("rustc says error[E0433]: failed to resolve", "E0433"),
        ("rustc says error[E0433]: failed to resolve", "what was the E0433 about?"),
        ("run it with --no-auto-test please", "--no-auto-test"),
        ("commit 4f2a9c01d77e fixed it", "4f2a9c"),
        ("We planned the migration.", "planning migrations"),
        ("I went home and bought bread.", "where did we buy bread"),
        ("a => b means implication", "=>"),
        ("Das Gerät läuft über Straße", "uber strasse läuft"),
        ("файл настроек лежит здесь", "настроек"),
        ("Das Gerät steht in der Hauptstraße", "HAUPTSTRASSE"),
        ("Die Datenbankverbindung ist abgerissen", "verbindung"),
        ("Wir haben den Arbeitsunfähigkeitsnachweis verschickt", "unfähigkeit"),
        ("Ο ΣΊΣΥΦΟΣ σπρώχνει", "σίσυφος"),
        ("수업은 월요일에 시작합니다", "월요일"),
        ("我们决定用数据库迁移工具", "数据库迁移"),
        ("カタカナでコンパイラと書く", "コンパイラ"),
        ("İstanbul'da buluştuk", "istanbul"),
        ("The reimbursement arrived", "reimbursment"),
    ],
)
async def test_the_turn_is_found_first(
    store: ConversationStore, session: str, text: str, query: str, indexed: bool
) -> None:
    await tell(store, session, *FILLER[:2])
    (wanted,) = await tell(store, session, text)
    await tell(store, session, *FILLER[2:])
    if indexed:
        await index_all(store)
    hits = await store.search_turns(session, query)
    assert hits[0].turn_number == wanted
    assert hits[0].content == text


async def test_of_equals_the_newest_comes_first(store: ConversationStore, session: str) -> None:
    days = [f"2024-05-0{day}T10:00:00.000000Z" for day in (1, 2, 3, 4, 5)]
    same = [await store.append_turn(session, "user", "the build is green", created_at=day) for day in days]
    assert await found(store, session, "green build") == same[::-1]


async def test_a_turn_is_found_right_after_its_append(store: ConversationStore, session: str) -> None:
    for i in range(30):
        (turn,) = await tell(store, session, f"the code word of round {i} is zebra{i}x")
        assert (await found(store, session, f"zebra{i}x"))[0] == turn


async def test_index_and_tail_give_one_answer(store: ConversationStore, session: str) -> None:
    first = await tell(store, session, "alpha project budget", "the budget of beta")
    await index_all(store)
    second = await tell(store, session, "budget again for gamma")
    assert set(await found(store, session, "budget")) == {*first, *second}


async def test_every_turn_is_found_once_whatever_the_state_of_the_index(
    store: ConversationStore, session: str, archive_path: Path
) -> None:
    turns = await tell(store, session, *(f"needle number {i}" for i in range(400)))
    for _ in range(5):
        assert sorted(await found(store, session, "needle", limit=500)) == turns
        await asyncio.sleep(0)
    await index_all(store)
    assert sorted(await found(store, session, "needle", limit=500)) == turns


async def test_a_deleted_session_is_never_found(store: ConversationStore, session: str, tmp_path: Path) -> None:
    other = await store.create_session(tmp_path, "offline", "")
    await tell(store, session, "the secret pancake recipe")
    await tell(store, other, "another pancake recipe")
    await index_all(store)
    await store.delete_session(session)
    assert {hit.session_id for hit in (await store.search("pancake")).hits} == {other}
    assert await found(store, session, "pancake") == []
    wider = await store.search("pancake", workspace=tmp_path, at_hand=session)
    assert {hit.session_id for hit in wider.hits} == {other}
    await store.restore_session(session)
    assert {hit.session_id for hit in (await store.search("pancake")).hits} == {session, other}


@pytest.mark.parametrize("indexed", [False, True], ids=["behind the watermark", "indexed"])
async def test_a_session_that_was_deleted_while_it_is_open_finds_its_own(
    store: ConversationStore, session: str, indexed: bool
) -> None:
    await tell(store, session, "the secret pancake recipe")
    if indexed:
        await index_all(store)
    await store.delete_session(session)
    page = await store.search("pancake", session_id=session, at_hand=session)
    assert turn_numbers(page.hits) == [1]
    page = await store.search("pancake role:tool", session_id=session, at_hand=session)
    assert page.obstacles == ("No turn there passes role:tool. Try role:user.",)


@pytest.mark.parametrize("indexed", [False, True], ids=["behind the watermark", "indexed"])
async def test_what_recall_said_and_was_asked_is_never_found(
    store: ConversationStore, session: str, indexed: bool
) -> None:
    (said,) = await tell(store, session, "we chose the flamingo colour")
    call = {"id": "c1", "name": "conversation_recall", "arguments": {"action": "search", "query": "flamingo"}}
    await store.append_turn(session, "assistant", None, tool_calls=[call], kind=TurnKind.TOOL_CALL)
    await store.append_turn(
        session, "tool", "T1: we chose the flamingo colour", tool_call_id="c1", tool_name="conversation_recall"
    )
    await store.append_turn(session, "system", "T1 left the window: flamingo", kind=TurnKind.RECEIPT)
    await store.append_turn(session, "system", "flamingo error", kind=TurnKind.NOTE)
    if indexed:
        await index_all(store)
    assert await found(store, session, "flamingo") == [said]
    assert await found(store, session, "conversation_recall") == []
    assert await found(store, session, "role:tool") == []


@pytest.mark.parametrize("indexed", [False, True], ids=["behind the watermark", "indexed"])
async def test_a_turn_that_went_along_with_a_message_is_found_where_it_was_said(
    store: ConversationStore, session: str, indexed: bool
) -> None:
    (said,) = await tell(store, session, "The servers stand in Zanzibar.")
    turn = f"{HEAD}turn k3f9 T1, user · 2026-01-15 14:30 +01:00]\n```\nThe servers stand in Zanzibar.\n```"
    file = f"{HEAD}notes.txt, 6 bytes]\n```\nnutmeg\n```"
    message = with_attached("Is this still so, with the cloves?", f"{turn}\n\n{file}")
    (asked,) = await tell(store, session, message)
    if indexed:
        await index_all(store)
    for query, wanted in (("Zanzibar", said), ('"stand in Zanzibar"', said), ("cloves", asked), ("nutmeg", asked)):
        assert turn_numbers(await store.search_turns(session, query)) == [wanted], query
    (hit,) = await store.search_turns(session, "cloves")
    assert hit.content == message, "what is found is the whole turn"


async def test_a_summary_is_found(store: ConversationStore, session: str) -> None:
    turn = await store.append_turn(session, "assistant", "In short: the ostrich left.", kind=TurnKind.SUMMARY)
    assert await found(store, session, "ostrich") == [turn]


async def test_decoded_arguments_of_calls_are_found(store: ConversationStore, session: str) -> None:
    call = {
        "id": "c1",
        "name": "write_file",
        "arguments": {"path": "docs/naïve.md", "content": 'say "こんにちは"\nbye'},
    }
    turn = await store.append_turn(session, "assistant", None, tool_calls=[call], kind=TurnKind.TOOL_CALL)
    raw = {"id": "c2", "name": "shell_execute", "arguments": '{"command": "pytest -k caf\\u00e9"}'}
    other = await store.append_turn(session, "assistant", None, tool_calls=[raw], kind=TurnKind.TOOL_CALL)
    for query in ("こんにちは", "docs/naïve.md", "write_file", '"say \\"', "bye"):
        assert (await found(store, session, query))[0] == turn, query
    assert (await found(store, session, "café"))[0] == other
    assert (await store.search_turns(session, "café"))[0].content == "shell_execute\ncommand: pytest -k café"


async def test_equal_matches_come_newest_first(store: ConversationStore, session: str) -> None:
    turns = [
        (await store.append_turn(session, "user", "walrus", created_at=f"2024-0{month}-01T00:00:00.000000Z"))
        for month in range(1, 6)
    ]
    assert await found(store, session, "walrus") == turns[::-1]
    await index_all(store)
    assert await found(store, session, "walrus") == turns[::-1]


async def test_the_answer_beside_a_question_is_found(store: ConversationStore, session: str) -> None:
    await tell(store, session, *FILLER)
    question = await store.append_turn(session, "user", "What is your favourite dish?")
    answer = await store.append_turn(session, "assistant", "Ramen, with an egg.")
    await tell(store, session, *FILLER)
    assert set((await found(store, session, "favourite dish"))[:2]) == {question, answer}


async def test_a_cancelled_search_leaves_the_engine_usable(store: ConversationStore, session: str) -> None:
    await tell(store, session, *(f"marmot number {i} " * 50 for i in range(200)))
    tasks = [asyncio.create_task(store.search(f"marmot {i}")) for i in range(20)]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(outcome, asyncio.CancelledError) for outcome in outcomes)
    assert await found(store, session, "marmot 7")


async def test_a_search_that_is_cut_off_in_the_middle_of_reading_leaves_the_engine_usable(
    store: ConversationStore, session: str
) -> None:
    (turn, *_) = await tell(store, session, *(f"marmot number {i}" for i in range(300)))
    engine = SearchEngine(store.path)

    def cut_off(connection: sqlite3.Connection, _: TailCache) -> None:
        rows = connection.execute("SELECT content FROM conversation_turns")
        assert rows.fetchone() is not None
        # As a caller that is cancelled does it from another thread: what is being read stays open until it is known.
        connection.interrupt()
        raise Abandoned

    with pytest.raises((Abandoned, sqlite3.OperationalError)):
        await engine.ask(cut_off)
    assert turn_numbers((await engine.search("marmot", session_id=session, limit=300)).hits).count(turn) == 1
    await engine.close()
