"""A turn that a fork copied is found once, and says where else it is."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections import defaultdict
from contextlib import closing
from pathlib import Path

import pytest

from loom.archive import ConversationStore
from loom.archive.records import SearchHit
from loom.archive.reindex import reindex

HERE, THERE = "/home/ada/src/shop", "/home/ada/src/paper"


async def said(store: ConversationStore, session: str, *texts: str) -> None:
    for text in texts:
        await store.append_turn(session, "user", text)


def places(hits: tuple[SearchHit, ...]) -> set[tuple[str, int]]:
    return {(hit.session_id, hit.turn_number) for hit in hits}


async def referring(store: ConversationStore, *sessions: str) -> set[str]:
    return {found.reference for one in sessions if (found := await store.get_session(one)) is not None}


@pytest.fixture
async def first(store: ConversationStore) -> str:
    """A session of three turns about kangaroos."""
    session = await store.create_session(HERE, "offline", "")
    await said(store, session, "one kangaroo", "two kangaroos", "three kangaroos")
    return session


async def test_it_stands_where_it_was_said_first(store: ConversationStore, first: str) -> None:
    fork = await store.fork_session(first, 2)
    await said(store, fork, "a kangaroo of the fork")
    await asyncio.to_thread(reindex, Path(store.path))
    for scope in ({"workspace": HERE}, {}):
        page = await store.search("kangaroo", **scope)  # type: ignore[arg-type]
        assert places(page.hits) == {(first, 1), (first, 2), (first, 3), (fork, 3)}
        assert page.searched_turns == 4
        there = {(hit.session_id, hit.turn_number): set(hit.also_in) for hit in page.hits}
        both = await referring(store, fork)
        assert there == {(first, 1): both, (first, 2): both, (first, 3): set(), (fork, 3): set()}


async def test_it_stands_in_the_session_at_hand_if_that_has_it(store: ConversationStore, first: str) -> None:
    fork = await store.fork_session(first, 2)
    page = await store.search("kangaroo", workspace=HERE, at_hand=fork)
    assert places(page.hits) == {(fork, 1), (fork, 2), (first, 3)}
    assert {hit.also_in for hit in page.hits if hit.session_id == fork} == {tuple(await referring(store, first))}


async def test_a_session_alone_is_searched_whole(store: ConversationStore, first: str) -> None:
    fork = await store.fork_session(first)
    assert places((await store.search("kangaroo", session_id=fork)).hits) == {(fork, 1), (fork, 2), (fork, 3)}
    reference = (await referring(store, fork)).pop()
    assert {place[0] for place in places((await store.search(f"kangaroo session:{reference}")).hits)} == {fork}


async def test_many_forks_take_no_hit_its_place(store: ConversationStore, first: str) -> None:
    for _ in range(120):
        await store.fork_session(first)
    page = await store.search("kangaroo", workspace=HERE, limit=3)
    assert places(page.hits) == {(first, 1), (first, 2), (first, 3)}
    assert {len(hit.also_in) for hit in page.hits} == {120}


async def test_forks_whose_original_is_deleted_give_it_once(store: ConversationStore, first: str) -> None:
    forks = [await store.fork_session(first, turns) for turns in (2, 3)]
    await store.delete_session(first)
    page = await store.search("kangaroo", workspace=HERE)
    assert places(page.hits) == {(forks[0], 1), (forks[0], 2), (forks[1], 3)}


async def test_a_session_that_only_says_it_is_a_fork_loses_nothing(store: ConversationStore, first: str) -> None:
    child = await store.create_session(HERE, "offline", "", parent_id=first, fork_turn=1)
    await said(store, child, "one kangaroo")
    assert (child, 1) in places((await store.search("kangaroo", workspace=HERE)).hits)


@pytest.mark.parametrize("length", [1, 2, 3])
async def test_forks_in_a_circle_end_no_search(store: ConversationStore, first: str, length: int) -> None:
    """Nothing of loom's makes one; a damaged or tampered archive may have it."""
    forks = [await store.fork_session(first, 2) for _ in range(length)]
    with closing(sqlite3.connect(store.path)) as other, other:
        for fork, parent in zip(forks, [*forks[1:], forks[0]], strict=True):
            other.execute("UPDATE cowork_sessions SET parent_id = ? WHERE id = ?", (parent, fork))
    for at_hand in [None, first, *forks]:
        async with asyncio.timeout(20):
            found = places((await store.search("kangaroo", at_hand=at_hand)).hits)
        assert {(first, 1), (first, 2), (first, 3)} < found
        assert [number for session, number in sorted(found, key=lambda one: one[1]) if session in forks] == [1, 2]


@pytest.mark.parametrize("indexed", [False, True])
async def test_a_copy_beside_a_hit_of_the_fork_is_none(store: ConversationStore, indexed: bool) -> None:
    session = await store.create_session(HERE, "offline", "")
    await said(store, session, "Which database shall we take for the invoices?", "PostgreSQL, for the invoices.")
    fork = await store.fork_session(session, 2)
    await said(store, fork, "What about SQLite for the invoices?", "SQLite does for the invoices, too.")
    if indexed:
        await asyncio.to_thread(reindex, Path(store.path))
    for query in ("PostgreSQL invoices", "Which database for the invoices?"):
        found = [(hit.session_id, hit.turn_number) for hit in (await store.search(query)).hits]
        assert sorted(found) == sorted([(session, 1), (session, 2), (fork, 3), (fork, 4)])


@pytest.mark.parametrize("seed", range(12))
async def test_whatever_was_forked_each_turn_is_found_once(store: ConversationStore, seed: int) -> None:
    dice = random.Random(seed)
    sessions = [await store.create_session(dice.choice([HERE, THERE]), "offline", "") for _ in range(2)]
    for _ in range(14):
        origin = dice.choice(sessions)
        await said(store, origin, *(f"kangaroo {dice.random()}" for _ in range(dice.randrange(3))))
        detail = await store.get_session(origin)
        assert detail is not None
        sessions.append(await store.fork_session(origin, dice.randint(0, detail.turn_count)))
    for session in sessions:
        await said(store, session, "kangaroo")
    gone = set(dice.sample(sessions, 4))
    for session in gone:
        await store.delete_session(session)
    if seed % 2:
        await asyncio.to_thread(reindex, Path(store.path), lambda *_: None)
    owners: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for session in sessions:
        if session not in gone:
            for turn in await store.get_range(session, 1, 1_000):
                owners[turn.digest].append((session, turn.turn_number))
    for at_hand in [None, *sessions]:
        found = places((await store.search("kangaroo", limit=1_000, at_hand=at_hand)).hits)
        for owned in owners.values():
            assert len(found.intersection(owned)) == 1
            if any(session == at_hand for session, _ in owned):
                assert (at_hand, owned[0][1]) in found
    for hit in (await store.search("kangaroo", limit=1_000)).hits:
        (group,) = (owned for owned in owners.values() if (hit.session_id, hit.turn_number) in owned)
        others = {session for session, _ in group} - {hit.session_id}
        assert set(hit.also_in) == await referring(store, *others)


async def test_forks_without_a_word_of_their_own_do_not_hide_what_is_new(store: ConversationStore, first: str) -> None:
    await said(store, first, *(f"step {number}" for number in range(80)), "?!? is all I say")
    for _ in range(30):
        await store.fork_session(first)
    await asyncio.to_thread(reindex, Path(store.path))
    assert places((await store.search("?!?", workspace=HERE)).hits) == {(first, 84)}
    assert len((await store.search("", workspace=HERE, limit=100)).hits) == 84
