"""A phrase in quotation marks is what a hit must contain, however common its words are and whatever else is asked."""

from __future__ import annotations

import pytest

from loom.archive import ConversationStore
from loom.archive.search import passages, postings
from tests.archive.searching import found, index_all, tell

MANY = 700
"""So many turns make a word common: not all of them are known to a search with a filter."""
FEW_WORDS = 400
"""More than are read of each word at first."""


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("phrase", ["down was the server", "was the", "=> 🎉"])
async def test_a_phrase_that_stands_nowhere_a_filter_allows(
    store: ConversationStore, session: str, phrase: str, indexed: bool
) -> None:
    for number in range(MANY):
        await store.append_turn(session, "user", f"The server was never down in round {number}.")
    await store.append_turn(session, "assistant", f"Yes: {phrase}, this time.")
    if indexed:
        await index_all(store)
    page = await store.search(f'"{phrase}" server role:user', session_id=session)
    assert page.hits == ()
    assert page.obstacles == ("Without role:user something is found.",)
    assert await found(store, session, f'"{phrase}" server role:assistant') == [MANY + 1]


@pytest.mark.parametrize("indexed", [True, False])
async def test_a_phrase_further_back_than_many_turns_with_its_words(
    store: ConversationStore, session: str, indexed: bool
) -> None:
    wanted = await tell(store, session, "Then we saw it: down was the server.")
    for number in range(MANY):
        await store.append_turn(session, "user", f"The server was never down in round {number}.")
    if indexed:
        await index_all(store)
    assert await found(store, session, '"down was the server"') == wanted


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("more", ["", " `server_room`", " role:user"])
async def test_every_turn_with_a_phrase_is_found_however_much_stands_between_them(
    store: ConversationStore, session: str, indexed: bool, more: str
) -> None:
    wanted = await tell(store, session, "Then we saw it: down was the server.")
    for number in range(MANY):
        await store.append_turn(session, "user", f"The server was never down in round {number}.")
    wanted += await tell(store, session, "Again: down was the server, the one in `server_room`.")
    if indexed:
        await index_all(store)
    assert sorted(await found(store, session, f'"down was the server"{more}')) == wanted


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize(
    "more", ['"blue zebra"', "zebra", "-round", '-"in round"', "file:src/zoo.py", "before:2026-01-01T11:00Z"]
)
async def test_a_phrase_is_found_with_what_else_is_asked_behind_many_turns_that_have_it(
    store: ConversationStore, session: str, indexed: bool, more: str
) -> None:
    text = "The blue zebra in src/zoo.py: down was the server."
    wanted = await store.append_turn(session, "user", text, created_at="2026-01-01T10:00:00.000000Z")
    for number in range(FEW_WORDS):
        text = f"Down was the server in round {number}."
        await store.append_turn(session, "user", text, created_at="2026-01-01T12:00:00.000000Z")
    if indexed:
        await index_all(store)
    assert (await found(store, session, f'"down was the server" {more}'))[:1] == [wanted]


@pytest.mark.parametrize("indexed", [True, False])
async def test_a_long_phrase_is_what_a_hit_must_contain(store: ConversationStore, session: str, indexed: bool) -> None:
    long = " ".join(f"word{number}" for number in range(100))
    wanted = await tell(store, session, f"It said:\n{long.replace(' word50', chr(10) + '  word50')} and so on.")
    await tell(store, session, *(f"{long.replace('word70', 'other')} in round {number}." for number in range(5)))
    if indexed:
        await index_all(store)
    assert await found(store, session, f'"{long}"') == wanted


@pytest.mark.parametrize("indexed", [True, False])
async def test_a_phrase_that_stands_nowhere_is_said_to(store: ConversationStore, session: str, indexed: bool) -> None:
    wanted = await tell(store, session, "The server was down.", "Down it was, the server.")
    if indexed:
        await index_all(store)
    page = await store.search('"Was the server down"', session_id=session)
    assert {hit.turn_number for hit in page.hits} == set(wanted)
    assert page.doubts == ("Nothing has “was the server down” word for word.",)
    for query in ('"server was down"', "was the server down", '"server was down" role:tool', '"no zebra"'):
        assert not (await store.search(query, session_id=session)).doubts


async def test_a_phrase_behind_more_turns_with_its_words_than_are_read_is_said_to_be_uncertain(
    store: ConversationStore, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passages, "MAX_LIKELY", 20)
    monkeypatch.setattr(passages, "MAX_FURTHER", 60)
    monkeypatch.setattr(postings, "MAX_WHOLE", 20)
    wanted = await tell(store, session, "Then: down was the server.")
    for number in range(FEW_WORDS):
        await store.append_turn(session, "user", f"The server was never down in round {number}.")
    await index_all(store)
    query = '"down was the server"'
    assert wanted[0] not in await found(store, session, query)
    page = await store.search(query, session_id=session)
    assert page.doubts == (
        "Only the newest turns with the words of “down was the server” were read, and none has it word for word.",
    )
    wanted += await tell(store, session, "Again: down was the server.")
    page = await store.search(query, session_id=session)
    assert page.doubts == (
        "Only the newest turns with the words of “down was the server” were read: older ones may have it, too.",
    )
    assert not (await store.search(query, session_id=session, limit=1)).doubts
    monkeypatch.setattr(passages, "MAX_FURTHER", FEW_WORDS + 3)
    monkeypatch.setattr(passages, "MAX_LIKELY", FEW_WORDS + 3)
    assert sorted(await found(store, session, query)) == wanted
    assert not (await store.search(query, session_id=session)).doubts


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("query", ["C#", "what about C#", "%LIMIT%"])
async def test_signs_around_a_word_are_found_behind_many_turns_with_the_word(
    store: ConversationStore, session: str, query: str, indexed: bool
) -> None:
    wanted = await tell(store, session, "The %LIMIT% in C# is ten.")
    for number in range(MANY):
        await store.append_turn(session, "user", f"No limit in C is {number}.")
    if indexed:
        await index_all(store)
    assert (await found(store, session, query))[:1] == wanted


async def test_as_many_turns_with_a_phrase_are_found_as_are_wanted(store: ConversationStore, session: str) -> None:
    wanted = await tell(store, session, *(f"Down was the server in round {number}." for number in range(FEW_WORDS)))
    await index_all(store)
    assert sorted(await found(store, session, '"down was the server"', limit=FEW_WORDS)) == wanted


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize(
    "query", ["it is what it is", '"It is what it is."', "Is it what it is?", "to be or not to be?"]
)
async def test_what_is_put_in_common_words_alone_is_found_where_it_stands_so(
    store: ConversationStore, session: str, query: str, indexed: bool
) -> None:
    wanted = await tell(store, session, "Is it what it is? It is what it is. To be or not to be.")
    for number in range(MANY):
        await store.append_turn(session, "user", f"What is it, is it that? Not to be, or so, number {number}.")
    if indexed:
        await index_all(store)
    assert (await found(store, session, query))[:1] == wanted


async def test_of_turns_that_wait_for_the_index_all_are_read_and_it_is_not_said_otherwise(
    store: ConversationStore, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passages, "MAX_LIKELY", 20)
    monkeypatch.setattr(passages, "MAX_FURTHER", 60)
    for number in range(50):
        await store.append_turn(session, "user", f"The server was never down in round {number}.")
    page = await store.search('"down was the server"', session_id=session)
    assert page.hits and page.doubts == ("Nothing has “down was the server” word for word.",)


async def test_that_older_turns_were_not_read_is_said_where_a_filter_leaves_few(
    store: ConversationStore, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passages, "MAX_LIKELY", 20)
    monkeypatch.setattr(postings, "MAX_WHOLE", 20)
    for number in range(FEW_WORDS):
        await store.append_turn(session, "user", f"Down was the server in round {number}.")
    await index_all(store)
    page = await store.search('"down was the server" "in round 1."', session_id=session)
    assert not page.hits
    assert page.doubts == (
        "Only the newest turns with the words of “down was the server” were read: older ones may have it, too.",
    )


@pytest.mark.parametrize("query", ['"don\'t do that - please"', '"don’t do that – please"', "don't do that - please"])
@pytest.mark.parametrize("told", ["Don’t do that – please.", "Don't do that - please."])
async def test_typographic_signs_are_those_that_a_keyboard_has(
    store: ConversationStore, session: str, query: str, told: str
) -> None:
    wanted = await tell(store, session, told)
    await tell(store, session, *(f"Please do not do that, T{number}: don, t." for number in range(5)))
    page = await store.search(query, session_id=session)
    assert [hit.turn_number for hit in page.hits][:1] == wanted and not page.doubts
