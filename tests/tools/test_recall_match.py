"""Of a large turn that is cut, what was looked for is shown."""

from __future__ import annotations

import re

import pytest

from loom.config import Settings
from tests.tools.talk import Talk

BETWEEN = "lunch weather garden window " * 4


async def test_a_phrase_is_shown_though_a_word_stands_before_it(talk: Talk) -> None:
    for _ in range(12):
        await talk.user(f"{BETWEEN * 9}server {BETWEEN}\nThe zebra jumps over crocodiles at dawn. {BETWEEN * 9}")
    content = await talk.recall(
        "search",
        query="the zebra jumps over crocodiles at dawn server",
        limit=50,
        settings=Settings(recall_tokens=1_500),
    )
    shown = re.split(r"\n\n(?=\[Turn )", content)[1:]
    assert len(shown) > 3
    assert all("The zebra jumps over crocodiles at dawn" in turn for turn in shown)


async def test_signs_that_are_looked_for_are_shown(talk: Talk) -> None:
    await talk.user(f"{BETWEEN * 400}\nand so on ……")
    content = await talk.recall("search", query="……", settings=Settings(recall_tokens=600))
    assert "and so on ……" in content


@pytest.mark.parametrize("others", [0, 12])
async def test_a_call_that_is_cut_is_read_on_where_the_shown_part_ends(talk: Talk, others: int) -> None:
    lines = [f'print("{number:05}")' for number in range(3_000)]
    lines[1_500] = "# the Hindenburg"
    call = await talk.tool("write_file", "Wrote it.", path="hindenburg.py", content="\n".join(lines)) - 1
    for _ in range(others):
        await talk.user("The Hindenburg it is.")
        await talk.user("Well.")
        await talk.user("Go on.")
    content = await talk.recall("search", query="the Hindenburg")
    head = rf"^\[Turn {call}\] assistant: .* match \d+\n  (.*)\n\[characters ([\d,]+)–([\d,]+) of ([\d,]+)\]$"
    found = re.search(head, content, re.MULTILINE)
    assert found is not None, content
    start, stop, size = (int(number.replace(",", "")) for number in found.groups()[1:])
    assert "# the Hindenburg" in found[1] and stop - start == len(found[1].strip("…"))
    assert f"[More of a turn that is cut, here of the first: action=range start_turn={call} offset={stop}]" in content
    around = await talk.recall("range", start_turn=call, offset=start, limit=stop - start + 20)
    assert f"[characters {start:,}–{stop + 20:,} of {size:,}]" in around
    assert found[1].strip("…") in around
