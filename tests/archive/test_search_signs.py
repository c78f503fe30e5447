"""What has no word that the index keeps is found as well, however far back: emoji, signs, words without an end."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from loom.archive.database import connect
from loom.archive.migrations import prepare
from loom.archive.search import passages
from loom.archive.search.index import index_batch
from loom.archive.search.lookup import search
from loom.archive.search.request import Request
from loom.archive.search.unworded import WRITTEN_ALIKE
from loom.archive.search.words import fold

FEW = 20
"""In the place of the thousands of turns that are enough to be read of those with what is looked for."""
LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passages, "MAX_LIKELY", FEW)
    monkeypatch.setattr(passages, "MAX_VERIFIED", FEW)


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A session whose oldest turns have something that none of the many behind them has; another one."""
    prepare(tmp_path / "archive.db")
    with closing(connect(tmp_path / "archive.db")) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        for session in ("s1", "s2"):
            connection.execute(
                "INSERT INTO cowork_sessions (id, reference, title, workspace_path, model_name, started_at,"
                " last_active_at) VALUES (?, ?, 'x', '/w', 'm', 't', 't')",
                (session, f"r{session}"),
            )
        for text in ("the release is out 🎉", f"look up {LONG.upper()} for me", "a lambda is ＝＞ here", "🦊🎉 both"):
            add(connection, "s1", text)
        add(connection, "s1", None, role="assistant", calls=[{"name": "run", "arguments": '{"say": "🚀 up"}'}])
        add(connection, "s1", "an arrow → there", role="assistant")
        add(connection, "s2", "elsewhere 🎉")
        for number in range(5 * FEW):
            add(connection, "s1", f"nothing of note, {number} times", role="user" if number % 2 else "assistant")
        yield connection


def add(
    connection: sqlite3.Connection, session: str, text: str | None, *, role: str = "user", calls: object = None
) -> None:
    (number,) = connection.execute(
        "SELECT coalesce(max(turn_number), 0) + 1 FROM conversation_turns WHERE session_id = ?", (session,)
    ).fetchone()
    connection.execute(
        "INSERT INTO conversation_turns (session_id, turn_number, exchange, role, kind, status, content, tool_calls,"
        " created_at, digest) VALUES (?, ?, 1, ?, 'text', 'complete', ?, ?, '2024-01-01T00:00:00Z', '')",
        (session, number, role, text, None if calls is None else json.dumps(calls)),
    )


def found(connection: sqlite3.Connection, query: str, session: str | None = "s1") -> list[int]:
    return [hit.turn_number for hit in search(connection, Request(query, session_id=session), lambda: None).hits]


def index(connection: sqlite3.Connection) -> None:
    while index_batch(connection):
        pass


@pytest.mark.parametrize("is_indexed", [True, False])
@pytest.mark.parametrize(
    ("query", "turns"),
    [
        ("🎉", [4, 1]),
        ('"🎉"', [4, 1]),
        ("🦊🎉", [4]),
        ("🦊 🎉", []),
        ("🚀", [5]),
        ("→", [6]),
        ("=>", [3]),
        (LONG, [2]),
        (LONG[7:], [2]),
        ("role:assistant 🚀", [5]),
        ("role:user 🚀", []),
        ("role:user 🎉", [4, 1]),
        ("🎉 -both", [1]),
        ('"🎉" release', [1, 4]),
    ],
)
def test_the_oldest_turn_is_found(archive: sqlite3.Connection, query: str, turns: list[int], is_indexed: bool) -> None:
    if is_indexed:
        index(archive)
    assert found(archive, query)[: len(turns) + 1] == turns


def test_many_that_do_not_pass_hide_none_that_does(archive: sqlite3.Connection) -> None:
    for _ in range(3 * FEW):
        add(archive, "s1", "well 🎉", role="assistant")
    index(archive)
    assert found(archive, "role:user 🎉") == [4, 1]


def test_everything_is_searched_where_that_is_asked_for(archive: sqlite3.Connection) -> None:
    index(archive)
    hits = search(archive, Request("🎉"), lambda: None).hits
    assert {(hit.session_id, hit.turn_number) for hit in hits} == {("s1", 1), ("s1", 4), ("s2", 1)}


def test_a_deleted_session_is_not(archive: sqlite3.Connection) -> None:
    index(archive)
    archive.execute("UPDATE cowork_sessions SET is_active = 0 WHERE id = 's2'")
    assert {hit.session_id for hit in search(archive, Request("🎉"), lambda: None).hits} == {"s1"}


def test_what_is_found_is_shown_and_marked(archive: sqlite3.Connection) -> None:
    index(archive)
    page = search(archive, Request("🚀", session_id="s1"), lambda: None)
    (hit,) = page.hits
    assert page.has_words
    assert [hit.snippet[start:end] for start, end in hit.highlights] == ["🚀"]


def test_no_other_character_becomes_one_that_is_looked_for_as_it_is_written() -> None:
    characters = (chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000)
    others = [one for one in characters if (folded := fold(one)) != one and WRITTEN_ALIKE.search(folded)]
    assert others == []


@pytest.mark.parametrize("is_indexed", [True, False])
@pytest.mark.parametrize(
    ("query", "turn"),
    [
        ("C#", 1),
        ("C++", 2),
        ("F#", 3),
        ("operator<<", 4),
        ("operator[]", 5),
        ("%PATH%", 6),
        ("we like C#", 1),
        ("What was it that we like about C++?", 2),
        ("we like c++.", 2),
    ],
)
def test_signs_at_a_word_tell_turns_apart(archive: sqlite3.Connection, query: str, turn: int, is_indexed: bool) -> None:
    session = "s2"
    (before,) = archive.execute("SELECT count(*) FROM conversation_turns WHERE session_id = ?", (session,)).fetchone()
    for text in ("we like C#", "we like C++20", "we like F#", "we like operator<<", "operator[] it is", "set %PATH%"):
        add(archive, session, text)
    for text in ("we like C", "we like F", "an operator", "the path", "C, F, path: we like an operator"):
        add(archive, session, text)
    if is_indexed:
        index(archive)
    assert found(archive, query, session)[0] - before == turn
