"""Where a fork comes from, in words."""

from __future__ import annotations

from loom.text import show_line


def origin_in_words(reference: str, turn: int) -> str:
    """`forked from k3f9 at T12`; an empty reference is a session that is not there any more, or not in sight."""
    source = f" from {show_line(reference, 12)}" if reference else ""
    return f"forked{source} at T{turn}"
