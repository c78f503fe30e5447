"""Tags in a line."""

from __future__ import annotations

from collections.abc import Iterable

from loom.text import show_line


def tags_in_words(tags: Iterable[str]) -> str:
    """`#auth #backend`; empty without any."""
    return " ".join(f"#{show_line(tag, 40)}" for tag in tags)
