"""What a person who typed a query should be told of its filters: which of them means nothing."""

from __future__ import annotations

from datetime import datetime

from loom.archive.search.dates import date_bound
from loom.archive.search.marks import ROLES
from loom.archive.search.query import MAX_QUERY, TypedFilter, filters_with_minus, typed_filters
from loom.errors import LoomError
from loom.text import show_line
from loom.times import local_now

_MOST = 60
"""Characters of a value that are said again."""


class QueryFault(LoomError):
    """A filter of a query with a value that it cannot have."""


def check_query(text: str) -> None:
    """Raises QueryFault for the first filter whose value means nothing. A search itself takes any text: see
    `find_fault`."""
    fault = find_fault(text, local_now())
    if fault is not None:
        raise fault


def find_fault(text: str, now: datetime) -> QueryFault | None:
    """What is wrong with the first filter whose value means nothing. A search ignores such a date, and takes any
    other such filter for words."""
    text = text[:MAX_QUERY]
    faults = (_fault_of(typed, now) for typed in typed_filters(text))
    fault = next((fault for fault in faults if fault is not None), None)
    return fault or next(
        (_minus_fault(text[typed.start : typed.end], typed) for typed in filters_with_minus(text)), None
    )


def is_sound(typed: TypedFilter, now: datetime) -> bool:
    """Whether the value of a filter is one that it can have."""
    return _fault_of(typed, now) is None


def _minus_fault(written: str, typed: TypedFilter) -> QueryFault:
    advice = (
        f"role: takes {', '.join(ROLES)}, or some with commas." if typed.name == "role" else "Quote it to look for it."
    )
    return QueryFault(f"{show_line(written, _MOST)}: no filter takes a minus.", advice)


def _fault_of(typed: TypedFilter, now: datetime) -> QueryFault | None:
    name, value = typed.name, show_line(typed.value, _MOST)
    if not value:
        return QueryFault(f"{name}: has no value.", f"Give one between the quotes, or quote all to look for `{name}:`.")
    if name == "role" and not set(typed.value.lower().split(",")) <= set(ROLES):
        return QueryFault(f"There is no role {value}.", f"role: takes {', '.join(ROLES)}, or some with commas.")
    if name in ("before", "after") and date_bound(typed.value, now) is None:
        return QueryFault(
            f"{name}:{value} is no date.",
            "Give one as 2026, 2026-03, 2026-03-10, 2026-03-10T15:00, today, yesterday, 12h, 3d, 2w, 6m or 1y.",
        )
    return None
