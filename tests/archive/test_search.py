"""Search, as the store's users see it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from loom.archive import ConversationStore, NewTurn
from loom.archive.records import SearchHit, TurnKind
from loom.archive.reindex import reindex
from loom.archive.search import SearchEngine
from loom.archive.search.engine import Abandoned
from loom.archive.search.query import parse
from loom.archive.search.snippets import snippet_of
from loom.archive.search.tail import TailCache
from tests.support.checkout import git, make_checkout


async def tell(store: ConversationStore, session: str, *texts: str) -> list[int]:
    return [await store.append_turn(session, "user", text) for text in texts]


async def found(store: ConversationStore, session: str, query: str, **filters: object) -> list[int]:
    return [hit.turn_number for hit in await store.search_turns(session, query, **filters)]  # type: ignore[arg-type]


FILLER = (
    "We looked at the weather for the trip.",
    "The garden needs water.",
    "Let us talk about lunch.",
    "Nothing else happened today.",
)


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


async def index_all(store: ConversationStore) -> None:
    """Everything is in the index, by an engine of its own."""
    engine = SearchEngine(store.path)
    await engine.start()
    assert await engine.settle()
    await engine.close()


def nested(depth: int) -> dict[str, object]:
    return {"walrus": nested(depth - 1)} if depth else {}


@pytest.mark.parametrize("indexed", [False, True], ids=["behind the watermark", "indexed"])
@pytest.mark.parametrize(
    "arguments",
    [
        "walrus " + "[" * 50_000,
        "[" * 50_000 + '"walrus"',
        '{"walrus":' * 20_000,
        "[" * 250 + '"walrus"' + "]" * 250,
        nested(300),
    ],
    ids=["no JSON", "a list that never ends", "an object that never ends", "a deep list", "a deep object"],
)
async def test_a_call_with_endless_brackets_is_found_and_hides_nothing(
    store: ConversationStore, session: str, arguments: object, indexed: bool
) -> None:
    first = await store.append_turn(session, "user", "the walrus")
    call = {"id": "1", "name": "read_file", "arguments": arguments}
    asked = await store.append_turn(session, "assistant", None, tool_calls=[call])
    last = await store.append_turn(session, "user", "and the walrus")
    assert set(await found(store, session, "walrus")) == {first, asked, last}
    if indexed:
        reindex(store.path)
        assert set(await found(store, session, "walrus")) == {first, asked, last}


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
    turns = await tell(store, session, *(f"needle number {i}" for i in range(300)))
    for _ in range(5):
        assert sorted(await found(store, session, "needle", limit=400)) == turns
        await asyncio.sleep(0)
    await index_all(store)
    assert sorted(await found(store, session, "needle", limit=400)) == turns


async def test_a_deleted_session_is_never_found(store: ConversationStore, session: str, tmp_path: Path) -> None:
    other = await store.create_session(tmp_path, "offline", "")
    await tell(store, session, "the secret pancake recipe")
    await tell(store, other, "another pancake recipe")
    await index_all(store)
    await store.delete_session(session)
    assert {hit.session_id for hit in (await store.search("pancake")).hits} == {other}
    assert await found(store, session, "pancake") == []
    await store.restore_session(session)
    assert {hit.session_id for hit in (await store.search("pancake")).hits} == {session, other}


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


async def test_the_beginning_of_a_name_is_highlighted(store: ConversationStore, session: str) -> None:
    await store.append_turn(session, "user", "who calls refreshToken and RefreshRate?")
    (hit,) = await store.search_turns(session, "refresh")
    assert [hit.snippet[a:b] for a, b in hit.highlights] == ["refresh", "Refresh"]


async def test_a_snippet_shows_the_match(store: ConversationStore, session: str) -> None:
    await tell(store, session, "padding words " * 400 + "then the gyroscope broke" + " more words" * 400)
    (hit,) = await store.search_turns(session, "gyroscope")
    assert [hit.snippet[a:b] for a, b in hit.highlights] == ["gyroscope"]
    assert len(hit.snippet) <= 240


@pytest.mark.parametrize(
    ("text", "query", "matched"),
    [
        ("ß needle e\u0301", "needle", "needle"),  # one character more, and one less
        ("cafe\u0301 straße x\u0301 ß needle", "needle", "needle"),
        ("the Cafe\u0301 is open", "café", "Cafe\u0301"),
        ("a Straße", "strasse", "Straße"),
        ("ﾊﾟﾝ を買う", "パン", "ﾊﾟﾝ"),
        ("\u1112\u1161\u11ab\u1100\u116e\u11a8 여행", "한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8"),
        ("İstanbul ﬁne", "istanbul", "İstanbul"),
        ("ﬁne", "fine", "ﬁne"),
    ],
)
def test_a_highlight_is_where_the_match_is_however_it_is_written(text: str, query: str, matched: str) -> None:
    snippet, highlights = snippet_of(text, parse(query))
    assert [snippet[a:b] for a, b in highlights] == [matched]


async def test_the_whole_of_a_huge_turn_is_searched(store: ConversationStore, session: str) -> None:
    text = "x = 1\n" * 300_000 + "the_last_word\n"
    await tell(store, session, text, "something else")
    await index_all(store)
    hits = await store.search_turns(session, "the_last_word")
    assert hits[0].turn_number == 1
    assert "the_last_word" in hits[0].snippet


@pytest.mark.parametrize("filler", ["日本語の長い出力。", "é " * 5, "plain words "])
def test_a_snippet_of_a_huge_text_shows_the_match_wherever_it_stands(filler: str) -> None:
    text = filler * 40_000 + "the Gyroscope broke" + filler * 20_000
    for query in ("gyroscope", '"gyroscope broke"', "gyroscope broken"):
        snippet, highlights = snippet_of(text, parse(query))
        assert "Gyroscope" in snippet
        assert "Gyroscope" in {snippet[a : a + 9] for a, _ in highlights}
    assert snippet_of(text, parse("zebra"))[0] == text[:240]


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


@pytest.mark.parametrize(
    "damage",
    [
        "DROP TABLE search_terms",
        "DROP TABLE search_progress",
        "DROP TABLE search_marks",
        "DELETE FROM search_progress",
        "UPDATE search_progress SET version = 0",
        "DELETE FROM search_terms_idx",
    ],
)
async def test_a_damaged_or_deleted_index_is_survived_and_made_again(
    store: ConversationStore, session: str, damage: str
) -> None:
    turns = await tell(store, session, "the lighthouse", "another lighthouse", "a lamp")
    await index_all(store)
    with closing(sqlite3.connect(store.path)) as intruder:
        intruder.execute(damage)
        intruder.commit()
    engine = SearchEngine(store.path)
    assert sorted(turn_numbers((await engine.search("lighthouse")).hits)) == turns[:2]
    await engine.start()
    assert await engine.settle()
    assert sorted(turn_numbers((await engine.search("lighthouse")).hits)) == turns[:2]
    await engine.close()


async def test_an_index_beyond_repair_is_done_without(store: ConversationStore, session: str) -> None:
    turns = await tell(store, session, "the lighthouse", "another lighthouse", "a lamp")
    await index_all(store)
    with closing(sqlite3.connect(store.path)) as intruder:
        intruder.execute("DROP TABLE search_terms_data")
        intruder.commit()
    engine = SearchEngine(store.path)
    await engine.start()
    await engine.settle()
    assert sorted(turn_numbers((await engine.search("lighthouse")).hits)) == turns[:2]
    await engine.close()


def turn_numbers(hits: Sequence[SearchHit]) -> list[int]:
    return [hit.turn_number for hit in hits]


async def test_two_engines_index_one_archive_together(store: ConversationStore, session: str) -> None:
    engines = [SearchEngine(store.path) for _ in range(2)]
    for engine in engines:
        await engine.start()
    turns = await tell(store, session, *(f"shared heron {i}" for i in range(150)))
    for engine in engines:
        assert await engine.settle()
    for engine in engines:
        assert sorted(turn_numbers((await engine.search("heron", limit=500)).hits)) == turns
        await engine.close()
    with closing(sqlite3.connect(store.path)) as reader:
        assert reader.execute("SELECT sum(turns) FROM search_sessions").fetchone() == (150,)


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
