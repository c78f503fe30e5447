"""What a request was made of can be looked up afterwards."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loom.archive import ConversationStore, Manifest, UnknownSession


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
    assert [m.request for m in await store.list_manifests(session)] == [1, 2, 3]


async def test_the_reported_count_comes_later(store: ConversationStore, session: str) -> None:
    await store.add_manifest(_manifest(session, 1))
    await store.set_manifest_reported(session, 1, 1584)
    await store.set_manifest_reported(session, 7, 1)
    assert await store.list_manifests(session) == [replace(_manifest(session, 1), reported_tokens=1584)]


async def test_a_request_made_again_replaces_its_manifest(store: ConversationStore, session: str) -> None:
    await store.add_manifest(_manifest(session, 1))
    again = replace(_manifest(session, 1), estimated_tokens=9, turns=())
    await store.add_manifest(again)
    assert await store.list_manifests(session) == [again]


async def test_a_manifest_needs_a_session(store: ConversationStore) -> None:
    with pytest.raises(UnknownSession):
        await store.add_manifest(_manifest("nowhere", 1))
