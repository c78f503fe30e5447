"""The hint names what a message may refer to, when that left the window and only then."""

from __future__ import annotations

from collections.abc import Sequence

from loom.archive.records import SearchHit, TurnKind, TurnStatus
from loom.context.hint import HINT_TOKENS, RecallHint, Reference, search_words
from loom.state.prose import own_words
from tests.support.window_rows import words


def hit(
    turn: int, snippet: str, exchange: int | None = None, kind: TurnKind = TurnKind.TEXT, matches: bool = True
) -> SearchHit:
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
        highlights=((0, 1),) if matches else (),
    )


class Archive:
    def __init__(self, *hits: SearchHit) -> None:
        self.hits = hits
        self.asked: list[str] = []

    async def search(self, query: str, limit: int) -> Sequence[SearchHit]:
        self.asked.append(query)
        return self.hits[:limit]


HINT = RecallHint(words, own_words)
ASKED = 60


async def find(message: str, archive: Archive, left_to: int = 40) -> str | None:
    return await HINT.find(message, archive.search, asked=ASKED, left_to=left_to, holds=lambda turn: turn > left_to)


def test_how_a_message_points_back() -> None:
    assert HINT.reference("as we discussed") == Reference(True, ())
    assert HINT.reference("fix that error") == Reference(False, ())
    assert HINT.reference("see T12 and T41, or turn 7") == Reference(False, (12, 41, 7))
    assert HINT.reference("T-shirts, a T4 GPU, T0 < T1") is None
    assert HINT.reference("") is None


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


async def test_that_error_is_the_one_in_the_window_if_that_fits_better() -> None:
    message = "fix that error with the parser"
    assert await find(message, Archive(hit(50, "parser error"), hit(12, "another parser error"))) is None
    hint = await find(message, Archive(hit(ASKED, message), hit(12, "parser error"), hit(50, "parser")))
    assert hint is not None and "T12" in hint and "T50" not in hint and f"T{ASKED}" not in hint
    assert await find(message, Archive(hit(12, "near it", matches=False), hit(50, "parser"))) is None
    assert await find(message, Archive()) is None


async def test_what_is_pinned_needs_no_hint_and_hides_none() -> None:
    pin = hit(20, "Pinned: parser error", kind=TurnKind.NOTE)
    hint = await find("what did we say about the parser error?", Archive(pin, hit(12, "a parser error")))
    assert hint is not None and "T12" in hint and "T20" not in hint
    assert await find("fix that parser error", Archive(pin, hit(50, "parser error"))) is None


async def test_that_error_alone_is_looked_for_by_what_it_is() -> None:
    archive = Archive(hit(12, "error: no such table"))
    hint = await find("fix that error", archive)
    assert archive.asked == ["error"] and hint is not None and "T12" in hint


async def test_what_is_quoted_is_looked_for_though_its_words_refer_to_nothing() -> None:
    archive = Archive(hit(12, "refreshToken"))
    await find('What did we decide about `refreshToken` and "say hi"?\n```\nprint(`nothing`)\n```', archive)
    assert archive.asked == ["refreshToken say hi"]


async def test_a_cited_turn_that_the_model_sees_needs_no_hint() -> None:
    archive = Archive()
    assert await find("why does T50 say so?", archive) is None
    assert archive.asked == []


async def test_a_pasted_novel_costs_nothing_and_its_words_are_not_ours() -> None:
    archive = Archive(hit(12, "x"))
    assert await find("word " * 200_000 + "as we discussed" + " word" * 200_000, archive) is None
    assert await find("```\n" + "as we discussed\n" * 50_000 + "```\nrun it", archive) is None
    assert archive.asked == []


async def test_long_turns_are_cut_to_the_hints_budget() -> None:
    hint = await find("that error with the parser", Archive(*(hit(n, "parser " * 400) for n in (1, 2, 3))))
    assert hint is not None and words(hint) <= HINT_TOKENS and hint.count("\n") == 4


def test_the_words_searched_for_are_those_that_carry_meaning() -> None:
    assert search_words("What did we say about src/auth.py and refreshToken, again?") == "src/auth.py refreshToken"
    assert search_words("as before") == ""
    assert search_words("Wie besprochen: nimm Redis für die Warteschlange") == "Redis Warteschlange"
    assert search_words("Comme on avait dit, le cache partagé reste vide") == "cache partagé reste vide"
    assert search_words("go on with that change") == "change"


async def test_a_cited_turn_that_was_brought_back_needs_no_hint() -> None:
    archive = Archive(hit(12, "something else"))
    hint = await HINT.find("look at T12 again", archive.search, asked=ASKED, left_to=40, holds=lambda turn: turn == 12)
    assert hint is None and archive.asked == []
