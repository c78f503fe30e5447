"""Tags: put on a session and taken off, by the store's own method."""

from __future__ import annotations

from pathlib import Path

import pytest

from loom.archive import ConversationStore, UnknownSession
from loom.archive.tags import MAX_TAG, MAX_TAGS, BadTag


async def made(store: ConversationStore, tmp_path: Path) -> str:
    session_id = await store.create_session(tmp_path, "offline", "")
    await store.append_turn(session_id, "user", "Hello.")
    return session_id


async def test_tags_are_put_on_and_taken_off(store: ConversationStore, tmp_path: Path) -> None:
    session_id = await made(store, tmp_path)
    assert await store.change_tags(session_id, add=["auth", "#Backend", "日本語"]) == ("auth", "Backend", "日本語")
    assert await store.change_tags(session_id, add=["AUTH", "[red]"]) == ("auth", "Backend", "日本語", "[red]")
    assert await store.change_tags(session_id, remove=["#backend", "unknown"]) == ("auth", "日本語", "[red]")
    assert await store.change_tags(session_id, add=["new"], remove=["auth"]) == ("日本語", "[red]", "new")
    [listed] = await store.list_sessions(tmp_path)
    assert listed.tags == ("日本語", "[red]", "new")
    detail = await store.get_session(session_id)
    assert detail is not None and detail.tags == listed.tags and detail.turn_count == 1


@pytest.mark.parametrize(
    "word", ["", "#", "x" * (MAX_TAG + 1), "two words", "a\x1b[31m", "a\u202eb", "a\u200bb", "a\nb", "\ud800", "\0"]
)
async def test_what_is_no_tag_is_refused_and_nothing_is_changed(
    store: ConversationStore, tmp_path: Path, word: str
) -> None:
    session_id = await made(store, tmp_path)
    await store.change_tags(session_id, add=["kept"])
    with pytest.raises(BadTag):
        await store.change_tags(session_id, add=["before", word])
    assert await store.change_tags(session_id) == ("kept",)


async def test_a_session_has_only_so_many(store: ConversationStore, tmp_path: Path) -> None:
    session_id = await made(store, tmp_path)
    full = [f"tag{number}" for number in range(MAX_TAGS)]
    assert len(await store.change_tags(session_id, add=full)) == MAX_TAGS
    with pytest.raises(BadTag, match="at most 16 tags"):
        await store.change_tags(session_id, add=["more"])
    assert await store.change_tags(session_id, add=["more"], remove=["tag0"]) == (*full[1:], "more")


async def test_a_session_that_is_not_there_has_none(store: ConversationStore) -> None:
    with pytest.raises(UnknownSession):
        await store.change_tags("nobody", add=["auth"])
