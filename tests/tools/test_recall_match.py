"""Of a large turn that is cut, what was looked for is shown."""

from __future__ import annotations

import re

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
