"""What a request was made of can be looked up afterwards."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from loom.archive import ConversationStore, Manifest, UnknownSession
from loom.archive.database import connect


def _manifest(session: str, request: int) -> Manifest:
    return Manifest(
        session_id=session,
        request=request,
        exchange=2,
        created_at="2026-01-02T03:04:05.000006Z",
        model_name="offline",
        window_tokens=200_000,
        segments={"instructions": 400, "turns": 1200},
        turns=((1, 4), (9, 12)),
        texts={"state": "focus: é\0", "receipt": ""},
        estimated_tokens=1600,
        reported_tokens=None,
    )


async def test_a_manifest_reads_back_the_same(store: ConversationStore, session: str) -> None:
    await store.add_manifest(_manifest(session, 1))
    assert await store.get_manifest(session, 1) == _manifest(session, 1)
    assert await store.get_manifest(session, 2) is None


async def test_they_are_listed_by_request(store: ConversationStore, session: str) -> None:
    for request in (2, 1, 3):
        await store.add_manifest(_manifest(session, request))
    assert [m.request for m in await store.list_requests(session)] == [1, 2, 3]


async def test_the_reported_count_comes_later(store: ConversationStore, session: str) -> None:
    await store.add_manifest(_manifest(session, 1))
    await store.set_manifest_reported(session, 1, 1584)
    await store.set_manifest_reported(session, 7, 1)
    assert await store.get_manifest(session, 1) == replace(_manifest(session, 1), reported_tokens=1584)
    await store.set_manifest_reported(session, 1, 1584, 1024)
    assert (await store.list_requests(session))[0].cache_read_tokens == 1024


async def test_a_request_made_again_replaces_its_manifest(store: ConversationStore, session: str) -> None:
    await store.add_manifest(_manifest(session, 1))
    again = replace(_manifest(session, 1), estimated_tokens=9, turns=())
    await store.add_manifest(again)
    assert await store.get_manifest(session, 1) == again and len(await store.list_requests(session)) == 1


async def test_a_manifest_needs_a_session(store: ConversationStore) -> None:
    with pytest.raises(UnknownSession):
        await store.add_manifest(_manifest("nowhere", 1))


async def test_texts_that_stay_the_same_are_kept_once(
    store: ConversationStore, session: str, archive_path: Path
) -> None:
    long = "never use an ORM here, whatever the ticket says\n" * 400
    for request in range(1, 51):
        texts = {
            "instructions": long,
            "state": f"state of {request // 10}",
            "hint": "" if request % 2 else "look at T3",
        }
        await store.add_manifest(replace(_manifest(session, request), texts=texts))
    for request in (1, 2, 9, 10, 11, 50):
        found = await store.get_manifest(session, request)
        assert found is not None
        assert found.texts["instructions"] == long and found.texts["state"] == f"state of {request // 10}"
        assert found.texts["hint"] == ("" if request % 2 else "look at T3")
    with closing(connect(archive_path, readonly=True)) as connection:
        (stored,) = connection.execute("SELECT sum(length(texts)) FROM manifests").fetchone()
    assert stored < len(long) + 50 * 100


async def test_a_text_whose_source_is_gone_is_left_out(
    store: ConversationStore, session: str, archive_path: Path
) -> None:
    for request in (1, 2):
        await store.add_manifest(_manifest(session, request))
    with closing(connect(archive_path)) as connection:
        connection.execute("DELETE FROM manifests WHERE request = 1")
    found = await store.get_manifest(session, 2)
    assert found is not None and found.texts == {}


async def test_lines_say_how_the_window_stood(store: ConversationStore, session: str) -> None:
    recipe = {"edges": {"left_to": 8}, "summary": 7, "high": 900, "tokens": 1500, "last_turn": 13}
    await store.add_manifest(replace(_manifest(session, 1), recipe=recipe))
    await store.add_manifest(replace(_manifest(session, 2), turns=((3, 4), (9, 12))))
    new, old = await store.list_requests(session)
    assert (new.left_to, new.summary, new.high_water, new.expected_tokens, new.last_turn) == (8, 7, 900, 1500, 13)
    assert (old.left_to, old.summary, old.high_water, old.expected_tokens, old.last_turn) == (2, 0, None, 1600, 12)


async def test_how_a_model_counted_last_is_found_in_any_session(store: ConversationStore, session: str) -> None:
    other = await store.create_session("/elsewhere", "offline", "")
    assert await store.get_newest_report("offline") is None
    await store.add_manifest(replace(_manifest(session, 1), reported_tokens=1_500))
    await store.add_manifest(replace(_manifest(other, 1), estimated_tokens=800, reported_tokens=900))
    await store.add_manifest(replace(_manifest(session, 2), model_name="another", reported_tokens=7))
    await store.add_manifest(_manifest(session, 3))
    assert await store.get_newest_report("offline") == (800, 900)


@pytest.mark.parametrize("damage", ["{'", "[1,", "\x07", "5", '[["a", 2]]', '{"tools": []}', "null"])
@pytest.mark.parametrize("column", ["segments", "turns", "texts", "recipe"])
async def test_a_damaged_manifest_is_what_can_be_read_of_it(
    store: ConversationStore, session: str, column: str, damage: str
) -> None:
    whole = replace(_manifest(session, 1), recipe={"last_turn": 12, "high": 9, "tokens": 1584})
    await store.add_manifest(whole)
    with closing(connect(store.path)) as connection:
        connection.execute(f"UPDATE manifests SET {column} = ?", (damage,))
    found = await store.get_manifest(session, 1)
    assert found is not None
    assert {name for name in found if found[name] != whole[name]} == {column}
    (line,) = await store.list_requests(session)
    assert (line.request, line.estimated_tokens) == (1, 1600)
    assert line.last_turn == 12
    again = replace(_manifest(session, 2), texts={"state": "focus: é\0", "receipt": ""})
    await store.add_manifest(again)
    assert await store.get_manifest(session, 2) == again
