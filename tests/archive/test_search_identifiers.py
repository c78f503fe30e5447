"""Paths and identifiers, as they are mistyped and with the signs that belong to them."""

from __future__ import annotations

import pytest

from loom.archive import ConversationStore
from tests.archive.searching import found, index_all, tell


@pytest.mark.parametrize("indexed", [False, True], ids=["behind the watermark", "indexed"])
@pytest.mark.parametrize(
    "query",
    ["websocrkets/__init__.py", "src/websockets/_deerred_calls.py", "why did src/websockets/_deerred_calls.py fail"],
)
async def test_a_mistyped_path_is_found_whatever_pieces_of_it_are_known(
    store: ConversationStore, session: str, query: str, indexed: bool
) -> None:
    name = "websockets/__init__.py" if "init" in query else "src/websockets/_deferred_calls.py"
    (wanted,) = await tell(
        store, session, f"I changed {name} a little, as was said, and all of the rest stays as it was."
    )
    for folder in ("queue", "cache", "index", "parser"):
        await tell(
            store, session, f"see {folder}/__init__.py", f"src/websockets/{folder}.py calls: src/websockets/calls.py"
        )
    if indexed:
        await index_all(store)
    assert (await found(store, session, query))[0] == wanted


@pytest.mark.parametrize("indexed", [False, True], ids=["behind the watermark", "indexed"])
@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("_tokenizer", "self._tokenizer is set"),
        ("__bases__", "cls.__bases__ is empty"),
        ("_vers", "get_version is called"),
        ("__selecthoneorder", "see SelectionOrder"),
    ],
)
async def test_the_underscores_around_a_name_are_a_part_of_it(
    store: ConversationStore, session: str, query: str, text: str, indexed: bool
) -> None:
    (wanted,) = await tell(store, session, text)
    for number in range(12):
        await tell(store, session, f"the tokenizer has {number} bases", f"tokenizer vers {number}, bases")
    if indexed:
        await index_all(store)
    assert (await found(store, session, query))[0] == wanted
