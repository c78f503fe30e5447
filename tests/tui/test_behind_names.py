"""What the composer shows by a short name: what is sent for it, and what comes back."""

from __future__ import annotations

import pytest

from loom.attached import blocks_of, split_attached, with_attached
from loom.cowork.typed import joined
from loom.tools.mentions import MAX_LINES, attached_turn
from loom.tui.widgets.behind_names import BehindNames

FIRST = attached_turn("k3f9 T57", "user · 2026-01-15 14:30 +01:00", "Let's use ```PostgreSQL```.\n[attached: no block]")
SECOND = attached_turn("k3f9 T58", "assistant · 2026-01-15 14:31 +01:00", "\n  ---\nFine: PostgreSQL.")


@pytest.mark.parametrize(
    ("written", "words", "blocks"),
    [
        ("[k3f9 T57] is this so?", "is this so?", [FIRST]),
        ("is this so? [k3f9 T57]\n", "is this so?", [FIRST]),
        ("[k3f9 T57] [k3f9 T58] is this so?", "is this so?", [FIRST, SECOND]),
        ("compare [k3f9 T57] with this", "compare [k3f9 T57] with this", [FIRST]),
        ("[k3f9 T57] ", "About “Let's use ```PostgreSQL```.”", [FIRST]),
        ("[k3f9 T58]", "About “Fine: PostgreSQL.”", [SECOND]),
        ("[k3f9 T57] /clear", "[k3f9 T57] /clear", [FIRST]),
        ("[k3f9 T5] is no name", "[k3f9 T5] is no name", []),
    ],
)
def test_a_turn_goes_along_behind_the_words(written: str, words: str, blocks: list[str]) -> None:
    names = BehindNames()
    assert [names.attach(block) for block in (FIRST, SECOND)] == ["[k3f9 T57]", "[k3f9 T58]"]
    sent, attached = split_attached(names.whole(written))
    assert (sent, blocks_of(attached)) == (words, blocks)


@pytest.mark.parametrize("written", ["[k3f9 T57] is this so?", "compare [k3f9 T57] with this", "[k3f9 T57] "])
def test_what_was_to_be_sent_comes_back_as_it_was_written(written: str) -> None:
    names, later = BehindNames(), BehindNames()
    names.attach(FIRST)
    sent = names.whole(written)
    assert later.taken(sent) == written
    assert later.whole(later.taken(sent)) == sent


@pytest.mark.parametrize("around", ["before {} after", "{}", "{}\n{}"])
def test_a_paste_that_comes_back_stands_there_by_name_again(around: str) -> None:
    names = BehindNames()
    first, second = names.fold("a line\n" * 300), names.fold("another\n" * 40)
    written = around.format(first, second)
    sent = names.whole(written).strip()
    assert names.taken(sent) == written
    assert names.whole(names.taken(sent)).strip() == sent


def test_what_goes_along_with_several_messages_goes_along_with_one_of_them_all() -> None:
    one, other = with_attached("first", FIRST), with_attached("second", SECOND)
    words, attached = split_attached(joined(one, "between", other))
    assert words == "first\n\nbetween\n\nsecond"
    assert blocks_of(attached) == [FIRST, SECOND]


def test_in_a_shell_nothing_goes_along() -> None:
    names = BehindNames()
    names.attach(FIRST)
    assert names.whole("echo [k3f9 T57]", alone=True) == "echo [k3f9 T57]"


def test_of_a_very_long_turn_the_beginning_goes_along_and_says_so() -> None:
    block = attached_turn("k3f9 T57", "tool", "line\n" * (MAX_LINES + 1))
    assert block.startswith(f"[attached: turn k3f9 T57, tool, only its first {MAX_LINES:,} lines; conversation_recall")
