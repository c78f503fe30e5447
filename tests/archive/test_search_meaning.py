"""How near texts are in meaning, and what that does to what is found."""

from __future__ import annotations

import pytest

from loom.archive import ConversationStore, NewTurn
from loom.archive.search.marks import reacts
from loom.archive.search.meaning import SENTENCES, WORDS, Meaning
from loom.archive.search.stems import stem
from loom.archive.search.stopwords import STOP_STEMS
from loom.archive.search.vectors import MOST_TERMS, Vectors


def near(question: str, *texts: str, names: tuple[str, ...] = ()) -> list[float]:
    return [Meaning(question, names).nearness(text) for text in texts]


@pytest.mark.parametrize(
    ("question", "nearer", "farther"),
    [
        ("How does she relax after work?", "A warm bath calms me in the evening.", "The compiler printed a warning."),
        ("Which animals does he keep?", "Our kitten chased the rabbit.", "The invoice came by mail."),
        ("What food do they like?", "We baked bread and made a soup.", "The train was late."),
        ("Where did the database fail?", "The server lost its tables.", "We painted the kitchen."),
    ],
)
def test_what_is_about_the_same_is_nearer(question: str, nearer: str, farther: str) -> None:
    close, far = near(question, nearer, farther)
    assert close > far + 0.1


def test_the_same_words_are_the_same_whatever_their_forms() -> None:
    assert near("planning trips?", "planned trip")[0] == pytest.approx(1)


@pytest.mark.parametrize("question", ["", "?!", "what was it?", "ひらがな?", "qzxw vvkpt?", "7 x?"])
def test_a_question_without_a_known_word_is_near_to_nothing(question: str) -> None:
    assert near(question, "a dog", question, "") == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("text", ["", "the and of", "…", "日本語", "\ud800 \x00"])
def test_a_text_that_says_nothing_is_near_to_nothing(text: str) -> None:
    assert near("which dog?", text) == [0.0]


def test_a_word_without_a_vector_is_like_itself_only() -> None:
    same, other = near("the zzkwq dog?", "zzkwq", "qwkzz")
    assert same > 0.4
    assert abs(other) < 0.4


def test_the_name_of_the_speaker_does_not_count() -> None:
    plain = near("Did Melanie bake bread?", "bread", "Melanie: bread", names=("melanie",))
    assert plain[0] == plain[1] == near("Did she bake bread?", "bread")[0]


def test_a_long_text_of_rare_words_is_added_up_without_overflow() -> None:
    words = " ".join(f"q{i}z" for i in range(10 * MOST_TERMS))
    assert near(f"dog {words}?", words)[0] == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("vectors", [WORDS, SENTENCES])
def test_a_long_text_of_the_heaviest_words_is_added_up_without_overflow(vectors: Vectors) -> None:
    largest = max(vectors.weights)
    assert MOST_TERMS * largest * ((1 << vectors.bits) - 1) < 1 << 16
    heaviest = [term for term, place in vectors.places.items() if vectors.weights[place] == largest]
    words = " ".join(heaviest[:20]).split() * 100
    once, length = vectors.sum(words[:MOST_TERMS])
    assert vectors.sum(words) == (once, length)
    assert max(map(abs, once)) <= length


@pytest.mark.parametrize("vectors", [WORDS, SENTENCES])
def test_the_vectors_are_of_stems_that_say_something(vectors: Vectors) -> None:
    places = vectors.places
    assert len(vectors.rows) == len(places) * vectors.dimensions * vectors.bits // 8
    assert len(vectors.weights) == len(places)
    assert 0 < min(vectors.weights) < max(vectors.weights)
    assert not STOP_STEMS & places.keys()
    assert {stem("swimming"), stem("puppies"), stem("databases")} <= places.keys()


def test_two_words_beside_each_other_may_mean_what_neither_does() -> None:
    leaves, removes = "The plane takes off at noon.", "She takes the plane off the shelf."
    asked = Meaning("the plane takes off?", (), SENTENCES)
    assert "take off" in SENTENCES.places
    assert asked.nearness(leaves) > asked.nearness(removes)
    together, _ = SENTENCES.sum(["takes", "off"])
    apart, _ = SENTENCES.sum(["off", "takes"])
    assert together != apart
    assert WORDS.sum(["takes", "off"]) == WORDS.sum(["off", "takes"])


@pytest.mark.parametrize(
    "text",
    ["Thanks, Mel!", "Caroline: Wow, that is so good", "That’s really cool.", "🎉 Congrats!", "Anna Maria: Great idea"],
)
def test_thanks_and_praise_are_reactions(text: str) -> None:
    assert reacts(text)


@pytest.mark.parametrize(
    "text", ["", "Greatness is rare", "We went to a great place", "Yes, use PostgreSQL.", "That is the cause: a lock"]
)
def test_what_tells_or_decides_is_none(text: str) -> None:
    assert not reacts(text)


async def test_a_turn_that_only_reacts_comes_after_what_tells(store: ConversationStore, session: str) -> None:
    told = ["Nice! The pottery class made a bowl", "Then the pottery class made a bowl"]
    await store.append_turns(session, [NewTurn(role="user", content=text) for text in [*told, *told[::-1]]])
    hits = await store.search_turns(session, "What did the pottery class make?")
    assert [hit.content.startswith("Nice") for hit in hits] == [False, False, True, True]


async def test_of_turns_with_as_many_words_the_nearer_one_is_found_first(
    store: ConversationStore, session: str
) -> None:
    about = [
        "The weekend was busy: we hiked up a mountain and slept in a tent.",
        "The weekend was busy: the printer driver crashed and I fixed it.",
    ]
    for told in (about, about[::-1]):
        await store.append_turns(session, [NewTurn(role="user", content=text) for text in told])
    hits = await store.search_turns(session, "How was their outdoor trip on the weekend?")
    assert ["mountain" in hit.content for hit in hits] == [True, True, False, False]


async def test_what_is_typed_into_a_search_field_is_not_weighed_by_meaning(
    store: ConversationStore, session: str
) -> None:
    await store.append_turns(
        session,
        [
            NewTurn(role="user", content="The weekend was busy: we hiked up a mountain."),
            NewTurn(role="user", content="The weekend was busy: the printer broke down."),
        ],
    )
    assert [hit.turn_number for hit in await store.search_turns(session, "outdoor weekend")] == [2, 1]


async def test_a_name_as_typed_stays_above_what_is_only_near(store: ConversationStore, session: str) -> None:
    texts = ["We looked at `parse_invoice_total` once.", *["An invoice has a total sum, a bill a price."] * 12]
    await store.append_turns(session, [NewTurn(role="user", content=text) for text in texts])
    hits = await store.search_turns(session, "what does parse_invoice_total do with an invoice?")
    assert hits[0].turn_number == 1
