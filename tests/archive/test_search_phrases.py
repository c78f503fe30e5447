"""A phrase in quotation marks is what a hit must contain, however common its words are and whatever else is asked."""

from __future__ import annotations

import pytest

from loom.archive import ConversationStore
from tests.archive.searching import found, index_all, tell

MANY = 700
"""So many turns make a word common: not all of them are known to a search with a filter."""


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
