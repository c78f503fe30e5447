"""The filters of a search: what a turn must be, whatever its words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from math import ceil

from loom.archive.search.dates import date_bound
from loom.archive.search.marks import (
    NO_DAY,
    SPEAKERS,
    day_facet,
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

FIRST_DAY, LAST_DAY = date(1970, 1, 1), date(2199, 12, 31)
"""Turns are dated within."""


@dataclass(frozen=True, slots=True)
class Filter:
    """What a turn must be: all that is given must hold."""

    now: datetime
    roles: frozenset[str]
    tools: tuple[frozenset[str], ...]
    """Names as `one_term` gives them, in groups: it must be of a tool of each. Every tool where there is none."""
    before: float | None
    """Seconds since 1970; as `after`."""
    after: float | None
    newest: float = 0.0
    """When a turn was last stored, as far as is known, if that is later than now: the clock was set back."""

    @property
    def is_open(self) -> bool:
        return not self.roles and not self.tools and self.is_of_any_time

    @property
    def is_of_any_time(self) -> bool:
        return self.before is None and self.after is None

    @property
    def is_of_speakers(self) -> bool:
        """Whether anything that the person or the model said may pass."""
        return not self.roles or not self.roles.isdisjoint(SPEAKERS)

    def passes(self, mark: Mark) -> bool:
        """Whether a turn with this mark may be a hit, as far as a mark says: see `has_tool_of`."""
        return (
            (not self.roles or role_of(mark.marks) in self.roles)
            and all(any(is_of_tool(mark.marks, tool) for tool in group) for group in self.tools)
            and (self.before is None or mark.at < self.before)
            and (self.after is None or mark.at >= self.after)
        )

    def has_tool_of(self, names: frozenset[str]) -> bool:
        """Whether these (as `one_term` gives them) are tools that are meant, one of each group."""
        return not any(group.isdisjoint(names) for group in self.tools)

    def terms(self) -> tuple[tuple[str, ...], ...]:
        """Facets that a turn which passes has one of each group of. Others of the same days have them, too."""
        groups: list[tuple[str, ...]] = []
        if self.roles:
            groups.append(tuple(role_facet(role) for role in sorted(self.roles)))
        groups += [tuple(tool_facet(tool) for tool in sorted(group)) for group in self.tools]
        if self.before is not None or self.after is not None:
            groups.append((*self._times(),) or (NO_DAY,))
        return tuple(groups)

    def _times(self) -> Iterator[str]:
        """The terms of the years, months and days that the bounds leave something of, none of them twice."""
        day = FIRST_DAY if self.after is None else _day(self.after)
        last = _day(max(self.now.timestamp(), self.newest) if self.before is None else ceil(self.before) - 1)
        if self.before is None:
            last += timedelta(days=366)  # a clock that was wrong may have dated turns ahead
        while day <= last:
            year, month = date(day.year, 12, 31), _last_of_month(day)
            if day.day == day.month == 1 and year <= last:
                yield year_facet(day)
                day = year
            elif day.day == 1 and month <= last:
                yield month_facet(day)
                day = month
            else:
                yield day_facet(day)
            day += timedelta(days=1)


def filter_of(query: Query, request: Request, now: datetime) -> Filter:
    """The filters of the query and those of the caller, all of which must hold."""
    typed, given = query.filters.roles, frozenset(request.roles)
    ends = [date_bound(value, now) for value in (*query.filters.before, request.before) if value]
    begins = [date_bound(value, now) for value in (*query.filters.after, request.after) if value]
    roles = typed & given if typed and given else typed | given
    return Filter(
        now=now,
        roles=(roles or frozenset(("none",))) if typed or given else frozenset(),
        tools=tuple(frozenset(map(one_term, names)) for names in (query.filters.tools, request.tools) if names),
        before=min((moment for moment in ends if moment is not None), default=None),
        after=max((moment for moment in begins if moment is not None), default=None),
    )


def _day(moment: float) -> date:
    """The day, UTC, of a moment; the first or the last one for what lies beyond."""
    first, last = (datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() for day in (FIRST_DAY, LAST_DAY))
    return datetime.fromtimestamp(min(max(moment, first), last), UTC).date()


def _last_of_month(day: date) -> date:
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
