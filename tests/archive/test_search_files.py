"""The filter `file:`: which turns mention a file."""

from __future__ import annotations

import pytest

from loom.archive import ConversationStore
from tests.archive.searching import found, index_all, tell

SAID = (
    "the plan is in docs/My Notes/plan für März.md now",  # 1
    "my plan: read the docs and take notes",
    "the plan for src/auth.py",  # 3
    "the plan of C:\\Users\\anna\\build.log",
    "the plan in the Makefile",  # 5
    "the plan for build/Makefile.am",
    "the plan reads /etc/fstab and .env",  # 7
    "the plan is in Annual  report.txt",
)


@pytest.mark.parametrize("indexed", [False, True], ids=["behind the watermark", "indexed"])
@pytest.mark.parametrize(
    ("query", "turns"),
    [
        ('plan file:"docs/My Notes/plan für März.md"', {1}),
        ('file:"my notes"', {1}),
        ('plan file:"My Other Notes"', set()),
        ("plan file:src/auth.py", {3}),
        ("plan file:./src/auth.py", {3}),
        ("plan file:src\\auth.py", {3}),
        ("plan file:src/auth.py:12", set()),
        ("plan file:/elsewhere/src/auth.py", set()),
        ("plan file:C:\\Users\\anna\\build.log", {4}),
        ("plan file:c:/users/anna/build.log", {4}),
        ("plan file:users/anna", {4}),
        ("plan file:Makefile", {5, 6}),
        ("plan file:/etc/fstab", {7}),
        ("plan file:.env", {7}),
        ('file:"Annual  report.txt"', {8}),
        ("plan file:a\u200bb.py", set()),
        ("plan file:..", set()),
        ("plan file:src/auth.py file:.env", set()),
        ("auth file:lib/auth.py", set()),
    ],
)
async def test_only_turns_that_mention_it_pass(
    store: ConversationStore, session: str, query: str, turns: set[int], indexed: bool
) -> None:
    await tell(store, session, *SAID)
    if indexed:
        await index_all(store)
    assert set(await found(store, session, query)) == turns


@pytest.mark.parametrize("indexed", [False, True], ids=["behind the watermark", "indexed"])
async def test_a_folder_with_many_files_hides_none(store: ConversationStore, session: str, indexed: bool) -> None:
    await tell(store, session, *(f"the plan for tests/deep/test_{number:03}.py" for number in range(100)))
    if indexed:
        await index_all(store)
    assert len(await found(store, session, "plan file:tests/", limit=200)) == 100


@pytest.mark.parametrize("indexed", [False, True], ids=["behind the watermark", "indexed"])
@pytest.mark.parametrize("slash", ["/", "\\"])
async def test_a_very_long_path_is_found_beside_short_ones(
    store: ConversationStore, session: str, slash: str, indexed: bool
) -> None:
    long_path = slash.join([*(f"folder-{number:02}" for number in range(16)), "src", "auth.py"])
    await tell(store, session, "see src/auth.py", f"see {long_path}:12", "see lib/auth.py and src", "see src")
    if indexed:
        await index_all(store)
    assert set(await found(store, session, "see file:src/auth.py")) == {1, 2}


@pytest.mark.parametrize("query", ['tool:"a b"', "tool:a\u200bb", "tool:\u2066x\u2069", 'plan tool:"x\u00ady"'])
async def test_no_name_of_a_tool_breaks_the_search(store: ConversationStore, session: str, query: str) -> None:
    await tell(store, session, *SAID)
    await index_all(store)
    assert await found(store, session, query) == []
