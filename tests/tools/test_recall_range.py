"""A range of turns, or a piece of one large turn, read as it was said."""

from __future__ import annotations

import re

import pytest

from loom.config import Settings
from loom.tools import recall
from loom.tools.outcome import ToolFailure
from tests.tools.talk import Talk


async def test_a_tool_turn_is_headed_by_its_call(talk: Talk) -> None:
    await talk.user("read it")
    await talk.tool("read_file", "1\tdef login():", path="src/auth.py", offset=1)
    content = await talk.recall("range", start_turn=2, end_turn=3)
    assert "[Turn 2] assistant: (" in content
    assert '\n  read_file(path="src/auth.py", offset=1)' in content
    assert '[Turn 3] tool:read_file(path="src/auth.py", offset=1) (' in content
    assert "\n  1\tdef login():" in content


async def test_one_large_turn_is_read_piece_by_piece_without_a_gap(talk: Talk) -> None:
    text = "".join(f"{n:06} " for n in range(20_000))
    await talk.user(text)
    offset, read = 0, ""
    while True:
        content = await talk.recall("range", start_turn=1, offset=offset)
        shown = content.split("\n  ", 1)[1].split("\n[")[0]
        read += shown.strip("…")
        following = re.search(r"offset=(\d+)\]", content)
        if following is None:
            break
        assert int(following[1]) > offset
        offset = int(following[1])
    assert read == text


async def test_a_limit_in_one_turn_is_characters(talk: Talk) -> None:
    await talk.user("abcdefghij" * 10)
    content = await talk.recall("range", start_turn=1, offset=5, limit=10)
    assert "\n  …fghijabcde…\n[characters 5–15 of 100]\n\n[More: action=range start_turn=1 offset=15]" in content


async def test_what_says_nothing_has_no_more_to_read(talk: Talk) -> None:
    await talk.user("")
    assert "\n  (nothing)\n\n[End" in await talk.recall("range", start_turn=1, offset=5)


async def test_a_range_shows_its_newest_turns_when_not_all_fit(talk: Talk) -> None:
    for number in range(1, 61):
        await talk.user(f"turn {number} " + "word " * 100)
    content = await talk.recall("range", start_turn=1, end_turn=60, settings=Settings(recall_tokens=2_000))
    assert "turn 60 " in content
    assert "turn 1 " not in content
    assert re.search(r"\[left out for length: T1–T\d+\]", content)


async def test_tool_results_are_cut_before_what_was_said(talk: Talk) -> None:
    await talk.user("question " * 20)
    await talk.tool("shell_execute", "output " * 20_000, command="x")
    await talk.assistant("answer " * 20)
    content = await talk.recall("range", start_turn=1, end_turn=4, settings=Settings(recall_tokens=600))
    assert "question " * 20 in content
    assert ("answer " * 20).strip() in content
    assert re.search(r"\[characters 0–\d+ of 140,000\]", content)


async def test_results_that_are_cut_in_a_range_take_the_room_that_there_is(talk: Talk) -> None:
    await talk.user("Does it build?")
    await talk.tool("shell_execute", "\n".join(f"line {n}" for n in range(9_000)), command="make")
    await talk.assistant("It does.")
    content = await talk.recall("range", start_turn=1, end_turn=4, settings=Settings(recall_tokens=2_000))
    assert "line 200\n" in content
    assert "Does it build?" in content and "It does." in content


async def test_a_range_knows_where_the_session_ends(talk: Talk) -> None:
    await talk.user("only")
    assert "The session ends with turn 1." in await talk.recall("range", start_turn=1, end_turn=50)
    with pytest.raises(ToolFailure, match=r"There is no turn 7.*turns 1 to 1"):
        await talk.recall("range", start_turn=7)
    with pytest.raises(ToolFailure, match="needs start_turn"):
        await talk.recall("range")
    with pytest.raises(ToolFailure, match="has 4 characters"):
        await talk.recall("range", start_turn=1, offset=4)


async def test_a_limit_of_several_turns_is_how_many_there_are(talk: Talk) -> None:
    for n in range(1, 10):
        await talk.user(f"message number {n}")
    content = await talk.recall("range", start_turn=2, end_turn=8, limit=3)
    assert [f"message number {n}" in content for n in range(1, 10)] == [1 < n < 5 for n in range(1, 10)]
    for end in (8, 80):
        content = await talk.recall("range", start_turn=8, end_turn=end + 1, limit=1)
        assert "\n  message number 8\n" in content and "message number 9" not in content
    content = await talk.recall("range", start_turn=9, end_turn=20, limit=5)
    assert "\n  message number 9\n" in content


async def test_of_very_many_turns_the_last_ones_are_looked_at(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall, "MOST_TURNS", 3)
    for n in range(1, 10):
        await talk.user(f"message number {n}")
    content = await talk.recall("range", start_turn=1, end_turn=9)
    assert [f"message number {n}" in content for n in range(1, 10)] == [n > 6 for n in range(1, 10)]
    assert "Of turns 1–9 the last 3 were looked at." in content


async def test_an_offset_into_several_turns_is_ignored_and_said(talk: Talk) -> None:
    await talk.user("one")
    await talk.user("two")
    content = await talk.recall("range", start_turn=1, end_turn=2, offset=2)
    assert "one" in content and "offset is for one turn alone and was ignored." in content


async def test_an_offset_into_what_was_found_is_ignored_and_said(talk: Talk) -> None:
    await talk.user("one")
    await talk.tool("read_file", "two", path="a")
    said = "offset is for one turn alone and was ignored."
    assert said in await talk.recall("search", query="one", offset=25)
    assert said in await talk.recall("search", query="nowhere", offset=25)
    assert said in await talk.recall("tool_calls", tool_name="read_file", offset=10)
