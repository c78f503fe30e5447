"""Bounded, ordered entries: newest last, the oldest leaves first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Entry = TypeVar("Entry")


def put(
    entries: tuple[Entry, ...], entry: Entry, limit: int, *, same: Callable[[Entry], bool] | None = None
) -> tuple[Entry, ...]:
    """The entries with this one at the end, those that are the `same` thing taken out, at most `limit` of
    them."""
    kept = entries if same is None else tuple(e for e in entries if not same(e))
    return (*kept, entry)[-limit:]


def clip(text: str, limit: int) -> str:
    """At most `limit` characters; an ellipsis where it was cut."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
