"""What was said in quite other words: found by its meaning, and said to be."""

from __future__ import annotations

from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom.archive import ConversationStore, NewTurn, SearchHit
from loom.archive.database import connect
from loom.archive.records import TurnKind
from loom.archive.reindex import reindex
from loom.archive.search import postings, sketches
from loom.archive.search.cues import Cues
from loom.archive.search.engine import Abandoned
from loom.archive.search.lookup import search
from loom.archive.search.meaning import SENTENCES, SKETCH_BYTES, Meaning, sketch_of
from loom.archive.search.postings import Mark
from loom.archive.search.ranking import FIRST, FIRST_BY_WORDS, LEAST_NEAR, Reading, meant
from loom.archive.search.request import Request
from loom.archive.search.sketches import likest, row_of

SAID = "Let's ship version two on Friday."
ASKED = "when do we release?"
OTHERS = [
    "The press release about the museum was boring.",
    "Release the brake before you push the trolley.",
    "The singer has no release from her label.",
    "Release notes are written by the editor.",
    "He asked for the release of the hostages.",
    "The release valve of the boiler hisses.",
    "A release form for the climbing hall lies here.",
]
"""Turns that have the question's word and nothing to do with it."""


async def tell(store: ConversationStore, session: str, *texts: str, role: str = "user") -> None:
    await store.append_turns(session, [NewTurn(role=role, content=text) for text in texts])  # type: ignore[arg-type]


def contents(hits: list[SearchHit]) -> list[str]:
    return [hit.content for hit in hits]


@pytest.mark.parametrize("indexed", [False, True])
async def test_what_was_said_in_other_words_is_among_the_first_five(
    store: ConversationStore, session: str, indexed: bool
) -> None:
    await tell(store, session, *OTHERS[:4], SAID, *OTHERS[4:])
    if indexed:
        reindex(store.path)
    hits = await store.search_turns(session, ASKED)
    assert FIRST_BY_WORDS <= contents(hits).index(SAID) < FIRST
    assert [hit.content for hit in hits if hit.by_meaning] == [SAID]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


async def test_where_no_word_was_said_the_nearest_are_found(store: ConversationStore, session: str) -> None:
    await tell(store, session, "He plays the cello in the city orchestra.", "The soup needs more salt.")
    (hit,) = await store.search_turns(session, "which instrument did they perform on?")
    assert "cello" in hit.content
    assert hit.by_meaning
    assert not hit.highlights


async def test_what_has_the_words_is_not_said_to_be_near_in_meaning(store: ConversationStore, session: str) -> None:
    await tell(store, session, "The invoice was paid twice by mistake.", "We have a cat.")
    hits = await store.search_turns(session, "which invoice was paid by mistake?")
    assert (hits[0].turn_number, hits[0].by_meaning) == (1, False)


@pytest.mark.parametrize(
    "query",
    ["ship soon", "deadline", f'"{ASKED}"', 'when is "the launch"?', "when is `the_launch` of launch_day.py?", "-ship"],
)
async def test_words_in_a_field_quotations_and_names_mean_themselves(
    store: ConversationStore, session: str, query: str
) -> None:
    await tell(store, session, SAID, "The launch of the boat")
    assert not any(hit.by_meaning for hit in await store.search_turns(session, query))


@pytest.mark.parametrize("indexed", [False, True])
async def test_filters_hold_however_many_others_are_nearer(
    store: ConversationStore, session: str, indexed: bool
) -> None:
    await tell(store, session, *[f"{SAID} Or maybe version {number}." for number in range(3, 60)])
    await tell(store, session, "We publish the new version on Friday then.", role="assistant")
    if indexed:
        reindex(store.path)
    (hit,) = await store.search_turns(session, f"role:assistant {ASKED}")
    assert (hit.role, hit.by_meaning) == ("assistant", True)


async def test_a_search_that_nobody_waits_for_ends_though_no_turn_passes(
    store: ConversationStore, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postings, "MAX_POSTINGS", 10)
    monkeypatch.setattr(postings, "MARKS_AT_ONCE", 4)
    monkeypatch.setattr(sketches, "MOST_COMPARED", 100)
    monkeypatch.setattr(sketches, "ROWS_AT_ONCE", 1)
    noon = "2024-05-15T12:00:00.000000Z"
    said = [f"We ship box {number} by sea." for number in range(400)]
    await store.append_turns(session, [NewTurn(role="user", content=text, created_at=noon) for text in said])
    reindex(store.path)
    left = 20

    def check() -> None:
        nonlocal left
        left -= 1
        if not left:
            connection.interrupt()
            raise Abandoned

    with closing(connect(store.path, readonly=True)) as connection:
        with pytest.raises(Abandoned):
            # That they are of another hour, the index alone does not say.
            search(connection, Request(f"before:2024-05-15T11:00Z after:2024-05-15T10:00Z {ASKED}"), check)
        assert not connection.in_transaction


@pytest.mark.parametrize(("role", "looks"), [("tool", False), ("system", False), ("tool,user", True)])
async def test_what_tools_gave_back_is_not_looked_for_among_words(
    store: ConversationStore, session: str, monkeypatch: pytest.MonkeyPatch, role: str, looks: bool
) -> None:
    monkeypatch.setattr(postings, "MAX_POSTINGS", 10)
    monkeypatch.setattr(postings, "MARKS_AT_ONCE", 1)
    await tell(store, session, *[f"We ship box {number} by sea." for number in range(100)])
    await tell(store, session, *["42"] * 20, role="tool")
    reindex(store.path)
    steps = 0

    def check() -> None:
        nonlocal steps
        steps += 1

    with closing(connect(store.path, readonly=True)) as connection:
        search(connection, Request(f"role:{role} {ASKED}"), check)
    assert (steps > 30) is looks


async def test_an_excluded_word_neither_comes_nor_draws_its_like(store: ConversationStore, session: str) -> None:
    await tell(store, session, *[f"We ship box {number} by sea." for number in range(60)], "Version two on Friday.")
    hits = await store.search_turns(session, f"{ASKED} -ship")
    assert contents(hits)[:1] == ["Version two on Friday."]
    assert not any("ship" in hit.content for hit in hits)


async def test_a_file_that_must_be_mentioned_is(store: ConversationStore, session: str) -> None:
    await tell(store, session, SAID, "Version two of notes/plan.md is ready on Friday.")
    assert contents(await store.search_turns(session, f"file:notes/plan.md {ASKED}")) == [
        "Version two of notes/plan.md is ready on Friday."
    ]


async def test_only_what_somebody_said_is_found_by_its_meaning(store: ConversationStore, session: str) -> None:
    await store.append_turns(
        session,
        [
            NewTurn(role="tool", content=SAID, kind=TurnKind.TOOL_RESULT, tool_name="read_file", tool_call_id="c"),
            NewTurn(role="assistant", content=SAID, kind=TurnKind.THINKING),
        ],
    )
    assert await store.search_turns(session, ASKED) == []
    await tell(store, session, SAID)
    assert [hit.turn_number for hit in await store.search_turns(session, ASKED)] == [3]


async def test_what_words_have_found_already_is_not_said_to_be_found_by_meaning(
    store: ConversationStore, session: str
) -> None:
    await tell(store, session, *OTHERS, "We release version two on Friday, and it is a release to celebrate.")
    hits = await store.search_turns(session, ASKED)
    assert len(hits) == len(OTHERS) + 1
    assert not any(hit.by_meaning for hit in hits)


async def test_who_is_asked_about_comes_before_who_is_not(store: ConversationStore, session: str) -> None:
    await tell(store, session, "Let's ship version two on Monday.")
    await tell(store, session, SAID, role="assistant")
    hits = await store.search_turns(session, "when did you say that we release?")
    assert [hit.role for hit in hits] == ["assistant", "user"]


async def test_what_keeps_a_filter_from_finding_words_is_still_said(store: ConversationStore, session: str) -> None:
    await tell(store, session, "The index takes two gigabytes of room.", *OTHERS)
    page = await store.search("how much is the index? -index", session_id=session)
    assert not page.has_words
    assert page.obstacles


async def test_what_forks_have_in_common_is_found_once(store: ConversationStore, session: str) -> None:
    await tell(store, session, *OTHERS, SAID)
    fork = await store.fork_session(session, len(OTHERS) + 1)
    page = await store.search(ASKED, at_hand=fork)
    found = [hit for hit in page.hits if hit.content == SAID]
    assert len(found) == 1
    assert found[0].by_meaning


async def test_what_was_said_twice_takes_one_place(store: ConversationStore, session: str) -> None:
    near = "We publish the new version on Friday then."
    await tell(store, session, *OTHERS[:3], SAID, *OTHERS[3:], *[near] * 4)
    found = contents(await store.search_turns(session, ASKED))
    assert SAID in found[:5] and found[:5].count(near) == 1


@pytest.mark.parametrize("indexed", [False, True])
async def test_of_very_many_turns_the_newest_are_compared(
    store: ConversationStore, session: str, monkeypatch: pytest.MonkeyPatch, indexed: bool
) -> None:
    # However many of them the index has by then: it keeps a row of them together, and they wait for it one by one.
    monkeypatch.setattr(sketches, "MOST_COMPARED", sketches.ROW_TURNS // 2)
    monkeypatch.setattr(sketches, "ROWS_AT_ONCE", 1)
    others = ["The soup needs more salt."] * 3 * sketches.ROW_TURNS
    await tell(store, session, SAID, *others)
    assert await store.search_turns(session, ASKED) == []
    await tell(store, session, SAID)
    if indexed:
        reindex(store.path)
    assert [hit.turn_number for hit in await store.search_turns(session, ASKED)] == [len(others) + 2]


@pytest.mark.parametrize("most", [2, 8_000])
async def test_what_a_filter_leaves_of_many_is_found_whether_it_is_rare_or_not(
    store: ConversationStore, session: str, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(postings, "MAX_POSTINGS", most)
    monkeypatch.setattr(postings, "MARKS_AT_ONCE", 8)
    await tell(store, session, *[f"{SAID} Or maybe version {number}." for number in range(3, 60)])
    for text in ("We publish the new version on Friday then.", "Version three ships in May.", "Thanks."):
        await tell(store, session, text, role="assistant")
    reindex(store.path)
    hits = await store.search_turns(session, f"role:assistant {ASKED}")
    assert {hit.content for hit in hits} == {
        "We publish the new version on Friday then.",
        "Version three ships in May.",
    }
    assert {hit.role for hit in hits} == {"assistant"}


@pytest.mark.parametrize(
    ("question", "found"),
    [
        (f"{ASKED}\x00", SAID),
        ("ship " * 40_000 + "?", SAID),
        ("日本語は何ですか?", "日本語でリリースする。"),
        ("🚀 🚀 🚀?", None),
        ("\ud800 \udfff \ud800?", None),
    ],
)
async def test_a_hostile_question_is_answered(
    store: ConversationStore, session: str, question: str, found: str | None
) -> None:
    await tell(store, session, SAID, "ship " * 50_000, "\x00", "日本語でリリースする。")
    hits = contents(await store.search_turns(session, question))
    assert found in hits if found else hits == []


def test_the_nearest_comes_first_and_a_reaction_after_it() -> None:
    marks = {place: Mark(0, 50, 0) for place in range(1, 9)}
    ranked = [(place, 9.0 - place) for place in range(1, 7)]
    readings = {7: Reading(0.5, True), 8: Reading(0.45, False), 6: Reading(LEAST_NEAR, False), 1: Reading(0.9, False)}
    assert meant(ranked, readings, marks, Cues()) == [8, 7]
    assert meant(
        [(place, 1.0) for place in (1, 2, 3)],
        {**readings, 9: Reading(0.6, False)},
        {**marks, 9: Mark(0, 50, 0)},
        Cues(),
    ) == [9, 8]
    assert meant(ranked[:2], readings, marks, Cues()) == [8, 7, 6]
    assert meant([], {7: Reading(LEAST_NEAR - 0.01, False)}, marks, Cues()) == []


@given(st.text())
def test_any_text_has_a_sketch_and_a_question_may_have_no_direction(text: str) -> None:
    assert len(sketch_of(text)) == SKETCH_BYTES
    assert len(Meaning(text, (), SENTENCES).direction) in (0, SENTENCES.dimensions)


def test_the_sketch_of_a_text_is_nearest_to_its_own() -> None:
    texts = [SAID, *OTHERS]
    rows = [row_of([(place, sketch_of(text))]) for place, text in enumerate(texts, 1)]
    for place, text in enumerate(texts, 1):
        assert next(likest(Meaning(text, (), SENTENCES).direction, rows)) == place


def test_a_text_without_a_known_word_is_like_nothing() -> None:
    assert sketch_of("the and of") == bytes(SKETCH_BYTES)
    assert Meaning("the and of", (), SENTENCES).direction == []
