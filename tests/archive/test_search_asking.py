"""A query that asks finds what says the same in other words; words typed into a field find these words."""

from __future__ import annotations

import pytest

from loom.archive import ConversationStore
from loom.archive.search.query import parse


@pytest.mark.parametrize(
    "text",
    [
        "what did we decide about the cache?",
        "what did we decide about the cache",
        "What's the port again",
        "ok, and why was that",
        "did we ever try sqlite",
        "remind me what broke",
        "the cache is warm again?",
        "can you show how it is started",
    ],
)
def test_a_question_is_one_with_a_question_mark_or_without(text: str) -> None:
    assert parse(text).is_question


@pytest.mark.parametrize(
    "text",
    [
        "",
        "how",
        "what now",
        "cache size",
        "Is a directory: /tmp",
        "whatever works best",
        "can't open file",
        "did not run",
        "where.py",
    ],
)
def test_words_are_none(text: str) -> None:
    assert not parse(text).is_question


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("movie night plans", True),
        ("cache size", True),
        ("cache", False),
        ("", False),
        ("parse_query cache size", False),
        ('"cache size" limit', False),
        ("the `cache size` limit", False),
        ("one two three four five six seven eight nine ten eleven twelve thirteen", False),
    ],
)
def test_keywords_of_a_model_ask_unless_they_quote(text: str, asks: bool) -> None:
    assert parse(text, asked=True).is_question is asks
    assert not parse(text).is_question


async def test_asking_finds_other_words(store: ConversationStore, session: str) -> None:
    await store.append_turn(session, "user", "The film on Friday was long.")
    for number in range(20):
        await store.append_turn(session, "user", f"Parcel {number} came.")

    async def found(query: str, *, asked: bool = False) -> list[int]:
        return [hit.turn_number for hit in (await store.search(query, session_id=session, asked=asked)).hits]

    assert (await found("which movie did we see"))[:1] == [1]
    assert (await found("movie evening", asked=True))[:1] == [1]
    assert await found("movie evening") == []
