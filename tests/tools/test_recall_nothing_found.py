"""Where nothing is found the answer says what was searched and what to try; what makes no sense is refused."""

from __future__ import annotations

import pytest

from loom.config import Settings
from loom.tools.outcome import ToolFailure
from tests.tools.talk import Talk


async def test_nothing_found_says_what_was_searched(talk: Talk) -> None:
    await talk.user("hello")
    content = await talk.recall("search", query="zebra")
    assert content.startswith("Nothing in this session (1 turns) matches “zebra”")
    assert "scope=" not in content
    content = await talk.recall("search", query="zebra", settings=Settings(recall_scope="all"))
    assert "scope=workspace" in content


async def test_nothing_found_names_words_that_are_spelt_nearly_alike(talk: Talk) -> None:
    await talk.user("The archaeologists wrote parse_manifest and went to Reykjavik.")
    await talk.assistant("The happiest of them stayed.")
    content = await talk.recall("search", query="Reykjawig")
    assert "Spelt nearly like it, and there: “reykjavik”." in content
    assert "“happiest”" in await talk.recall("search", query="happyer")
    assert "Spelt" not in await talk.recall("search", query="zzyzx")


async def test_a_phrase_that_stands_nowhere_is_said_to(talk: Talk) -> None:
    await talk.user("We use Postgres as the database.")
    content = await talk.recall("search", query='"database Postgres"')
    assert "match 1" in content and "Nothing has “database postgres” word for word." in content
    assert "word for word" not in await talk.recall("search", query='"the database"')


async def test_what_is_no_query_and_no_scope_is_refused(talk: Talk) -> None:
    await talk.user("hello")
    for query in ("", " \n", "\0"):
        with pytest.raises(ToolFailure, match="needs a query"):
            await talk.recall("search", query=query)
    with pytest.raises(ToolFailure, match="There is no scope 'galaxy'"):
        await talk.recall("search", query="hello", scope="galaxy")


async def test_nothing_found_names_the_filter_that_left_nothing(talk: Talk) -> None:
    await talk.user("Build it.")
    await talk.tool("shell_execute", "error E0433", command="make")
    content = await talk.recall("search", query="E0433 tool:bash")
    assert "No turn there passes tool:bash. Try tool:shell_execute." in content
    content = await talk.recall("search", query="E0433 role:person")
    assert "match 1" in content and "There is no role person. role: takes user" in content


async def test_a_search_without_a_query_and_odd_numbers_are_refused(talk: Talk) -> None:
    for arguments in ({"query": " "}, {"query": "x", "limit": -1}):
        with pytest.raises(ToolFailure):
            await talk.recall("search", **arguments)
    with pytest.raises(ToolFailure, match="no action"):
        await talk.recall("find", query="x")


async def test_before_the_first_message_there_is_nothing_to_find(talk: Talk) -> None:
    talk.session = ""
    assert "Nothing in this session (0 turns)" in await talk.recall("search", query="x")
    with pytest.raises(ToolFailure, match="turns 1 to 0"):
        await talk.recall("range", start_turn=1)


async def test_words_that_are_spelt_nearly_alike_are_those_of_the_scope(talk: Talk) -> None:
    await talk.user("She went to Reykjavik.")
    await talk.begin()
    await talk.user("hello")
    wide = Settings(recall_scope="all")
    assert "Spelt" not in await talk.recall("search", query="Reykjawig", settings=wide)
    assert "“reykjavik”" in await talk.recall("search", query="Reykjawig", scope="workspace", settings=wide)


@pytest.mark.parametrize("query", ["T2", "t2", "[Turn 2]", "turn 2"])
async def test_who_searches_for_a_citation_is_told_how_to_read_the_turn(talk: Talk, query: str) -> None:
    await talk.user("hello")
    await talk.user("and goodbye")
    content = await talk.recall("search", query=query)
    assert f"{query} as a turn of this session: action=range start_turn=2." in content
    assert "as a turn" not in await talk.recall("search", query="T2 goodbye")


async def test_halves_of_characters_are_no_harm(talk: Talk) -> None:
    await talk.user("hello")
    assert "No call of “shell\ufffd”" in await talk.recall("tool_calls", tool_name="shell\ud800", query="\udfff")
    with pytest.raises(ToolFailure, match="goes by"):
        await talk.recall("range", start_turn=1, session="\ud800", settings=Settings(recall_scope="all"))


async def test_what_was_not_found_takes_no_more_room_than_what_was(talk: Talk) -> None:
    for n in range(20):
        await talk.tool(f"{'outil ' * 20}{n}", "zeppelin", path="a")
    room = Settings(recall_tokens=500)
    # `recall` looks at the tokens.
    long = "outil " * 15
    many = " ".join(f'tool:"{long}x{n}"' for n in range(60))
    assert "Nothing in this session" in await talk.recall("search", query=f"zeppelin {many}", settings=room)
    assert "No call of" in await talk.recall("tool_calls", tool_name="nothing", settings=room)
