"""What is written in other scripts is found as it is written, whole or in part, with its marks or without."""

from __future__ import annotations

import pytest

from loom.archive import ConversationStore
from tests.archive.searching import index_all

TEXTS = (
    "हिन्दी में डेटाबेस कनेक्शन जाँचें",
    "नदी के हर दिन का पानी",
    "مُحَمَّد كَتَبَ الكِتاب",
    "محمد كتب",
    "שָׁלוֹם עולם",
    "שלום",
    "ตรวจสอบการเชื่อมต่อฐานข้อมูล",
    "ပြီးပါပြီ",
    "ışık hızı",
    "IŞIK HIZI",
    "தமிழ் எழுத்து",
)


@pytest.mark.parametrize("indexed", [False, True], ids=["behind the watermark", "indexed"])
@pytest.mark.parametrize(
    ("query", "turns", "marked"),
    [
        ("हिन्दी", {1}, "हिन्दी"),
        ("दिल्ली", set(), ""),
        ("कनेक्शन", {1}, "कनेक्शन"),
        ("محمد", {3, 4}, "مُحَمَّد"),
        ("مُحَمَّد", {3, 4}, "محمد"),
        ("שלום", {5, 6}, "שָׁלוֹם"),
        ("ฐานข้อ", {7}, "ฐานข้อ"),
        ("การเชื่อม", {7}, "การเชื่อม"),
        ("ပြီး", {8}, "ပြီး"),
        ("ışık", {9, 10}, "IŞIK"),
        ("IŞIK", {9, 10}, "ışık"),
        ("எழுத்து", {11}, "எழுத்து"),
        ("role:user -हिन्दी -محمد -שלום -ışık -ตรวจสอบ", {2, 8, 11}, ""),
    ],
)
async def test_a_word_of_another_script_is_one_word(
    store: ConversationStore, session: str, query: str, turns: set[int], marked: str, indexed: bool
) -> None:
    for text in TEXTS:
        await store.append_turn(session, "user", text)
    if indexed:
        await index_all(store)
    hits = await store.search_turns(session, query, limit=20)
    found = [hit for hit in hits if hit.highlights or not marked]
    assert {hit.turn_number for hit in found} == turns
    spans = {hit.snippet[begin:end] for hit in found for begin, end in hit.highlights}
    assert not marked or any(marked in span for span in spans)
