"""One byte that is no UTF-8 costs that byte, and nothing around it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from loom.archive import ConversationStore
from loom.archive.check import check
from loom.archive.database import connect
from loom.archive.faults import unreadable, unwritable
from loom.archive.reindex import reindex
from tests.support.damage import find_bytes, overwrite


@pytest.fixture
async def session(archive_path: Path) -> str:
    """A session of three turns, all in the index, whose second has damaged bytes in its words and in a call."""
    store = await ConversationStore.open(archive_path)
    try:
        session = await store.create_session(archive_path.parent, "offline", "")
        await store.append_turn(session, "user", "the heron before it")
        call = {"id": "c", "name": "read_file", "arguments": {"path": "the/crane/there.py"}}
        await store.append_turn(session, "assistant", "the stork itself", tool_calls=[call])
        await store.append_turn(session, "user", "the egret behind it")
    finally:
        await store.close()
    for words in (b"stork itself", b"crane/there"):
        overwrite(archive_path, find_bytes(archive_path, words), b"\xff")
    return session


async def test_damaged_bytes_are_read_with_a_mark_in_their_place(archive_path: Path, session: str) -> None:
    store = await ConversationStore.open(archive_path)
    try:
        turns = await store.get_turns(session, 0, 10)
        assert [turn.content for turn in turns] == [
            "the heron before it",
            "the \ufffdtork itself",
            "the egret behind it",
        ]
        assert turns[1].tool_calls is not None
        assert turns[1].tool_calls[0]["arguments"] == {"path": "the/\ufffdrane/there.py"}
        assert await store.append_turn(session, "user", "and on it goes") == 4
    finally:
        await store.close()
    assert [finding.part for finding in check(archive_path).findings] == ["chain"]


@pytest.mark.parametrize("indexed", [False, True])
async def test_what_is_around_damaged_bytes_is_found(archive_path: Path, session: str, indexed: bool) -> None:
    if indexed:
        assert reindex(archive_path) == 3
    store = await ConversationStore.open(archive_path)
    try:
        for word, turn in (("heron", 1), ("itself", 2), ("egret", 3)):
            assert [hit.turn_number for hit in (await store.search(word)).hits] == [turn]
    finally:
        await store.close()


async def test_an_error_about_such_a_text_does_not_quote_it(archive_path: Path, session: str) -> None:
    with (
        closing(connect(archive_path)) as connection,
        pytest.raises(sqlite3.OperationalError, match="Could not decode") as raised,
    ):
        connection.execute("SELECT content FROM conversation_turns").fetchall()
    for told in (unreadable(raised.value, archive_path), unwritable(raised.value, archive_path)):
        assert "no UTF-8" in told.what and "loom recover" in told.remedy
        assert "stork" not in str(told) and "tork" not in str(told)
