"""The key map: no key means two things in one place, none takes a key from editing."""

from __future__ import annotations

from collections import Counter

from textual.binding import Binding
from textual.widgets import TextArea

from loom.tui.keys import KEYS


def test_ids_are_unique() -> None:
    assert max(Counter(key.id for key in KEYS).values()) == 1


def test_no_key_of_the_screen_is_one_of_text_editing() -> None:
    editing = {key.strip() for b in TextArea.BINDINGS if isinstance(b, Binding) for key in b.key.split(",")}
    screen = {key.strip() for key_ in KEYS if key_.where == "chat" and key_.action for key in key_.keys.split(",")}
    assert not screen & editing


def test_keys_of_one_place_do_not_collide_but_for_those_of_another_time() -> None:
    for place in ("chat", "composer", "message", "card", "approval"):
        counts = Counter(key.strip() for key_ in KEYS if key_.where == place for key in key_.keys.split(","))
        # Esc interrupts while something runs; else it goes back to the composer. What is pinned is unpinned. Ctrl+R
        # asks again once there is nothing to save.
        assert {key for key, count in counts.items() if count > 1} <= {"escape", "p", "ctrl+r"}
