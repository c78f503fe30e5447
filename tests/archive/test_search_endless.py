"""No text keeps the indexer: what it looks for in a message it finds, or not, in one go through it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from loom.archive.search.marks import RULE_FACET, facets_of

LOOKED_AT = """
import sys
from loom.archive.search.marks import facets_of, marks_of
text = eval(sys.argv[1])
print(sorted(facets_of("user", (), text)), marks_of("user", "text", text) >= 0)
"""
TEXTS = ("chr(39) * 200", "chr(8217) * 200", '"--\'" * 70')


@pytest.mark.parametrize("text", TEXTS)
def test_what_a_message_is_found_by_is_known_however_it_is_made(text: str) -> None:
    # In a process of its own: what a regular expression is at cannot be ended from within.
    looked = subprocess.run(
        [sys.executable, "-c", LOOKED_AT, text], capture_output=True, text=True, timeout=60, check=True
    )
    assert looked.stdout.startswith("['role:user'")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Melanie, how are you?", "melanie"),
        ("Hey Melanie! Good to see you.", "melanie"),
        ("I'm so glad, Melanie. You're kind.", "melanie"),
        ("“Hey”, 'Melanie'!, said the man", ""),
        ("don't y'all 'forget' it, Melanie!", "melanie"),
        ("one two three four five Melanie!", ""),
        ("hello\nMelanie!", ""),
    ],
)
def test_who_is_spoken_to_is_named_behind_a_few_words(text: str, name: str) -> None:
    assert {facet for facet in facets_of("user", (), text) if facet.startswith("to:")} == set(
        [f"to:{name}"] if name else []
    )


@pytest.mark.parametrize(
    "text", ["\n\n- Always run the tests.", "So: \n  * \n\n - never push.", "\r\nAlways run them."]
)
def test_a_standing_instruction_is_one_behind_empty_lines_and_bullets(text: str) -> None:
    assert RULE_FACET in facets_of("user", (), text)
