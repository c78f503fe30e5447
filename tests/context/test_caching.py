"""Breakpoints for providers that cache by them."""

from __future__ import annotations

from pydantic_ai.messages import CachePoint, ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart

from loom.context.caching import with_cache_points
from loom.context.fingerprints import Fingerprints


def talk(*wishes: str) -> list[ModelMessage]:
    messages: list[ModelMessage] = []
    for wish in wishes:
        messages += [ModelRequest([UserPromptPart("(beside)"), UserPromptPart(wish)]), ModelResponse([TextPart("yes")])]
    return messages[:-1]


def marked(messages: list[ModelMessage]) -> list[str]:
    return [
        str(part.content[0])
        for message in messages
        for part in message.parts
        if isinstance(part, UserPromptPart) and not isinstance(part.content, str) and CachePoint() in part.content
    ]


def test_the_two_messages_before_the_newest_are_marked() -> None:
    assert marked(with_cache_points(talk("a", "b", "c", "d"))) == ["b", "c"]
    assert marked(with_cache_points(talk("a", "b"))) == ["a"]


def test_what_one_exchange_writes_the_next_one_reads() -> None:
    now, then = marked(with_cache_points(talk("a", "b", "c"))), marked(with_cache_points(talk("a", "b", "c", "d")))
    assert now[-1] == then[0]


def test_the_first_exchange_has_nothing_to_mark() -> None:
    assert with_cache_points([]) == [] and marked(with_cache_points(talk("a"))) == []


def test_the_messages_themselves_and_their_digest_stay_as_they_were() -> None:
    messages = talk("a", "b", "c")
    digest = Fingerprints().digest(messages, "", "")
    assert Fingerprints().digest(with_cache_points(messages), "", "") == digest and marked(messages) == []
