"""The store searches what it stored, and starts the engine for it only when it is needed."""

from __future__ import annotations

from pathlib import Path

from loom.archive import ConversationStore


async def test_what_was_appended_is_found_at_once(store: ConversationStore, session: str) -> None:
    await store.append_turn(session, "user", "the login fails")
    number = await store.append_turn(session, "assistant", "refreshToken is never rotated")
    hits = await store.search_turns(session, "refreshToken")
    assert hits[0].turn_number == number


async def test_a_search_stays_in_its_session_or_workspace(
    store: ConversationStore, session: str, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    other = await store.create_session(tmp_path / "elsewhere", "offline", "")
    for each in (session, other):
        await store.append_turn(each, "user", "a zebra crossing")
    assert {hit.session_id for hit in (await store.search("zebra")).hits} == {session, other}
    assert {hit.session_id for hit in await store.search_turns(session, "zebra")} == {session}
    here = await store.search("zebra", workspace=tmp_path / "elsewhere")
    assert {hit.session_id for hit in here.hits} == {other}


async def test_a_fork_is_searched_too(store: ConversationStore, session: str) -> None:
    await store.append_turn(session, "user", "a zebra crossing")
    fork = await store.fork_session(session)
    assert [hit.turn_number for hit in await store.search_turns(fork, "zebra")] == [1]


async def test_a_read_only_store_searches(store: ConversationStore, session: str, archive_path: Path) -> None:
    await store.append_turn(session, "user", "a zebra crossing")
    reader = await ConversationStore.open(archive_path, readonly=True)
    assert len(await reader.search_turns(session, "zebra")) == 1
    await reader.close()


async def test_a_store_that_only_reads_starts_no_engine(archive_path: Path) -> None:
    store = await ConversationStore.open(archive_path)
    await store.list_sessions()
    assert store._finder._starting is None
    await store.close()
