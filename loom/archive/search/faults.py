"""What a person who typed a query should be told before it is searched for."""

from __future__ import annotations

import re
from datetime import datetime

from loom.archive.search.dates import date_bound
from loom.archive.search.marks import ROLES
from loom.archive.search.query import FILTERS
from loom.errors import LoomError

_FILTER = re.compile(r'"[^"\n]*"|(?:(?<=\s)|^)(' + "|".join(FILTERS) + r'):(?:"([^"]*)"|(\S+))', re.IGNORECASE)
"""A filter, or what is quoted: in there nothing is one."""


class QueryFault(LoomError):
    """A filter of a query with a value that it cannot have."""


def check_query(text: str) -> None:
    """Raises QueryFault for the first filter whose value means nothing. A search itself takes any text: there such a
    filter is looked for as a word."""
    now = datetime.now().astimezone()
    for match in _FILTER.finditer(text):
        if match[1] is None:
            continue
        name = match[1].lower()
        value = (match[2] if match[2] is not None else match[3]).strip()
        if not value:
            raise QueryFault(
                f"{name}: has no value.", f"Give one between the quotes, or quote all to look for `{name}:`."
            )
        if name == "role" and not set(value.lower().split(",")) <= set(ROLES):
            raise QueryFault(f"There is no role {value}.", f"role: takes {', '.join(ROLES)}, or some with commas.")
        if name in ("before", "after") and date_bound(value, now) is None:
            raise QueryFault(
                f"{name}:{value} is no date.",
                "Give one as 2026, 2026-03, 2026-03-10, 2026-03-10T15:00, today, yesterday, 12h, 3d, 2w, 6m or 1y.",
            )
