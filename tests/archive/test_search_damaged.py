"""The same is found whatever has happened to the index, and however many keep it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import partial
from itertools import takewhile
from pathlib import Path

import pytest

from loom.archive import ConversationStore
from loom.archive.database import connect
from loom.archive.reindex import reindex
from loom.archive.search import SearchEngine
from loom.archive.search.document import UnreadableTurn, place_of
from loom.archive.search.scope import Scope
from loom.archive.search.turn_reader import TurnReader
from tests.archive.searching import found, index_all, tell, turn_numbers
from tests.support.damage import find_bytes, overwrite


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


async def with_damaged_page(path: Path, length: int = 20) -> None:
    """An archive of 400 turns, all of them in the index; the page of turns that tells of lamp 100 is no page any
    more."""
    store = await ConversationStore.open(path)
    session = await store.create_session(path.parent, "offline", "")
    for first in range(0, 400, 50):
        texts = (f"lamp l{n}x in the lighthouse {'of the old harbour ' * length}" for n in range(first, first + 50))
        await tell(store, session, *texts)
    await store.checkpoint()
    await index_all(store)
    await store.checkpoint()
    await store.close()
    with closing(sqlite3.connect(path)) as reader:
        (size,) = reader.execute("PRAGMA page_size").fetchone()
    overwrite(path, find_bytes(path, b"lamp l100x") // size * size, b"\xff" * 40)


async def test_a_damaged_page_of_turns_costs_nobody_the_index(archive_path: Path) -> None:
    await with_damaged_page(archive_path)
    engine = SearchEngine(archive_path)
    await engine.start()
    assert turn_numbers((await engine.search("l300x")).hits) == [301]
    with pytest.raises(sqlite3.DatabaseError, match="malformed"):
        await engine.search("l100x")
    await engine.settle()
    assert turn_numbers((await engine.search("l300x")).hits) == [301]
    assert turn_numbers((await engine.search("l20x")).hits) == [21]
    await engine.close()


async def test_what_stands_behind_a_turn_costs_no_search_when_it_is_damaged(archive_path: Path) -> None:
    await with_damaged_page(archive_path, length=10)
    with closing(connect(archive_path, readonly=True)) as connection:
        (session,) = connection.execute("SELECT id FROM cowork_sessions").fetchone()
        scope = Scope(connection, session_id=session, workspace=None, named=None)
        reader = TurnReader(connection, scope, lambda: None)
        key = scope.key_of(session)
        assert key is not None
        readable = list(takewhile(partial(is_readable, reader), (place_of(key, number) for number in range(80, 102))))
        assert 0 < len(readable) < 22
        assert reader.looked_up(readable) == {}


def is_readable(reader: TurnReader, place: int) -> bool:
    try:
        return reader.row(place) is not None
    except UnreadableTurn:
        return False


async def test_an_index_that_is_made_anew_passes_over_a_damaged_page(archive_path: Path) -> None:
    await with_damaged_page(archive_path)
    with closing(sqlite3.connect(archive_path)) as intruder:
        intruder.execute("UPDATE search_progress SET version = 0")
        intruder.commit()
    engine = SearchEngine(archive_path)
    await engine.start()
    assert await engine.settle()
    assert turn_numbers((await engine.search("l300x")).hits) == [301]
    assert turn_numbers((await engine.search("l20x")).hits) == [21]
    page = await engine.search("role:user", limit=1)
    assert 380 < page.searched_turns < 400
    await engine.close()
