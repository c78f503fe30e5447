"""Expressions of FTS5, in which nothing that was said is syntax."""

from __future__ import annotations

from collections.abc import Iterable


def quoted(term: str) -> str:
    """The term as a string."""
    return '"' + term.replace('"', '""').replace("\x00", " ") + '"'


def any_of(terms: Iterable[str]) -> str:
    return " OR ".join(map(quoted, terms))


def all_of(terms: Iterable[str]) -> str:
    return " AND ".join(map(quoted, terms))
