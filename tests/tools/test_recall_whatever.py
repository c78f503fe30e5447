"""Whatever the archive gives back, the answer keeps to its budget, shows the best match, and says what is amiss."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loom.archive.records import Revision, SearchHit, SearchPage, Turn, TurnKind, TurnStatus
from loom.config import Settings
from loom.context.tokens import TokenCounter
from loom.tools.outcome import ToolFailure
from loom.tools.recall import Recall, Scope
from loom.tools.recall_budget import fit
from loom.tools.recall_frame import END
from loom.tools.recall_hits import brief
from loom.tools.recall_text import Recalled
from tests.tools.talk import tokens

_TEXT = st.one_of(
    st.text(max_size=300),
    st.tuples(st.text(min_size=1, max_size=12), st.integers(1, 4_000)).map(lambda pair: pair[0] * pair[1]),
)


@st.composite
def _recalled(draw: st.DrawFn, number: int) -> Recalled:
    text = draw(_TEXT)
    match = None
    if draw(st.booleans()) and text:
        start = draw(st.integers(0, len(text) - 1))
        match = start, draw(st.integers(start + 1, min(len(text), start + 30)))
    head, related = f"[Turn {number}] user: (2026-01-15 14:30)", match is not None and draw(st.booleans())
    return Recalled(number, head, text, match, number, related, draw(st.booleans()))


@settings(max_examples=150, deadline=None)
@given(st.data(), st.integers(300, 3_000))
def test_whatever_was_said_fits_and_the_best_match_is_shown(data: st.DataObject, budget: int) -> None:
    turns = [data.draw(_recalled(number)) for number in range(1, data.draw(st.integers(1, 12)) + 1)]
    whole = data.draw(st.integers(1, 12))
    behind = {turn.turn_number for turn in [turn for turn in turns if turn.match is not None][whole:]}
    turns = [brief(turn) if turn.turn_number in behind else turn for turn in turns]
    fitted = fit(turns, budget, tokens)
    assert sum(tokens(turn.written()) for turn in fitted.turns) <= budget
    assert {turn.turn_number for turn in fitted.turns} | {turn.turn_number for turn in fitted.left_out} == {
        turn.turn_number for turn in turns
    }
    matches = [turn for turn in turns if turn.match is not None]
    best = next((turn for turn in matches[:whole] if not turn.related), next(iter(matches), None))
    if best is not None and best.match is not None:
        shown = next(turn for turn in fitted.turns if turn.turn_number == best.turn_number)
        stop = len(shown.text) if shown.stop is None else shown.stop
        assert shown.start <= best.match[0] < stop
    assert fit(turns, budget, tokens) == fitted


class Wild:
    """A source that gives back whatever it was made of."""

    def __init__(self, turns: list[Turn], hits: list[SearchHit]) -> None:
        self._turns, self._hits = turns, hits
        self.waiting = 0

    async def search(self, query: str, scope: str, limit: int) -> SearchPage:
        return SearchPage(hits=tuple(self._hits), searched_turns=0, waiting_turns=self.waiting, elapsed_ms=0)

    async def session_meant(self, reference: str, scope: Scope) -> tuple[str, str] | None:
        return "s", "k3x9"

    async def turns(self, session_id: str, first: int, last: int) -> list[Turn]:
        return [turn for turn in self._turns if first <= turn.turn_number <= last]

    async def turns_around(self, session_id: str, turn_number: int) -> list[Turn]:
        return await self.turns(session_id, turn_number - 1, turn_number + 1)

    async def tool_turns(self, name: str, limit: int) -> list[Turn]:
        return [turn for turn in reversed(self._turns) if turn.role == "tool"]

    async def tools(self) -> Sequence[str]:
        return [turn.tool_name or "" for turn in self._turns]

    async def call(self, session_id: str, tool_call_id: str) -> Turn | None:
        return None

    async def summary(self) -> str:
        return "".join(turn.content or "" for turn in self._turns)

    async def turn_count(self, session_id: str) -> int:
        return len(self._turns)

    def session_id(self) -> str:
        return "s"

    def reference(self) -> str:
        return "k3x9"

    async def rewound(self, session_id: str) -> tuple[tuple[int, int], ...]:
        return ((2, 3),)

    async def revisions(
        self, hits: Sequence[SearchHit], query: str, scope: Scope
    ) -> Mapping[tuple[str, int], Revision]:
        return {
            (hit.session_id, hit.turn_number): Revision(
                session_id="s", session_reference="k3x9", turn_number=99, created_at=hit.created_at,
                passage=hit.content,
            )
            for hit in hits
        }  # fmt: skip

    async def nearest(self, query: str, scope: Scope) -> Sequence[str]:
        return [turn.content or "" for turn in self._turns]


_TURN = Turn(
    session_id="s", turn_number=1, exchange=1, role="user", kind=TurnKind.TEXT, status=TurnStatus.COMPLETE, content="",
    tool_calls=None, tool_call_id=None, tool_name=None, token_count=0, part_json=None, message_meta=None, usage=None,
    cost_usd=None, created_at="2026-01-15T14:30:00.000000Z", digest="",
)  # fmt: skip


@pytest.fixture(scope="module")
def counter() -> TokenCounter:
    counter = TokenCounter()
    counter.load()
    return counter


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(_TEXT, min_size=1, max_size=8),
    roles=st.lists(st.sampled_from(["user", "assistant", "tool"]), min_size=8, max_size=8),
    name=st.text(max_size=200),
    query=st.text(min_size=1, max_size=500),
    budget=st.integers(500, 8_000),
    action=st.sampled_from(["search", "range", "tool_calls", "summary"]),
)
async def test_no_answer_is_larger_than_its_budget_by_the_real_count(
    counter: TokenCounter, texts: list[str], roles: list[Any], name: str, query: str, budget: int, action: Any
) -> None:
    turns = [
        replace(_TURN, turn_number=number, content=text, role=role, tool_name=name if role == "tool" else None)
        for number, (text, role) in enumerate(zip(texts, roles, strict=False), 1)
    ]
    hits = [_hit(turn, rank) for rank, turn in enumerate(turns[::2])]
    recall = Recall(Wild(turns, hits), Settings(recall_tokens=budget), counter.count)
    try:
        outcome = await recall.conversation_recall(action, query, "t", 1, len(turns))
    except ToolFailure:
        assert action == "search" and not query.strip()
        return
    assert counter.count(outcome.content) <= budget
    if action == "search":
        best = next((hit.content for hit in hits if hit.content), "")
        # One without a text has none of the words: beside one that has them it only stands near, and makes room.
        assert "match 1; see also T99" in outcome.content
        assert not best[:1].isalnum() or best[:1] in outcome.content
        assert outcome.content.endswith(END)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    before=st.integers(0, 80_000),
    after=st.integers(0, 80_000),
    filler=st.sampled_from(["word ", "x", "日本", "0123456789\n", "😀", "  \n", "[Turn 5] user:\n"]),
    budget=st.integers(500, 8_000),
    hits=st.integers(1, 10),
)
async def test_the_best_match_is_shown_however_much_stands_around_it(
    counter: TokenCounter, before: int, after: int, filler: str, budget: int, hits: int
) -> None:
    text = (filler * before)[:before] + "THE-NEEDLE" + (filler * after)[:after]
    turn = replace(_TURN, content=text, role="tool", tool_name="read_file")
    turns = [replace(turn, turn_number=number) for number in range(1, hits + 1)]
    found = [
        replace(_hit(each, rank), content=text, snippet=f"…{text[max(0, before - 50):before + 60]}…",
                highlights=((1 + min(before, 50), 11 + min(before, 50)),))
        for rank, each in enumerate(turns)
    ]  # fmt: skip
    recall = Recall(Wild(turns, found), Settings(recall_tokens=budget), counter.count)
    content = (await recall.conversation_recall("search", "needle")).content
    assert counter.count(content) <= budget
    first = content[content.index("match 1;") :]
    assert "THE-NEEDLE" in first.split("\n\n[")[0]


async def test_turns_that_wait_for_the_index_are_told_of() -> None:
    source = Wild([_TURN], [])
    source.waiting = 12_000
    answer = await Recall(source, Settings(), tokens).conversation_recall("search", "x")
    assert "12,000 older turns are still being indexed and were not searched." in answer.content


async def test_what_is_only_near_in_meaning_is_said_to_be() -> None:
    near = replace(_hit(_TURN, 0), by_meaning=True, highlights=())
    answer = (await Recall(Wild([_TURN], [near]), Settings(), tokens).conversation_recall("search", "x")).content
    assert re.search(r"None has the words; each is only near in meaning\. .*Try other", answer)
    assert " match 1, near in meaning; see also T99" in answer
    both = Wild([_TURN], [_hit(_TURN, 0), near])
    assert "None has" not in (await Recall(both, Settings(), tokens).conversation_recall("search", "x")).content


def _hit(turn: Turn, rank: int) -> SearchHit:
    return SearchHit(
        session_id="s", session_reference="k3x9", session_title="", turn_number=turn.turn_number, exchange=1,
        role=turn.role,
        kind=turn.kind, status=turn.status, tool_name=turn.tool_name, created_at=turn.created_at,
        score=1.0 - rank / 10,
        content=turn.content or "", snippet=(turn.content or "")[-100:], highlights=((0, 3),) if turn.content else (),
    )  # fmt: skip


async def test_what_only_stands_near_the_words_is_counted_apart_and_said_to_be_related() -> None:
    found = replace(_TURN, content="the words")
    beside = replace(found, turn_number=found.turn_number + 1)
    related = replace(_hit(beside, 1), highlights=())
    source = Wild([found, beside], [_hit(found, 0), related])
    outcome = await Recall(source, Settings(), tokens).conversation_recall("search", "x")
    assert " 1 match and 1 related turn in this session, numbered best first." in outcome.content
    assert " match 1;" in outcome.content and " related;" in outcome.content and "match 2" not in outcome.content
    assert outcome.facts["matches"] == 1
    # Filters alone match no word anywhere.
    only = (await Recall(Wild([beside], [related]), Settings(), tokens).conversation_recall("search", "x")).content
    assert " 1 match in this session, numbered best first." in only and " related;" not in only


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(budget=st.integers(500, 1_000), size=st.integers(200, 20_000), beside=st.integers(2, 4))
async def test_a_match_has_the_room_before_what_is_only_related(
    counter: TokenCounter, budget: int, size: int, beside: int
) -> None:
    related = replace(_TURN, content="so it was said " * (size // 10))
    found = replace(_TURN, turn_number=beside, content="x " * size + "THE-NEEDLE" + " y" * size)
    at = 2 * size
    hits = [
        replace(_hit(related, 0), highlights=()),
        replace(_hit(found, 1), snippet=found.content[at - 50 : at + 60], highlights=((50, 60),)),  # type: ignore[index]
    ]
    recall = Recall(Wild([related, found], hits), Settings(recall_tokens=budget), counter.count)
    content = (await recall.conversation_recall("search", "x")).content
    assert " 1 match and 1 related turn in this session" in content
    assert " match 1;" in content and "THE-NEEDLE" in content
