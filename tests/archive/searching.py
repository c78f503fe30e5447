"""What the tests of the search say, ask and wait for."""

from __future__ import annotations

from collections.abc import Sequence

from loom.archive import ConversationStore
from loom.archive.records import SearchHit
from loom.archive.search import SearchEngine


async def tell(store: ConversationStore, session: str, *texts: str) -> list[int]:
    """The person says these; gives the numbers of the turns."""
    return [await store.append_turn(session, "user", text) for text in texts]


async def found(store: ConversationStore, session: str, query: str, **filters: object) -> list[int]:
    """The turns that a query finds, best first."""
    return [hit.turn_number for hit in await store.search_turns(session, query, **filters)]  # type: ignore[arg-type]


FILLER = (
    "We looked at the weather for the trip.",
    "The garden needs water.",
    "Let us talk about lunch.",
    "Nothing else happened today.",
)
"""What stands around in a session, and is not looked for."""


async def index_all(store: ConversationStore) -> None:
    """Everything is in the index, by an engine of its own."""
    engine = SearchEngine(store.path)
    await engine.start()
    assert await engine.settle()
    await engine.close()


def turn_numbers(hits: Sequence[SearchHit]) -> list[int]:
    return [hit.turn_number for hit in hits]
