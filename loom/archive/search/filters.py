"""The filters of a search: what a turn must be, whatever its words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from loom.archive.search.dates import date_bound
from loom.archive.search.marks import (
    is_of_tool,
    month_facet,
    one_term,
    role_facet,
    role_of,
    tool_facet,
    year_facet,
)
from loom.archive.search.postings import Mark
from loom.archive.search.query import Query
from loom.archive.search.request import Request

FIRST_YEAR = 1970
NO_TIME = "month:none"
"""A facet that no turn has."""


@dataclass(frozen=True, slots=True)
class Filter:
    """What a turn must be: all that is given must hold."""

    now: datetime
    roles: frozenset[str]
    tools: frozenset[str]
    """Names as `one_term` gives them; every tool where it is empty."""
    before: float | None
    """Seconds since 1970; as `after`."""
    after: float | None

    @property
    def is_open(self) -> bool:
        return not self.roles and not self.tools and self.before is None and self.after is None

    def passes(self, mark: Mark) -> bool:
        """Whether a turn with this mark may be a hit, as far as a mark says: see `has_tool`."""
        return (
            (not self.roles or role_of(mark.marks) in self.roles)
            and (not self.tools or any(is_of_tool(mark.marks, tool) for tool in self.tools))
            and (self.before is None or mark.at < self.before)
            and (self.after is None or mark.at >= self.after)
        )

    def has_tool(self, name: str | None) -> bool:
        """Whether this is the name of a tool that is meant."""
        return not self.tools or (name is not None and one_term(name) in self.tools)

    def terms(self) -> tuple[tuple[str, ...], ...]:
        """Facets that a turn which passes has one of each group of. Others of the same months have them, too."""
        groups: list[tuple[str, ...]] = []
        if self.roles:
            groups.append(tuple(role_facet(role) for role in sorted(self.roles)))
        if self.tools:
            groups.append(tuple(tool_facet(tool) for tool in sorted(self.tools)))
        if self.before is not None or self.after is not None:
            groups.append((*self._times(),) or (NO_TIME,))
        return tuple(groups)

    def _times(self) -> Iterator[str]:
        """The terms of the years and months between the bounds."""
        first = _moment(self.after, datetime(FIRST_YEAR, 1, 1, tzinfo=UTC))
        last = _moment(self.before, self.now.astimezone(UTC) + timedelta(days=366))
        for year in range(first.year, last.year + 1):
            begins = first.month if year == first.year else 1
            ends = last.month if year == last.year else 12
            if begins == 1 and ends == 12:
                yield year_facet(year)
            else:
                yield from (month_facet(year, month) for month in range(begins, ends + 1))


def filter_of(query: Query, request: Request, now: datetime) -> Filter:
    """The filters of the query and those of the caller, all of which must hold."""
    typed, given = query.filters.roles, frozenset(request.roles)
    ends = [date_bound(value, now) for value in (query.filters.before, request.before) if value]
    begins = [date_bound(value, now) for value in (query.filters.after, request.after) if value]
    roles = typed & given if typed and given else typed | given
    return Filter(
        now=now,
        roles=(roles or frozenset(("none",))) if typed or given else frozenset(),
        tools=frozenset(map(one_term, query.filters.tools | frozenset(request.tools))),
        before=min((moment for moment in ends if moment is not None), default=None),
        after=max((moment for moment in begins if moment is not None), default=None),
    )


def _moment(bound: float | None, default: datetime) -> datetime:
    """The bound, within the years that turns can be of."""
    if bound is None:
        return default
    earliest, latest = datetime(FIRST_YEAR, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
    return datetime.fromtimestamp(min(max(bound, earliest.timestamp()), latest.timestamp()), UTC)
