"""No text can break a search."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loom.archive import ConversationStore
from loom.archive.database import connect
from loom.archive.migrations import prepare
from loom.archive.records import SearchPage
from loom.archive.search.index import index_batch
from loom.archive.search.lookup import search
from loom.archive.search.query import parse
from loom.archive.search.request import Request
from loom.archive.search.snippets import snippet_of
from tests.support.zone import reading_in

NASTY = [
    '" OR 1=1 NEAR(',
    "x" * 100_000,
    "ab " * 40_000,
    "a\x00b",
    "\x00",
    "🦊 emoji 👩‍👩‍👧",
    "\ud800 lone \udfff",
    "",
    "   ",
    '"',
    '""',
    '"""',
    "'",
    "*",
    "-",
    "--",
    "-a",
    "-word",
    "NOT AND OR NEAR",
    "words : x",
    "{words parts} : x",
    "^start",
    "a*",
    "role:",
    "role:nobody",
    "role:user role:user",
    "before:never",
    "before:9999-99-99",
    "after:0000",
    "after:99999999999999d",
    "before:9999y",
    "session:%",
    "session:''",
    "file:",
    'file:"',
    "tool:x y:z",
    "🫠",
    "ﬁ ǆ ß İ",
    "١٢٣ ４５６",
    "\u0301\u0301",
    "e\u0301",
    "%_%",
    "[[[[((((",
    "\\",
    "日",
    "31 February 2024",
    "in May 0000",
    "99 days ago",
    "5 Aprıl",
    "2 mınutes ago",
    "on Frıday",
    "ſeven days ago",
    "last \u017fpring",
    "a wee\u212a ago",
]


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    path: Path = tmp_path_factory.mktemp("hostile") / "archive.db"
    prepare(path)
    texts = [
        "auth JWT",
        "café 日本語",
        'say "hi"',
        "refreshToken src/auth.py E0433",
        *NASTY[:12],
        "a\x00b İstanbul ﬁne",
    ]
    with closing(connect(path)) as opened:
        opened.execute(
            "INSERT INTO cowork_sessions (id, reference, workspace_path, model_name, started_at, last_active_at)"
            " VALUES ('s', 'ab12', '/w', 'm', 't', 't')"
        )
        for i, text in enumerate(texts, 1):
            opened.execute(
                "INSERT INTO conversation_turns (session_id, turn_number, exchange, role, kind, status, content,"
                " created_at, digest) VALUES ('s', ?, 1, 'user', 'text', 'complete', ?, '2024-01-01T00:00:00Z', '')",
                (i, text.encode("utf-8", "replace").decode()),
            )
            if i == len(texts) // 2:
                while index_batch(opened):
                    pass
        yield opened


def ask(connection: sqlite3.Connection, query: str) -> SearchPage:
    return search(connection, Request(query), lambda: None)


@pytest.mark.parametrize("query", NASTY)
def test_a_nasty_query_gets_an_answer(connection: sqlite3.Connection, query: str) -> None:
    for asked in (query, f"auth {query}", f'"{query}'):
        for hit in ask(connection, asked).hits:
            check_snippet(hit.snippet, hit.highlights)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60))
def test_any_text_gets_an_answer(connection: sqlite3.Connection, query: str) -> None:
    page = ask(connection, query)
    for hit in page.hits:
        check_snippet(hit.snippet, hit.highlights)


SYNTAX = [
    '"',
    "-",
    "role:",
    "tool:",
    "file:",
    "before:",
    "after:",
    "session:",
    "user",
    "2024",
    " ",
    "*",
    "(",
    "`",
    "“",
    "”",
]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from([*SYNTAX, "auth", "JWT", "src/auth.py", "hi", "日本", "é"]), max_size=12))
def test_any_mixture_of_syntax_gets_an_answer(connection: sqlite3.Connection, pieces: list[str]) -> None:
    ask(connection, "".join(pieces))


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=400), st.text(max_size=40))
def test_a_snippet_is_a_part_of_its_text_with_highlights_in_order(text: str, query: str) -> None:
    snippet, highlights = snippet_of(text, parse(query))
    assert snippet in text
    assert len(snippet) <= 240
    check_snippet(snippet, highlights)


def check_snippet(snippet: str, highlights: tuple[tuple[int, int], ...]) -> None:
    end = 0
    for a, b in highlights:
        assert end <= a < b <= len(snippet)
        end = b


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Tokyo"])
@pytest.mark.parametrize("query", ["roses in May", "roses before:0001", "roses 31 December"])
async def test_turns_of_the_first_day_there_is_stop_no_search(
    store: ConversationStore, session: str, zone: str, query: str
) -> None:
    # What other programs write for a time that they do not know.
    await store.append_turn(session, "user", "In May we planted roses.", created_at="0001-01-01T00:00:00Z")
    with reading_in(zone):
        page = await store.search(query, session_id=session)
    assert page.hits or page.obstacles


async def test_half_of_an_emoji_in_a_call_does_not_come_out_of_a_search(store: ConversationStore, session: str) -> None:
    call = {"id": "c", "name": "write_file", "arguments": '{"text": "the walrus \\ud83d", "key\\udfff": 1}'}
    await store.append_turn(session, "assistant", None, tool_calls=[call])
    (hit,) = await store.search_turns(session, "walrus")
    assert (hit.snippet.encode(), hit.content.encode()) == (
        b"write_file\ntext: the walrus \xef\xbf\xbd\nkey\xef\xbf\xbd: 1",
    ) * 2
