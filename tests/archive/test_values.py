"""What the filters of a query can be given, in the index and behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from loom.archive import ConversationStore, NewTurn, TurnKind
from tests.archive.searching import found, index_all


@pytest.fixture(params=["indexed", "not indexed yet"])
async def store(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[ConversationStore]:
    store = await ConversationStore.open(tmp_path / "archive.db")
    here = await store.create_session("/home/ada/here", "offline", "")
    there = await store.create_session("/home/ada/there", "offline", "")
    await store.append_turn(here, "tool", "src/auth.py:41: import os", tool_name="search_text")
    await store.append_turn(here, "tool", "1 passed in 0.3s, version 2.10.1", tool_name="shell_execute")
    await store.append_turn(here, "tool", "2 passed", tool_name="shell_execute")
    call = {"id": "c1", "name": "git_log", "arguments": {"path": "Docs/ReadMe.txt"}}
    await store.append_turn(here, "assistant", None, tool_calls=[call], kind=TurnKind.TOOL_CALL)
    await store.append_turn(here, "user", "Read src/auth.py and tests/test_auth.py, e.g. README.md.")
    await store.append_turn(here, "assistant", "OldMakefile.mk, then Makefile.mk and Grüße.md")
    await store.append_turn(there, "tool", "secret/plan.md", tool_name="read_file")
    if request.param == "indexed":
        await store.search("anything")
        engine = await store._finder._engine()
        await engine.settle()
    yield store
    await store.close()


async def test_tools_are_those_used_in_scope_the_most_used_first(store: ConversationStore) -> None:
    here, there = [s.id for s in reversed(await store.list_sessions())]
    assert await store.find_tools(session_id=here) == ("shell_execute", "git_log", "search_text")
    assert await store.find_tools(session_id=there) == ("read_file",)
    assert await store.find_tools(workspace="/home/ada/there") == ("read_file",)
    assert set(await store.find_tools()) == {"shell_execute", "search_text", "git_log", "read_file"}


@pytest.mark.parametrize(
    ("fragment", "paths"),
    [
        ("auth", {"src/auth.py", "auth.py", "tests/test_auth.py", "test_auth.py"}),
        ("src/", {"src/auth.py"}),
        ("readme", {"README.md", "Docs/ReadMe.txt", "ReadMe.txt"}),
        ("plan", set()),
        ("zzzz", set()),
    ],
)
async def test_files_are_paths_that_occur_in_scope(store: ConversationStore, fragment: str, paths: set[str]) -> None:
    (here, _) = [s.id for s in reversed(await store.list_sessions())]
    assert set(await store.find_files(fragment, session_id=here)) == paths


async def test_a_file_is_spelled_as_it_was_written(store: ConversationStore) -> None:
    (here, _) = [s.id for s in reversed(await store.list_sessions())]
    found = await store.find_files("makefile", session_id=here)
    assert set(found) == {"Makefile.mk", "OldMakefile.mk"}, "and by no piece of another one's name"
    for spelled in (*found, *await store.find_files("grusse", session_id=here)):
        page = await store.search(f"file:{spelled}", session_id=here)
        assert page.hits, f"file:{spelled} finds it"


async def test_files_that_begin_so_come_first_and_without_a_beginning_the_newest(store: ConversationStore) -> None:
    found = await store.find_files("auth", limit=2)
    assert set(found) == {"auth.py", "src/auth.py"}
    assert "2.10.1" not in await store.find_files("")
    assert {"src/auth.py", "secret/plan.md"} <= set(await store.find_files(""))


@pytest.mark.parametrize("fragment", ['"', "*", "'; --", "\x00", "a" * 5_000, "日本語", "%", "[", "\\"])
async def test_no_fragment_does_any_harm(store: ConversationStore, fragment: str) -> None:
    assert await store.find_files(fragment) == ()


async def test_what_others_have_hides_nothing_of_the_scope(tmp_path: Path) -> None:
    store = await ConversationStore.open(tmp_path / "archive.db")
    here = await store.create_session("/home/ada/here", "offline", "")
    there = await store.create_session("/home/ada/there", "offline", "")
    path = "deep/in/the/project/configuration_of_things.py"
    asked = await store.append_turn(here, "tool", f"{path}: 3 lines", tool_name="shell_execute")
    others = [
        NewTurn(role="tool", kind=TurnKind.TOOL_RESULT, content=f"x{n}/config.py", tool_name=f"many_tools_{n:03}")
        for n in range(300)
    ]
    await store.append_turns(there, others)
    await index_all(store)
    assert await store.find_tools(session_id=here) == ("shell_execute",)
    for fragment in ("configur", "co"):
        assert path in await store.find_files(fragment, session_id=here)
    for query in ("tool:shell", "file:config", "file:config lines"):
        assert await found(store, here, query) == [asked], query
    await store.close()
