"""A search of very many turns that wait for the index: it waits with them, as long as that is likely to help."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from loom.archive import ConversationStore, NewTurn
from loom.archive.search.claim import Claim

WAITING = 600


@pytest.fixture(autouse=True)
def _small_tail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loom.archive.search.tail.MAX_TAIL", 10)


@pytest.fixture
def claim(archive_path: Path, store: ConversationStore) -> Iterator[Claim]:
    """The right to index, had by somebody who does not: no indexer does anything until it is freed."""
    claim = Claim(archive_path)
    assert claim.take_at_once()
    yield claim
    claim.free()


async def fill(store: ConversationStore, session: str) -> None:
    """A zebra in the oldest turn, which is far behind."""
    texts = ["a zebra crossing", *(f"turn {number}" for number in range(WAITING))]
    await store.append_turns(session, [NewTurn(role="user", content=text) for text in texts])


async def test_turns_far_behind_are_found_by_waiting_for_the_index(store: ConversationStore, session: str) -> None:
    await fill(store, session)
    assert [hit.turn_number for hit in await store.search_turns(session, "zebra")] == [1]


async def test_who_has_no_patience_gets_the_newest_and_the_count_of_the_others(
    store: ConversationStore, session: str, claim: Claim
) -> None:
    await fill(store, session)
    page = await store.search("zebra", session_id=session, patience=0)
    assert (page.hits, page.waiting_turns) == ((), WAITING + 1 - 10)
    assert len((await store.search(str(WAITING - 1), session_id=session, patience=0)).hits) == 1


async def test_an_index_that_stands_still_is_not_waited_for(
    store: ConversationStore, session: str, claim: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loom.archive.search.engine._TRIAL", 0.0)
    await fill(store, session)
    page = await store.search("zebra", session_id=session)
    assert page.waiting_turns == WAITING + 1 - 10


async def test_one_that_goes_on_is(store: ConversationStore, session: str, claim: Claim) -> None:
    await fill(store, session)
    search = asyncio.ensure_future(store.search_turns(session, "zebra"))
    await asyncio.wait({search}, timeout=0.5)
    assert not search.done()
    claim.free()
    assert [hit.turn_number for hit in await search] == [1]


async def test_a_search_that_waits_can_be_cancelled_and_the_store_closed(
    store: ConversationStore, session: str, claim: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loom.archive.search.engine._TRIAL", 3_600.0)
    await fill(store, session)
    cancelled, left = (asyncio.ensure_future(store.search("zebra", patience=3_600)) for _ in range(2))
    await asyncio.wait({cancelled, left}, timeout=0.5)
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    await store.close()
    assert (await left).waiting_turns == WAITING + 1 - 10
