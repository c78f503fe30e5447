"""Answers by their words alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom.cowork.plain import plain


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("I am loom's **offline model**: *no* intelligence.", "I am loom's offline model: no intelligence."),
        ("## Plan\n\n- read `src/auth.py`\n* then ***test***", "Plan\n\nread src/auth.py\nthen test"),
        ("> **T7** user:", "T7 user:"),
        ("See [the page](https://example.org/a_b) and ![a picture](x.png).", "See the page and a picture."),
        ("```python\nprint(1)\n```", "\nprint(1)\n"),
        ("one\n\n---\n\n| a | b |\n|---|:-:|", "one\n\n\n\n| a | b |\n"),
        ("a \\*star\\* that is one", "a *star* that is one"),
    ],
)
def test_the_signs_go_and_the_words_stay(markdown: str, words: str) -> None:
    assert plain(markdown) == words


@pytest.mark.parametrize(
    "text", ["2 * 3 * 4", "__init__ of my_module_name", "`**kwargs` and `*args`", "f(*a, **b)", "a[0](x", "1 - 2", ""]
)
def test_what_only_looks_like_signs_stays(text: str) -> None:
    assert plain(text) == text.replace("`", "")


@given(st.text(alphabet="*`#->|[]() \n\\ab_~", max_size=400))
def test_nothing_is_added_whatever_is_said(text: str) -> None:
    kept = iter(text)
    assert all(character in kept for character in plain(text)), "what is left stands there in the same order"
