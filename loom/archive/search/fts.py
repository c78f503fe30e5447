"""Expressions of FTS5, in which nothing that was said is syntax."""

from __future__ import annotations

from collections.abc import Iterable

_NO_TERM = "\ufffd"
"""A sign, to FTS5 a part of a term."""


def quoted(term: str) -> str:
    """The term as a string. What separates terms becomes a sign that stands in none: FTS5 would take the string for a
    phrase, which it refuses, and no term of the index has it."""
    if " " in term or not term.isprintable():
        term = "".join(sign if sign.isprintable() and sign != " " else _NO_TERM for sign in term)
    return '"' + term.replace('"', '""') + '"'


def any_of(terms: Iterable[str]) -> str:
    return " OR ".join(map(quoted, terms))


def all_of(terms: Iterable[str]) -> str:
    return " AND ".join(map(quoted, terms))
