"""What of a hit is shown: the match, wherever it stands in the turn."""

from __future__ import annotations

import pytest

from loom.archive import ConversationStore
from loom.archive.search.query import parse
from loom.archive.search.snippets import snippet_of
from tests.archive.searching import index_all, tell


async def test_the_beginning_of_a_name_is_highlighted(store: ConversationStore, session: str) -> None:
    await store.append_turn(session, "user", "who calls refreshToken and RefreshRate?")
    (hit,) = await store.search_turns(session, "refresh")
    assert [hit.snippet[a:b] for a, b in hit.highlights] == ["refresh", "Refresh"]


async def test_a_snippet_shows_the_match(store: ConversationStore, session: str) -> None:
    await tell(store, session, "padding words " * 400 + "then the gyroscope broke" + " more words" * 400)
    (hit,) = await store.search_turns(session, "gyroscope")
    assert [hit.snippet[a:b] for a, b in hit.highlights] == ["gyroscope"]
    assert len(hit.snippet) <= 240


async def test_the_whole_of_a_huge_turn_is_searched(store: ConversationStore, session: str) -> None:
    text = "x = 1\n" * 300_000 + "the_last_word\n"
    await tell(store, session, text, "something else")
    await index_all(store)
    hits = await store.search_turns(session, "the_last_word")
    assert hits[0].turn_number == 1
    assert "the_last_word" in hits[0].snippet


@pytest.mark.parametrize("filler", ["日本語の長い出力。", "é " * 5, "plain words "])
def test_a_snippet_of_a_huge_text_shows_the_match_wherever_it_stands(filler: str) -> None:
    text = filler * 40_000 + "the Gyroscope broke" + filler * 20_000
    for query in ("gyroscope", '"gyroscope broke"', "gyroscope broken"):
        snippet, highlights = snippet_of(text, parse(query))
        assert "Gyroscope" in snippet
        assert "Gyroscope" in {snippet[a : a + 9] for a, _ in highlights}
    assert snippet_of(text, parse("zebra"))[0] == text[:240]


@pytest.mark.parametrize(
    ("text", "query", "matched"),
    [
        ("ß needle e\u0301", "needle", "needle"),  # one character more, and one less
        ("cafe\u0301 straße x\u0301 ß needle", "needle", "needle"),
        ("the Cafe\u0301 is open", "café", "Cafe\u0301"),
        ("a Straße", "strasse", "Straße"),
        ("ﾊﾟﾝ を買う", "パン", "ﾊﾟﾝ"),
        ("\u1112\u1161\u11ab\u1100\u116e\u11a8 여행", "한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8"),
        ("İstanbul ﬁne", "istanbul", "İstanbul"),
        ("ﬁne", "fine", "ﬁne"),
    ],
)
def test_a_highlight_is_where_the_match_is_however_it_is_written(text: str, query: str, matched: str) -> None:
    snippet, highlights = snippet_of(text, parse(query))
    assert [snippet[a:b] for a, b in highlights] == [matched]


@pytest.mark.parametrize("indexed", [False, True], ids=["behind the watermark", "indexed"])
@pytest.mark.parametrize(
    ("typed", "meant"),
    [("TS2332", "TS2322"), ("Datenbankverbindnug", "Datenbankverbindung"), ("0x80070050", "0x80070005")],
)
async def test_what_was_taken_for_a_mistyped_name_is_shown_and_marked(
    store: ConversationStore, session: str, typed: str, meant: str, indexed: bool
) -> None:
    lines = [f"line {number}: all is well" for number in range(4_000)]
    await tell(store, session, "\n".join([*lines, f"here is {meant} now", *lines]))
    if indexed:
        await index_all(store)
    (hit,) = await store.search_turns(session, typed)
    assert [hit.snippet[start:end] for start, end in hit.highlights] == [meant]
