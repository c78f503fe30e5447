"""What was appended is there: verbatim, once, in order, and not changeable."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loom.archive import ConversationStore, NewTurn, Turn, TurnKind, TurnStatus, UnknownSession
from loom.archive.appends import MAX_ROWS, Appender
from loom.archive.check import check
from loom.archive.database import connect
from loom.archive.digests import DIGESTED, GENESIS, digest
from loom.archive.purge import erase
from loom.text import storable

AWKWARD = [
    "",
    "\0",
    "before\0after\0",
    "😀 é 日本語 \u202e \u2028 \x1b[31m",
    "\\u0000 \\ \" ' ; -- %s {}",
    "\r\n\t \x7f\x80\uffff\U0010ffff",
]

texts = st.one_of(st.none(), st.text(st.characters(), max_size=60), st.sampled_from(AWKWARD))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
turns = st.builds(
    NewTurn,
    role=st.sampled_from(["user", "assistant", "tool", "system"]),
    content=texts,
    kind=st.sampled_from(list(TurnKind)),
    status=st.sampled_from(list(TurnStatus)),
    tool_calls=st.none()
    | st.lists(st.fixed_dictionaries({"id": st.text(max_size=5), "arguments": json_values}), max_size=2),
    tool_call_id=texts,
    tool_name=texts,
    token_count=st.integers(0, 2**40),
    part_json=texts,
    message_meta=texts,
    usage=st.none() | st.dictionaries(st.sampled_from(["input_tokens", "output_tokens"]), st.integers(0, 2**40)),
    cost_usd=st.none() | st.floats(0, 1e6),
)


def _stored(value: str | None) -> str | None:
    return None if value is None else storable(value)


def _assert_same(turn: Turn, given: NewTurn) -> None:
    for column in ("content", "tool_call_id", "tool_name", "part_json", "message_meta"):
        assert turn[column] == _stored(getattr(given, column)), column
    for column in ("role", "kind", "status", "token_count", "usage", "cost_usd"):
        assert turn[column] == getattr(given, column), column
    if given.tool_calls is None:
        assert turn.tool_calls is None


def check_chain(found: list[Turn], connection: sqlite3.Connection, session: str) -> None:
    """The digests of a whole session follow from its stored columns."""
    previous = GENESIS
    columns = ", ".join(DIGESTED)
    rows = connection.execute(
        f"SELECT {columns} FROM conversation_turns WHERE session_id = ? ORDER BY turn_number", (session,)
    )
    for turn, row in zip(found, rows, strict=True):
        previous = digest(previous, row)
        assert turn.digest == previous


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batch=st.lists(turns, min_size=1, max_size=4))
def test_whatever_is_appended_reads_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, batch: list[NewTurn]
) -> None:
    async def round_trip(path: Path) -> None:
        store = await ConversationStore.open(path / "archive.db")
        session = await store.create_session(path, "offline", "")
        stored = await store.append_turns(session, batch)
        again = await store.append_turns(session, batch)
        found = await store.get_turns(session)
        assert found == stored + again
        for turn, given_turn in zip(stored, batch, strict=True):
            _assert_same(turn, given_turn)
        with closing(connect(path / "archive.db", readonly=True)) as connection:
            check_chain(found, connection, session)
        await store.close()

    asyncio.run(round_trip(tmp_path_factory.mktemp("wild")))


@pytest.mark.parametrize("text", AWKWARD)
@pytest.mark.parametrize("batch", [1, 3])
async def test_awkward_text_survives_verbatim(store: ConversationStore, session: str, text: str, batch: int) -> None:
    turn = NewTurn(role="tool", content=text, tool_name=text, part_json=text, tool_calls=[{"id": text, text: text}])
    await store.append_turns(session, [turn] * batch)
    for found in await store.get_turns(session):
        assert found.content == found.tool_name == found.part_json == text
        assert found.tool_calls == [{"id": text, text: text}]


@pytest.mark.parametrize("count", [float("nan"), float("inf"), 1.5, -1, 2**53, 2**200, True, None, "7"])
async def test_a_token_count_that_is_none_is_refused_before_anything_is_stored(
    store: ConversationStore, session: str, count: Any
) -> None:
    with pytest.raises(ValueError, match="token_count must be a whole number"):
        await store.append_turn(session, "user", "x", token_count=count)
    assert await store.get_turn_count(session) == 0
    assert await store.append_turn(session, "user", "x", token_count=2**53 - 1) == 1


async def test_lone_surrogates_are_replaced(store: ConversationStore, session: str) -> None:
    await store.append_turn(session, "tool", "a\ud800b", tool_calls=[{"id": "\udfff"}])
    (turn,) = await store.get_turns(session)
    assert turn.content == "a\ufffdb"
    assert turn.tool_calls == [{"id": "\ufffd"}]


async def test_a_huge_text_survives(store: ConversationStore, session: str) -> None:
    text = "0123456789\0é😀\n" * 500_000
    await store.append_turn(session, "tool", text)
    (turn,) = await store.get_turns(session)
    assert turn.content == text


async def test_numbers_count_from_one(store: ConversationStore, session: str) -> None:
    assert [await store.append_turn(session, "user", str(n)) for n in range(3)] == [1, 2, 3]
    assert await store.get_turn_count(session) == 3


async def test_a_user_turn_at_the_start_of_an_append_starts_an_exchange(store: ConversationStore, session: str) -> None:
    await store.append_turn(session, "system", "before anybody spoke")
    await store.append_turns(session, [NewTurn(role="user", content="a"), NewTurn(role="user", content="picture")])
    await store.append_turns(session, [NewTurn(role="assistant", content="b"), NewTurn(role="user", content="c")])
    await store.append_turn(session, "user", "d")
    assert [turn.exchange for turn in await store.get_turns(session)] == [0, 1, 1, 1, 1, 2]
    assert (await store.list_sessions())[0].exchange_count == 2


async def test_the_session_row_moves_with_its_turns(store: ConversationStore, session: str) -> None:
    usage = {"input_tokens": 100, "output_tokens": 20, "cache_read_tokens": 60}
    for _ in range(2):
        await store.append_turn(session, "assistant", "x", usage=usage, cost_usd=0.25)
    found = await store.get_session(session)
    assert found is not None
    assert (found.turn_count, found.total_tokens, found.input_tokens) == (2, 240, 200)
    assert (found.output_tokens, found.cache_read_tokens, found.cost_usd) == (40, 120, 0.5)
    assert found.last_active_at == (await store.get_turns(session))[-1].created_at


@pytest.mark.parametrize("odd", [10**16, -(10**16), 2**70, float("nan"), float("inf"), 1.5, "many", None, [1]])
async def test_usage_that_cannot_be_counted_is_left_out_and_costs_no_turn(
    store: ConversationStore, session: str, odd: Any
) -> None:
    usage = {"input_tokens": odd, "output_tokens": 20}
    await store.append_turn(session, "assistant", "the answer", usage=usage)
    (turn,) = await store.get_turns(session)
    assert (turn.content, turn.usage) == ("the answer", {"output_tokens": 20})
    found = await store.get_session(session)
    assert found is not None
    assert (found.input_tokens, found.output_tokens, found.total_tokens) == (0, 20, 20)


async def test_an_append_of_more_turns_than_a_statement_takes_is_still_one(
    store: ConversationStore, session: str
) -> None:
    batch = [NewTurn(role="user", content=str(n)) for n in range(MAX_ROWS * 2 + 7)]
    stored = await store.append_turns(session, batch)
    assert [turn.turn_number for turn in stored] == list(range(1, len(batch) + 1))
    assert await store.get_turns(session, limit=len(batch)) == stored


async def test_no_turns_are_no_append(store: ConversationStore, session: str) -> None:
    assert await store.append_turns(session, []) == []
    assert await store.get_turn_count(session) == 0


async def test_the_same_key_is_stored_once(store: ConversationStore, session: str) -> None:
    first = await store.append_turn(session, "user", "hello", append_key="k")
    await store.append_turn(session, "assistant", "hi")
    assert await store.append_turn(session, "user", "hello", append_key="k") == first
    assert await store.get_turn_count(session) == 2


async def test_the_same_key_in_another_session_is_another_turn(
    store: ConversationStore, session: str, tmp_path: Path
) -> None:
    other = await store.create_session(tmp_path, "offline", "")
    await store.append_turn(session, "user", "hello", append_key="k")
    await store.append_turn(other, "user", "hello", append_key="k")
    assert await store.get_turn_count(other) == 1


async def test_a_retry_stores_what_is_missing(store: ConversationStore, session: str) -> None:
    asked = NewTurn(role="user", content="asked", append_key="1")
    answered = NewTurn(role="assistant", content="answered", append_key="2")
    await store.append_turns(session, [asked])
    stored = await store.append_turns(session, [asked, answered, answered, NewTurn(role="tool", content="ran")])
    assert [(turn.turn_number, turn.exchange) for turn in stored] == [(1, 1), (2, 1), (2, 1), (3, 1)]
    assert [turn.content for turn in await store.get_turns(session)] == ["asked", "answered", "ran"]


async def test_a_second_store_does_not_collide(
    store: ConversationStore, other_store: ConversationStore, session: str
) -> None:
    for number in range(10):
        await store.append_turn(session, "user", f"here {number}")
        await other_store.append_turn(session, "user", f"there {number}")
    found = await store.get_turns(session)
    assert [turn.turn_number for turn in found] == list(range(1, 21))
    assert [turn.exchange for turn in found] == list(range(1, 21))
    with closing(connect(store.path, readonly=True)) as connection:
        check_chain(found, connection, session)


async def test_two_stores_at_once_lose_nothing(
    store: ConversationStore, other_store: ConversationStore, session: str
) -> None:
    async def write(to: ConversationStore, name: str) -> None:
        await asyncio.gather(*(to.append_turn(session, "user", f"{name} {n}") for n in range(40)))

    await asyncio.gather(write(store, "here"), write(other_store, "there"))
    found = await store.get_turns(session, limit=100)
    assert [turn.turn_number for turn in found] == list(range(1, 81))
    said = [turn.content for turn in found]
    for name in ("here", "there"):
        mine = [text for text in said if text is not None and text.startswith(name)]
        assert mine == [f"{name} {n}" for n in range(40)]
    with closing(connect(store.path, readonly=True)) as connection:
        check_chain(found, connection, session)


async def test_an_unknown_session_takes_no_turn(store: ConversationStore) -> None:
    with pytest.raises(UnknownSession):
        await store.append_turn("nowhere", "user", "hello")


@pytest.mark.parametrize(
    "wrong",
    [
        {"role": "narrator"},
        {"role": "user", "created_at": "yesterday"},
        {"role": "user", "status": "lost"},
    ],
)
async def test_nonsense_is_refused_before_anything_is_written(
    store: ConversationStore, session: str, wrong: dict[str, Any]
) -> None:
    with pytest.raises(ValueError):
        await store.append_turn(session, content="x", **wrong)
    assert await store.append_turn(session, "user", "fine") == 1


async def test_moments_are_kept_in_one_form(store: ConversationStore, session: str) -> None:
    await store.append_turn(session, "user", "a", created_at="2024-05-01T12:00:00+02:00")
    await store.append_turn(session, "user", "b", created_at="0999-01-01 00:00")
    await store.append_turn(
        session, "user", "c", created_at=datetime(2024, 5, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    )
    assert [turn.created_at for turn in await store.get_turns(session)] == [
        "2024-05-01T10:00:00.000000Z",
        "0999-01-01T00:00:00.000000Z",
        "2024-05-01T10:00:00.000000Z",
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE conversation_turns SET content = 'rewritten'",
        "DELETE FROM conversation_turns",
        "INSERT OR REPLACE INTO conversation_turns SELECT * FROM conversation_turns",
        "INSERT OR REPLACE INTO conversation_turns (id, session_id, turn_number, exchange, role, kind, status,"
        " created_at, digest) SELECT id, session_id, 2, 1, role, kind, status, '', '' FROM conversation_turns",
    ],
)
async def test_a_stored_turn_cannot_be_changed(store: ConversationStore, session: str, statement: str) -> None:
    await store.append_turn(session, "user", "as it was")
    with closing(connect(store.path)) as connection, pytest.raises(sqlite3.DatabaseError):
        connection.execute(statement)
    assert [turn.content for turn in await store.get_turns(session)] == ["as it was"]


async def test_a_number_that_does_not_grow_is_refused_whatever_the_connection_asks_for(
    store: ConversationStore, session: str
) -> None:
    await store.append_turns(session, [NewTurn(role="user", content="as it was"), NewTurn(role="user", content="too")])
    again = (
        "INTO conversation_turns (session_id, turn_number, exchange, role, kind, status, content, created_at, digest)"
        " VALUES (?, ?, 7, 'user', 'text', 'complete', 'another', '', '')"
    )
    with closing(connect(store.path)) as connection:
        # As a program that is not loom leaves it: then REPLACE deletes a row past its delete trigger.
        connection.execute("PRAGMA recursive_triggers = OFF")
        for statement, number in ((f"INSERT OR REPLACE {again}", 1), (f"INSERT {again}", 0), (f"INSERT {again}", 2)):
            with pytest.raises(sqlite3.IntegrityError):
                connection.execute(statement, (session, number))
    assert [turn.content for turn in await store.get_turns(session)] == ["as it was", "too"]
    assert [size.exchange for size in await store.get_exchange_sizes(session)] == [1]
    assert check(store.path).sound


def _pages_in_log(connection: sqlite3.Connection) -> int:
    (_, pages, _) = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    return int(pages)


async def test_a_turn_of_words_changes_three_pages(store: ConversationStore, session: str) -> None:
    appender = Appender()
    with closing(connect(store.path)) as connection, closing(connect(store.path, readonly=True)) as reader:
        appender.append(connection, session, [NewTurn(role="user", content="hello")], None)
        # While somebody reads it, the log is not started over.
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM conversation_turns").fetchone()
        written = []
        for _ in range(20):
            before = _pages_in_log(connection)
            appender.append(connection, session, [NewTurn(role="assistant", content="x" * 1_000)], None)
            written.append(_pages_in_log(connection) - before)
    # The turn, its entry in the index of numbers, the session. Where the file grows: its first page, the tree above.
    assert min(written) == 3
    assert sum(written) / len(written) < 5


async def test_an_id_that_a_purge_has_freed_is_not_used_again(
    store: ConversationStore, session: str, tmp_path: Path
) -> None:
    kept = await store.create_session(tmp_path, "offline", "")
    await store.append_turn(kept, "user", "stays")
    await store.append_turns(session, [NewTurn(role="user", content=str(n)) for n in range(5)])
    with closing(connect(store.path)) as connection:
        (newest,) = connection.execute("SELECT max(id) FROM conversation_turns").fetchone()
        erase(connection, session)
    await store.append_turns(kept, [NewTurn(role="user", content="comes"), NewTurn(role="user", content="after")])
    fork = await store.fork_session(kept)
    with closing(connect(store.path)) as connection:
        ids = [row[0] for row in connection.execute("SELECT id FROM conversation_turns ORDER BY id")]
        assert ids == [1, *range(newest + 1, newest + 6)]
        # As a program of an earlier version does it, which does not ask for an id.
        erase(connection, fork)
        with pytest.raises(sqlite3.IntegrityError, match="never used again"):
            connection.execute(
                "INSERT INTO conversation_turns (session_id, turn_number, exchange, role, kind, status, created_at,"
                " digest) VALUES (?, 4, 3, 'user', 'text', 'complete', '', '')",
                (kept,),
            )
    assert await store.append_turn(kept, "user", "goes on") == 4
