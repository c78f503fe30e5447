"""What a large archive asks of the engine, on a small one whose limits are small: the right turn is found though
common words are not read to their end."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from loom.archive.database import connect
from loom.archive.migrations import prepare
from loom.archive.search import budget, leaping, matching, postings
from loom.archive.search.document import Entry, TurnRow, entry_of, key_of, place_of, turn_of
from loom.archive.search.evidence import Evidence
from loom.archive.search.index import index_batch
from loom.archive.search.lookup import search
from loom.archive.search.matches import Match
from loom.archive.search.pool import POOL, pool_of
from loom.archive.search.postings import Postings
from loom.archive.search.request import Request
from loom.archive.search.scope import Scope
from loom.archive.search.tail import Tail, TailCache, read_tail
from loom.archive.workspaces import Workspace

SESSIONS = 40
TURNS = 60
"""Of each session."""
WORKSPACES = 2


def add(connection: sqlite3.Connection, session: int, number: int, text: str, *, role: str = "user") -> None:
    connection.execute(
        "INSERT OR IGNORE INTO cowork_sessions (id, reference, title, workspace_path, model_name, started_at,"
        " last_active_at) VALUES (?, ?, 'x', ?, 'm', 't', 't')",
        (f"s{session:03}", f"r{session:03}", f"/w{session % WORKSPACES}"),
    )
    connection.execute(
        "INSERT INTO conversation_turns (session_id, turn_number, exchange, role, kind, status, content, tool_name,"
        " created_at, digest) VALUES (?, ?, 1, ?, 'text', 'complete', ?, ?, ?, '')",
        (
            f"s{session:03}",
            number,
            role,
            text,
            "read_file" if role == "tool" else None,
            f"{2020 + session // 12}-{session % 12 + 1:02}-01T00:00:00Z",
        ),
    )


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every turn has a common word or two; a few turns of the oldest sessions have something more."""
    path = tmp_path_factory.mktemp("large") / "archive.db"
    prepare(path)
    special = {
        (1, 7): ("the server had a zulu", "user"),
        (2, 9): ("server error in the timeout", "user"),
        (3, 11): ("server output", "tool"),
        (0, 5): ("server and config_main.py and whisky", "user"),
        (4, 20): ("the server error said so", "user"),
        (5, 30): ("server of tango", "assistant"),
        (6, 40): ("serverError after a timeout", "user"),
        (7, 41): ("server with an errorTimeout", "user"),
    }
    with closing(connect(path)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        for session in range(SESSIONS):
            for number in range(1, TURNS + 1):
                common = ("server", "error", "timeout")[number % 3]
                text, role = special.get((session, number), (f"{common} config_main.py {number}", "assistant"))
                add(connection, session, number, text, role=role)
        connection.execute("COMMIT")
        while index_batch(connection):
            pass
    return path


@pytest.fixture
def connection(archive: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sqlite3.Connection]:
    for name, value in {"BUDGET": 120, "FIRST": 30, "LEAST_FIRST": 30, "SUPPLEMENT": 40}.items():
        monkeypatch.setattr(budget, name, value)
    for name, value in {"LEAST_FIRST": 30, "SUPPLEMENT": 40, "MAX_NAMED": 40}.items():
        monkeypatch.setattr(postings, name, value)
    for name, value in {"FIRST": 8, "LEAST": 8, "MOST": 8, "LEAP": 4, "AT_ONCE": 150}.items():
        monkeypatch.setattr(leaping, name, value)
    monkeypatch.setattr(matching, "WIDE", 50)
    with closing(connect(archive)) as opened:
        yield opened


def first(connection: sqlite3.Connection, query: str, **given: str) -> tuple[str, int]:
    page = search(connection, Request(query, **given), lambda: None)  # type: ignore[arg-type]
    assert page.searched_turns
    return page.hits[0].session_id, page.hits[0].turn_number


@pytest.mark.parametrize("given", [{}, {"workspace": Workspace("/w1", None)}, {"session_id": "s001"}], ids=str)
def test_the_turns_of_a_rare_word_are_known_and_a_common_one_is_not_read_through(
    connection: sqlite3.Connection, given: dict[str, Any]
) -> None:
    scope = Scope(connection, **{"session_id": None, "workspace": None, "named": None, **given})
    found = Postings(connection, scope, Tail())
    assert found.rare_places(("words",), "zulu", 5) == {place_of(2, 7)}
    assert found.rare_places(("words",), "nowhere", 5) == set()
    assert found.rare_places(("words",), "error", 5) is None
    rows = connection.execute("SELECT rowid FROM search_terms WHERE search_terms MATCH 'words : error'").fetchall()
    within = {place for (place,) in rows if any(begin <= place <= end for begin, end in scope.stretches)}
    assert found.rare_places(("words",), "error", 10_000) == within


@pytest.fixture
def talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sqlite3.Connection]:
    """A session in which common words stand together in the oldest turns alone."""
    for name, value in {"BUDGET": 120, "FIRST": 30, "LEAST_FIRST": 30, "SUPPLEMENT": 40}.items():
        monkeypatch.setattr(budget, name, value)
    prepare(tmp_path / "archive.db")
    with closing(connect(tmp_path / "archive.db")) as connection:
        connection.execute("BEGIN")
        add(connection, 0, 1, "the budget of the window")
        add(connection, 0, 2, "a window in the room")
        for number in range(3, 400):
            add(connection, 0, number, ("a budget", "the window", "windowSize", "a room")[number % 4])
        connection.execute("COMMIT")
        while index_batch(connection):
            pass
        yield connection


def test_where_common_words_stand_together_is_known_though_one_is_common_inside_names_as_well(
    talk: sqlite3.Connection,
) -> None:
    assert first(talk, "budget window") == ("s000", 1)


def test_a_question_finds_where_any_two_of_its_common_words_stand_together(talk: sqlite3.Connection) -> None:
    page = search(talk, Request("what about the budget, the room and the window?"), lambda: None)
    assert {hit.turn_number for hit in page.hits[:2]} == {1, 2}


def test_what_is_common_in_the_widest_stretch_is_common_and_what_is_elsewhere_is_found(tmp_path: Path) -> None:
    prepare(tmp_path / "archive.db")
    with closing(connect(tmp_path / "archive.db")) as connection:
        connection.execute("BEGIN")
        for session in range(9):
            for number in range(1, 401 if session == 4 else 11):
                words = "walrus" if session in (2, 8) and number == 3 else "server"
                add(connection, session, number, f"{words} {number}")
        connection.execute("COMMIT")
        while index_batch(connection):
            pass
        scope = Scope(connection, session_id=None, workspace=Workspace("/w0", None), named=None)
        assert [*scope.widest.stretch] == [(place_of(5, 0), place_of(6, 0) - 1)]
        assert len(scope.widest.others) == 4 and scope.widest.newer in (20, 21), "about"
        found = Postings(connection, scope, Tail())
        assert found.rare_places(("words", "parts"), "server", 20) is None
        assert found.rare_places(("words", "parts"), "walrus", 20) == {place_of(3, 3), place_of(9, 3)}


@pytest.mark.parametrize(
    ("query", "session", "turn"),
    [
        ("zulu server", 1, 7),
        ("the zulu", 1, 7),
        ("server error timeout", 2, 9),
        ('"server error" timeout', 2, 9),
        ('"server error said"', 4, 20),
        ("server role:tool", 3, 11),
        ("role:tool", 3, 11),
        ("server tool:read_file", 3, 11),
        ("config_main.py whisky", 0, 5),
        ("server tango -error -timeout", 5, 30),
        ("server before:2020-02", 0, 5),
        ("server after:2020-03 before:2020-04 session:r002", 2, 9),
    ],
)
@pytest.mark.parametrize("scope", ["all", "workspace", "session"])
def test_the_turn_that_is_meant_is_found_among_many_with_its_common_words(
    connection: sqlite3.Connection, query: str, session: int, turn: int, scope: str
) -> None:
    given = {
        "all": {},
        "workspace": {"workspace": Workspace(f"/w{session % WORKSPACES}", None)},
        "session": {"session_id": f"s{session:03}"},
    }[scope]
    assert first(connection, query, **given) == (f"s{session:03}", turn)


def test_a_word_that_is_left_out_is_in_no_hit_however_common(connection: sqlite3.Connection) -> None:
    page = search(connection, Request("config_main.py -error -timeout", limit=30), lambda: None)
    assert len(page.hits) == 30
    assert not any(word in hit.content for hit in page.hits for word in ("error", "timeout"))


def test_how_common_a_word_is_is_known_though_it_is_not_read_to_its_end(connection: sqlite3.Connection) -> None:
    for workspace in (None, Workspace("/w1", None)):
        scope = Scope(connection, session_id=None, workspace=workspace, named=None)
        found = Postings(connection, scope, Tail())
        found.read(["server", "zulu"], [])
        turns = scope.turns / 3
        assert len(found.places("words", "server")) < turns / 2
        assert 0.6 * turns < found.turns_with("server") < 1.6 * turns
        assert found.turns_with("zulu") == 1


def test_the_stretches_of_a_workspace_hold_all_of_it_and_nothing_else(connection: sqlite3.Connection) -> None:
    scope = Scope(connection, session_id=None, workspace=Workspace("/w1", None), named=None)
    keys = connection.execute("SELECT session_id, key FROM search_sessions").fetchall()
    for session, key in keys:
        place = place_of(key, 3)
        inside = any(begin <= place <= end for begin, end in scope.stretches)
        assert inside == (int(session[1:]) % WORKSPACES == 1)
    assert scope.turns == SESSIONS // WORKSPACES * TURNS


@pytest.mark.parametrize("given", [{}, {"workspace": Workspace("/w1", None)}, {"session_id": "s002"}], ids=str)
@pytest.mark.parametrize("facets", [(), (("role:user",),)], ids=str)
def test_turns_that_have_all_words_are_known_however_many_have_each(
    connection: sqlite3.Connection, given: dict[str, Any], facets: tuple[tuple[str, ...], ...]
) -> None:
    scope = Scope(connection, **{"session_id": None, "workspace": None, "named": None, **given})
    found = Postings(connection, scope, Tail(), facets=facets)
    found.read(["server", "error", "timeout"], [])
    meant = {(2, 9), (6, 40), (7, 41)}
    there = {place_of(session + 1, number) for session, number in meant}
    there = {place for place in there if any(begin <= place <= end for begin, end in scope.stretches)}
    for limit in (1, 40):
        assert found.with_all(["server", "error", "timeout"], [], limit, only_newest=True) >= set(
            sorted(there)[-limit:]
        )
    assert found.places("words", "server") >= {place for place in there if place == place_of(3, 9)}


def test_where_any_of_some_terms_stands_is_told(connection: sqlite3.Connection) -> None:
    for workspace, has in ((None, True), (Workspace("/w0", None), False)):
        scope = Scope(connection, session_id=None, workspace=workspace, named=None)
        assert Postings(connection, scope, Tail()).has_any("words", ["nowhere", "zulu"]) is has
    assert Postings(connection, scope, Tail()).has_any("words", []) is False


def test_a_hidden_session_is_in_no_scope(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN")
    connection.execute("UPDATE cowork_sessions SET is_active = 0 WHERE id = 's039'")
    scope = Scope(connection, session_id=None, workspace=None, named=None)
    assert scope.turns == (SESSIONS - 1) * TURNS
    found = Postings(connection, scope, Tail()).places("words", "server")
    (key,) = connection.execute("SELECT key FROM search_sessions WHERE session_id = 's039'").fetchone()
    assert found
    assert key not in {key_of(place) for place in found}
    assert scope.turns_from(place_of(1, 1)) == scope.turns
    assert len(scope.stretches) == 1
    connection.execute("UPDATE cowork_sessions SET is_active = 0 WHERE id IN ('s000', 's017', 's018')")
    scope = Scope(connection, session_id=None, workspace=None, named=None)
    assert scope.turns == (SESSIONS - 4) * TURNS
    assert len(scope.stretches) == 2
    connection.execute("ROLLBACK")


def test_the_pool_is_the_same_whether_or_not_it_could_be_cut_short() -> None:
    rare = Match("rare", 9.0, dict.fromkeys(range(0, 40000, 100), 1.0), literal=False)
    common = Match("common", 1.0, {place: 0.6 + place % 2 * 0.4 for place in range(20_000)}, literal=False)
    evidence = Evidence((common, rare), None, frozenset(), 10.0, is_lookup=False)
    assert pool_of(evidence, None, POOL) == pool_of(evidence, lambda places: places, POOL)
    odd = pool_of(evidence, lambda places: [place for place in places if place % 2], POOL)
    assert len(odd) == POOL
    assert odd[0] == 19_999
    assert all(place % 2 for place in odd)
    assert pool_of(Evidence((), None, frozenset(), 0.0, is_lookup=True), None, POOL) == []


def entry(number: int, text: str) -> Entry:
    row = TurnRow(number, "s", number, 1, "user", "text", "complete", text, None, None, "2024-01-01T00:00:00Z")
    made = entry_of(row, 0)
    assert made is not None
    return made


def test_a_turn_behind_the_watermark_is_taken_apart_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cache, read = TailCache(), []

    def take(row_id: int) -> Entry:
        read.append(row_id)
        return entry(row_id, f"word{row_id} and others")

    for _ in range(3):
        assert cache.entry(7, take) == entry(7, "word7 and others")
    cache.drop_until(6)
    cache.entry(7, take)
    assert read == [7]
    cache.drop_until(7)
    cache.entry(7, take)
    assert read == [7, 7]
    monkeypatch.setattr("loom.archive.search.tail.MAX_KEPT", 0)
    cache.entry(8, take)
    cache.entry(8, take)
    assert read == [7, 7, 8, 8]


def test_of_a_very_long_tail_the_newest_are_searched_and_the_others_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loom.archive.search.tail.MAX_TAIL", 10)
    prepare(tmp_path / "archive.db")
    with closing(connect(tmp_path / "archive.db")) as connection:
        for number in range(1, 31):
            add(connection, 1, number, f"owl {number}")
        page = search(connection, Request("owl", limit=100), lambda: None)
        assert (sorted(hit.turn_number for hit in page.hits), page.waiting_turns) == ([*range(21, 31)], 20)
        scope = Scope(connection, session_id="s001", workspace=None, named=None)
        assert [turn_of(place) for place in read_tail(connection, scope, TailCache()).entries] == [*range(21, 31)]
        while index_batch(connection):
            pass
        page = search(connection, Request("owl", limit=100), lambda: None)
        assert (len(page.hits), page.waiting_turns) == (30, 0)
