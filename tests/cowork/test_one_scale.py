"""The same request has the same numbers wherever it is looked at: gauge, F2, time travel, comparison, `loom context`,
and what the model is told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from loom.config import Settings
from loom.context.compare import compare
from loom.context.course import course
from loom.context.tokens import TokenCounter
from loom.context.usage import Segment, WindowUsage
from loom.cowork.contents import usage_words
from loom.cowork.past_requests import PastRequests
from loom.cowork.workbench import Workbench
from loom.locations import Locations
from loom.models.choosing import choose_model
from loom.tui.widgets.part_list import Heading, comparison_rows
from loom.tui.widgets.usage_table import NAMES, table_content
from tests.cli.test_main import loom
from tests.cowork.conftest import Start, Talk
from tests.support.provider import Request, ScriptedProvider
from tests.support.replies import Call, Reply, Text

STEADY = (Segment.TOOLS, Segment.INSTRUCTIONS, Segment.MEMORY, Segment.PROJECT)
"""In every request of a session, and the same in each."""


class Miser:
    """Counts a third more than loom does, and never quite the same third."""

    def __init__(self) -> None:
        self._counter = TokenCounter()
        self._counter.load()
        self.reported: list[int] = []

    def answer(self, request: Request) -> Reply:
        number = len(self.reported)
        ours = sum(self._counter.count(str(each)) for each in (*request.messages, *request.body["tools"]))
        self.reported.append(int(ours * (1.31, 1.27, 1.34, 1.29)[number % 4]))
        usage = (self.reported[-1], 12)
        if request.messages[-1]["role"] == "tool":
            return Reply(Text(f"It is a small program, says answer {number}."), usage=usage)
        return Reply(Call("read_file", {"path": "README.md"}), usage=usage)


@pytest.fixture
def miser(monkeypatch: pytest.MonkeyPatch) -> Iterator[Miser]:
    miser = Miser()
    with ScriptedProvider(miser.answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        yield miser


@pytest.fixture
async def talk(miser: Miser, bench: Workbench, start: Start, workspace: Path) -> Talk:
    """Two exchanges of two requests each, with a memory and with instructions of the project."""
    (workspace / "AGENTS.md").write_text("Tests go beside the code. " * 20)
    talk = await start(choice=choose_model("openai-chat:test", Settings()), on=bench, trust_project=True)
    await talk.session.beside.write_memory(b"The port is 8123.\n" * 10, b"")
    await talk.say("What is in README.md?")
    await talk.say("And once more, please.")
    return talk


def past(talk: Talk, bench: Workbench) -> PastRequests:
    return PastRequests(bench.store, bench.counter, talk.session.session_id or "")


def gauge(talk: Talk) -> WindowUsage:
    assert talk.session.usage is not None
    return talk.session.usage


def number_behind(name: str, text: str) -> int:
    """The first number behind this name."""
    found = re.search(rf"{re.escape(name)}[: ]+([\d,]+)", text)
    assert found is not None, (name, text)
    return int(found[1].replace(",", ""))


async def test_what_stands_in_every_request_has_one_number(
    talk: Talk, miser: Miser, bench: Workbench, locations: Locations, workspace: Path
) -> None:
    newest = await past(talk, bench).seen(4)
    table = table_content(gauge(talk), 100).plain
    told = usage_words(gauge(talk))
    printed = loom("context", "0", "-w", str(workspace), home=locations.home).stdout
    compared = compare(await past(talk, bench).seen(1), newest)
    for segment in STEADY:
        expected = newest.segments[segment]
        assert expected > 10
        assert gauge(talk).segments[segment] == expected
        assert number_behind(NAMES[segment], table) == expected
        assert number_behind(f"- {segment}", told) == expected
        assert number_behind(f"  {segment}", printed) == expected
        assert sum(part.tokens for part in newest.parts if part.segment is segment) == expected
        assert compared.segments[segment] == (expected, expected)


async def test_a_request_is_as_large_as_its_provider_says_in_every_view(
    talk: Talk, miser: Miser, bench: Workbench, locations: Locations, workspace: Path
) -> None:
    requests = past(talk, bench)
    lines = await requests.lines()
    assert len(miser.reported) == len(lines) == 4
    for number, reported in enumerate(miser.reported, 1):
        seen = await requests.seen(number)
        assert seen.tokens == reported == sum(seen.segments.values()) == sum(part.tokens for part in seen.parts)
    printed = loom("context", "0", "-w", str(workspace), "--at", "4", home=locations.home).stdout
    assert f"{miser.reported[-1]:,} of 200,000 tokens; counted by the provider" in printed
    highest = course(lines, 80, 30).rows[0][0].text
    assert highest.strip(" ┤") in (
        f"{max(miser.reported) * 1.05 / 1000:.1f}k",
        f"{max(miser.reported) * 1.05 / 1000:.0f}k",
    )


async def test_two_requests_differ_only_where_their_words_do(talk: Talk, bench: Workbench) -> None:
    requests = past(talk, bench)
    one, other = await requests.seen(3), await requests.seen(4)
    assert one.factor != other.factor
    found = compare(one, other)
    moved = {segment for segment, (before, after) in found.segments.items() if before != after}
    assert moved == {Segment.ASSISTANT, Segment.TOOL}
    assert found.before_tokens + sum(part.tokens for part in found.came) == pytest.approx(other.tokens, abs=4)
    headings = [row.text for row in comparison_rows(found) if isinstance(row, Heading)]
    assert headings[0].startswith(f"{found.before_tokens:,} → {other.tokens:,} tokens")
    assert f"{one.tokens:,}" in headings[1] and "Tool schemas" not in " ".join(headings)


async def test_a_request_compared_with_itself_is_the_same(talk: Talk, bench: Workbench) -> None:
    seen = await past(talk, bench).seen(2)
    found = compare(seen, seen)
    assert found.before_tokens == seen.tokens
    assert all(before == after for before, after in found.segments.values())


async def test_instructions_memory_and_project_are_parts_of_their_own(talk: Talk, bench: Workbench) -> None:
    seen = await past(talk, bench).seen(2)
    words = {part.segment: part.text for part in seen.parts if part.segment in STEADY}
    assert words[Segment.MEMORY].startswith("## Memory\n") and "8123" in words[Segment.MEMORY]
    assert words[Segment.PROJECT].startswith("## Project instructions\n")
    assert "8123" not in words[Segment.INSTRUCTIONS] and "beside the code" not in words[Segment.INSTRUCTIONS]
