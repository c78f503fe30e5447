"""Why a search found nothing, as far as its filters are to blame, and what they could say instead."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from loom.archive.search.document import seconds
from loom.archive.search.faults import is_sound
from loom.archive.search.marks import ROLES, role_facet
from loom.archive.search.query import MAX_QUERY, TypedFilter, parse, typed_filters, without_excluded
from loom.archive.search.request import Request
from loom.archive.search.scope import Scope
from loom.archive.search.similarity import similarity
from loom.archive.search.tail import TailCache, read_tail
from loom.archive.search.values import Values
from loom.text import show_line

MOST_FILTERS = 6
"""Filters that are looked at, each with a search or two."""
MOST_NEAR = 4
"""Other values that are named for one filter."""
_LEAST_ALIKE = 0.6
"""Of a path, as `similarity` says."""
_SHORTEST_PIECE = 3
_MOST_SESSIONS = 500
_SHOWN = 60
"""Characters of a filter or a title that are said again."""


def obstacles(
    connection: sqlite3.Connection,
    request: Request,
    *,
    cache: TailCache,
    finds: Callable[[Request], bool],
    now: datetime,
) -> tuple[str, ...]:
    """What to tell somebody whose query found nothing: which filters rule out every turn in scope, with others that
    would not, or without which of them something would be found. Nothing where it is not for the filters."""
    query = request.query[:MAX_QUERY]
    typed = [each for each in typed_filters(query) if is_sound(each, now)][:MOST_FILTERS]
    bare = without_excluded(query)
    if not typed and bare == query:
        return ()
    session_id, workspace = request.session_id, request.workspace
    alone = Request(query="", session_id=session_id, workspace=workspace, at_hand=request.at_hand, limit=1)
    if not finds(alone):
        return ()
    near = _Near(connection, cache, alone, now)
    shut = [each for each in typed if not finds(replace(alone, query=query[each.start : each.end]))]
    if shut:
        return tuple(_in_words(query[each.start : each.end], near.of(each)) for each in shut)
    ways = [(query[each.start : each.end], query[: each.start] + query[each.end :]) for each in typed]
    if bare != query:
        # Without anything else a word with a minus is looked for.
        ways = [(name, rest) for name, rest in ways if parse(rest).excluded]
    ways += [("the words with a minus", bare)] if bare != query else []
    open_ways = [name for name, rest in ways if finds(replace(request, query=rest, limit=1))]
    if open_ways:
        return (f"Without {_either(show_line(name, _SHOWN) for name in open_ways)} something is found.",)
    return ()


def _in_words(filter: str, near: list[str]) -> str:
    advice = f" Try {_either(near)}." if near else ""
    return f"No turn there passes {show_line(filter, _SHOWN)}.{advice}"


def _either(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


class _Near:
    """Values that leave something."""

    def __init__(self, connection: sqlite3.Connection, cache: TailCache, request: Request, now: datetime) -> None:
        self._now = now
        self._session_id = request.session_id
        session_id, workspace = request.session_id, request.workspace
        self._scope = Scope(connection, session_id=session_id, workspace=workspace, named=None, at_hand=request.at_hand)
        self._values = Values(connection, self._scope, read_tail(connection, self._scope, cache))
        self._postings = self._values.postings

    def of(self, typed: TypedFilter) -> list[str]:
        """Filters of the same name, as they would be typed."""
        value = typed.value.lower()
        match typed.name:
            case "role":
                found = [role for role in ROLES if self._postings.places("facets", role_facet(role), 1)]
            case "tool":
                found = _nearest(value, self._values.tools())
            case "file":
                found = self._files(value)
            case "session":
                return self._sessions(value)
            case _:
                found = self._days(typed.name)
        return [f"{typed.name}:{show_line(each, _SHOWN)}" for each in found[:MOST_NEAR]]

    def _files(self, path: str) -> list[str]:
        alike = self._postings.names_like(path, _LEAST_ALIKE)
        found = [name for name in sorted(alike, key=lambda name: -alike[name]) if self._is_there(name)]
        pieces = sorted(re.findall(rf"\w{{{_SHORTEST_PIECE},}}", path), key=len, reverse=True)
        for piece in pieces:
            if len(found) >= MOST_NEAR:
                break
            found += self._values.files(piece)
        whole = [name for name in dict.fromkeys(found) if not any(other.endswith(f"/{name}") for other in found)]
        return [self._values.spelled(name) for name in whole[:MOST_NEAR]]

    def _is_there(self, name: str) -> bool:
        return bool(self._postings.places("names", name, 1))

    def _sessions(self, value: str) -> list[str]:
        if self._session_id is not None:
            return []  # where one session is searched, no other would do
        titles = {line.reference: line.title for line in self._scope.newest_sessions(_MOST_SESSIONS)}
        told = {reference: f"{reference} {title}".lower() for reference, title in titles.items()}
        near = _nearest(value, told.values())
        found = [reference for reference in titles if told[reference] in near][:MOST_NEAR]
        return [f"session:{reference} ({show_line(titles[reference], _SHOWN) or 'untitled'})" for reference in found]

    def _days(self, name: str) -> list[str]:
        """The day that leaves the oldest turns, or the newest ones."""
        ends = self._scope.oldest_and_newest()
        if ends is None:
            return []
        oldest, newest = (datetime.fromtimestamp(seconds(moment), self._now.tzinfo).date() for moment in ends)
        return [(oldest + timedelta(days=1)).isoformat() if name == "before" else newest.isoformat()]


def _nearest(value: str, names: Iterable[str]) -> list[str]:
    """The names that are most like a value, whole or a word of them; the first ones where none is."""
    names = list(names)
    alike = {name: max(similarity(value, part) for part in (name, *re.findall(r"[^\W_]+", name))) for name in names}
    found = sorted((name for name in names if alike[name]), key=lambda name: -alike[name])
    return (found or names)[:MOST_NEAR]
