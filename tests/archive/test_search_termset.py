"""Very many terms are the same terms, however they are kept."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from loom.archive.search.termset import WHOLE, TermSet
from loom.archive.search.words import CHUNK, chunks, terms_of


def _filled(terms: set[str], at_once: int) -> TermSet:
    filled, listed = TermSet(), sorted(terms)
    for start in range(0, len(listed), at_once):
        filled.add_all(frozenset(listed[start : start + at_once]))
    return filled


@given(st.sets(st.text(max_size=3), max_size=50), st.sets(st.text(max_size=3), max_size=5))
def test_a_few_terms_are_a_set(terms: set[str], others: set[str]) -> None:
    filled = _filled(terms, 7)
    assert filled == terms == set(filled) and len(filled) == len(terms)
    assert (frozenset(others) <= filled) == (others <= terms)
    assert {other for other in others if other in filled} == others & terms


def test_very_many_terms_are_a_set_of_the_same() -> None:
    terms = {f"t{number}" for number in range(2 * WHOLE)}
    filled = _filled(terms, WHOLE // 3)
    assert filled == terms == set(filled) and len(filled) == len(terms)
    filled.add_all(frozenset(["t0", "one more"]))
    assert filled == terms | {"one more"} and "none" not in filled
    assert frozenset(terms) <= filled and not frozenset(["t1", "none"]) <= filled


_ALPHABETS = {
    "Chinese": [chr(code) for code in range(0x4E00, 0x9FFF)],
    "Japanese": [*map(chr, range(0x3041, 0x30FF)), "。", "、", "\n"],
    "Korean": [*map(chr, range(0xAC00, 0xD7A3)), " "],
    "numbers": [*"0123456789", " ", ".", "x"],
    "code": [*"abcABC_./", " ", "é", "語", "\n"],
}


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(sorted(_ALPHABETS)), st.integers(0, 4 * CHUNK), st.integers(0, 1_000))
def test_a_long_text_has_the_terms_of_its_pieces_and_no_others(script: str, length: int, seed: int) -> None:
    text = "".join(random.Random(seed).choices(_ALPHABETS[script], k=length))
    pieces = [terms_of(chunk) for chunk in chunks(text)]
    terms = terms_of(text)
    for column in ("words", "parts", "names"):
        assert getattr(terms, column) == frozenset().union(*(getattr(piece, column) for piece in pieces))
