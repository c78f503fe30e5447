"""More was said than fits: the first matches as they stand, more of them in a few lines, in half of the room."""

from __future__ import annotations

import re

import pytest

from loom.archive.records import TurnKind, TurnStatus
from loom.config import Settings
from tests.tools.talk import Talk, tokens

ROOM = Settings().recall_tokens


def cited(content: str) -> list[int]:
    return [int(number) for number in re.findall(r"^\[Turn (\d+)\]", content, re.MULTILINE)]


async def spread(talk: Talk, texts: list[str]) -> list[int]:
    """The texts with others between them; gives their turns."""
    turns = []
    for text in texts:
        turns.append(await talk.user(text))
        await talk.assistant("Well.")
        await talk.user("Go on.")
    return turns


async def test_behind_the_first_ten_matches_others_stand_alone(talk: Talk) -> None:
    matches = await spread(talk, [f"The zeppelin lands at gate {n:02}." for n in range(30)])
    content = await talk.recall("search", query="zeppelin")
    shown = cited(content)
    assert "25 matches in this session, numbered best first. There may be more; limit gives up to 50." in content
    assert [turn for turn in matches if turn in shown] == matches[-25:]
    # The newest first among equals: ten have what stands beside them.
    assert {*shown} - {*matches} == {beside for turn in matches[-10:] for beside in (turn - 1, turn + 1)}
    assert "match 25" in content and "left out" not in content


async def test_a_limit_has_all_of_its_matches_with_what_stands_beside_them(talk: Talk) -> None:
    matches = await spread(talk, [f"The zeppelin lands at gate {n:02}." for n in range(30)])
    shown = cited(await talk.recall("search", query="zeppelin", limit=14))
    assert [turn for turn in matches if turn in shown] == matches[-14:]
    assert {*shown} - {*matches} == {beside for turn in matches[-14:] for beside in (turn - 1, turn + 1)}


async def test_long_matches_are_shown_around_what_was_looked_for_in_half_of_the_room(talk: Talk) -> None:
    filler = " ".join(f"word{n}" for n in range(700))
    matches = await spread(talk, [f"{filler} zeppelin{n:02} {filler}" for n in range(20)])
    content = await talk.recall("search", query="zeppelin")
    assert tokens(content) <= ROOM // 2
    shown = [turn for turn in matches if turn in cited(content)]
    assert shown[-10:] == matches[-10:]
    assert all(f"zeppelin{matches.index(turn):02}" in content for turn in shown)
    assert tokens(await talk.recall("search", query="zeppelin", limit=10)) > ROOM // 2


async def test_a_late_match_that_stands_beside_one_of_the_first_ten_is_shown_whole(talk: Talk) -> None:
    late = "Nobodyhasseenanyofthem " * 8 + "for a zeppelin is slow" + " nobodyhasseenanyofthem" * 8
    for n in range(12):
        await talk.user(f"The zeppelin lands at gate {n:02}.")
        await talk.assistant(late)
    content = await talk.recall("search", query="zeppelin")
    head = r"^\[Turn (\d+)\] (\w+): \S+ \S+ match (\d+)\n  (.*)$"
    found = [(int(turn), role, int(rank), text) for turn, role, rank, text in re.findall(head, content, re.MULTILINE)]
    assert len(found) == 24 and all(rank > 10 for _, role, rank, _ in found if role == "assistant")
    first = {turn for turn, _, rank, _ in found if rank <= 10}
    for turn, role, _, text in found:
        if role == "assistant":
            assert (text == late) is bool({turn - 1, turn + 1} & first)


async def test_a_match_in_a_few_lines_says_how_its_turn_ended(talk: Talk) -> None:
    name = "shell_" + "x" * 4_000
    for n in range(12):
        await talk.store.append_turn(
            talk.session, "tool", f"The zeppelin lands at gate {n:02}.", kind=TurnKind.TOOL_RESULT, tool_name=name,
            status=TurnStatus.DENIED,
        )  # fmt: skip
        await talk.user("Well.")
        await talk.user("Go on.")
    heads = re.findall(r"^\[Turn \d+\] tool:.* match .*$", await talk.recall("search", query="zeppelin"), re.MULTILINE)
    assert len(heads) == 12 and all(len(head) < 200 and ", denied) match" in head for head in heads), heads


@pytest.mark.parametrize(("limit", "said"), [(3, " There may be more; limit gives up to 50."), (4, "")])
async def test_who_has_not_all_matches_is_told_so(talk: Talk, limit: int, said: str) -> None:
    for n in range(3):
        await talk.user(f"The zeppelin lands at gate {n:02}.")
    content = await talk.recall("search", query="zeppelin", limit=limit)
    assert f"3 matches in this session, numbered best first.{said}\n" in content


async def test_who_has_as_many_as_there_ever_are_is_told_of_no_limit(talk: Talk) -> None:
    for n in range(51):
        await talk.user(f"The zeppelin lands at gate {n:02}.")
    content = await talk.recall("search", query="zeppelin", limit=80)
    assert "50 matches in this session, numbered best first. There may be more.\n" in content
