"""The hint names what a message may refer to, when that left the window and only then."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from loom.archive.records import SearchHit, TurnKind, TurnStatus
from loom.context.hint import HINT_TOKENS, RecallHint, search_words
from tests.support.window_rows import words


def hit(turn: int, snippet: str, exchange: int | None = None, kind: TurnKind = TurnKind.TEXT) -> SearchHit:
    return SearchHit(
        session_id="s",
        session_reference="ab1c",
        session_title="t",
        turn_number=turn,
        exchange=turn if exchange is None else exchange,
        role="tool" if kind is TurnKind.TOOL_RESULT else "user",
        kind=kind,
        status=TurnStatus.COMPLETE,
        tool_name="read_file" if kind is TurnKind.TOOL_RESULT else None,
        created_at="",
        score=1.0,
        content=snippet,
        snippet=snippet,
        highlights=(),
    )


class Archive:
    def __init__(self, *hits: SearchHit) -> None:
        self.hits = hits
        self.asked: list[str] = []

    async def search(self, query: str, limit: int) -> Sequence[SearchHit]:
        self.asked.append(query)
        return self.hits[:limit]


async def find(message: str, archive: Archive, left_to: int = 40) -> str | None:
    return await RecallHint(words).find(message, archive.search, left_to=left_to, holds=lambda turn: turn > left_to)


@pytest.mark.parametrize(
    "message",
    [
        "like we discussed, use the other parser",
        "Do it As Before.",
        "Remember when the import failed?",
        "go back to the first version",
        "open that file again",
        "that ERROR is back",
        "what did we say about caching?",
        "what we did with the tokens",
        "as I said, no globals",
        "Like I mentioned: tabs",
        "we already fixed it",
        "the previous one was better",
        "which flag did you use?",
        "have we talked about Redis?",
        "earlier you had a test for it",
        "why is T12 relevant?",
    ],
)
def test_it_notices(message: str) -> None:
    assert RecallHint(words).refers_back(message)


@pytest.mark.parametrize(
    "message",
    [
        "fix the bug in auth.py",
        "Write a function that filters even numbers",
        "add a test",
        "Explain `git log --before earlier` please",
        "```\n# as we discussed earlier\nremember when\n```\nrun this",
        "the profile of the thatched roof",
        "T-shirts and UTF8",
        "",
    ],
)
def test_it_lets_pass(message: str) -> None:
    assert not RecallHint(words).refers_back(message)


async def test_nothing_is_hinted_when_nothing_left_the_window() -> None:
    archive = Archive(hit(3, "that file"))
    assert await find("open that file", archive, left_to=0) is None
    assert archive.asked == []


async def test_it_names_the_likely_turns_each_in_a_line() -> None:
    archive = Archive(
        hit(12, "we agreed on\nPostgres for\nthe queue"),
        hit(30, "Postgres 16 it is", kind=TurnKind.TOOL_RESULT),
        hit(31, "the same exchange", exchange=30),
        hit(50, "still in the window"),
    )
    hint = await find("what did we say about Postgres and the queue?", archive)
    assert hint is not None
    assert archive.asked == ["Postgres queue"]
    lines = hint.splitlines()
    assert lines[1:3] == ["T12 user: we agreed on Postgres for the queue", "T30 tool read_file: Postgres 16 it is"]
    assert len(lines) == 4


async def test_a_cited_turn_that_left_needs_no_search() -> None:
    archive = Archive()
    hint = await find("look at T12 and T41 and T999 again", archive)
    assert hint is not None and "start_turn=12 end_turn=12" in hint and "41" not in hint.replace("T40", "")
    assert archive.asked == []


async def test_without_a_hit_it_says_where_to_look() -> None:
    hint = await find("what did we decide about Zanzibar?", Archive())
    assert hint is not None and "T40" in hint and "action=search" in hint


async def test_long_turns_are_cut_to_the_hints_budget() -> None:
    hint = await find("that error with the parser", Archive(*(hit(n, "parser " * 400) for n in (1, 2, 3))))
    assert hint is not None and words(hint) <= HINT_TOKENS and hint.count("\n") == 4


def test_the_words_searched_for_are_those_that_carry_meaning() -> None:
    assert search_words("What did we say about src/auth.py and refreshToken, again?") == "src/auth.py refreshToken"
    assert search_words("as before") == ""
