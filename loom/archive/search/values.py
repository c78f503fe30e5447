"""What the filters of a query can be given: tools and files that occur in the turns in scope."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable

from loom.archive.search.document import turn_of
from loom.archive.search.marks import tool_facet
from loom.archive.search.postings import Postings
from loom.archive.search.scope import Scope
from loom.archive.search.tail import TailCache, read_tail
from loom.archive.search.words import fold
from loom.archive.workspaces import Workspace

MOST_TOOLS = 64
MOST_COUNTED = 1_000
"""Turns of one tool, calls and results, that are counted."""
MOST_NAMES = 400
"""Names that are looked at for a beginning too short to be searched for, newest first."""

_VOCABULARY = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_vocabulary USING fts5vocab(main, search_terms, row)"
_TOOLS = "SELECT term FROM temp.search_vocabulary WHERE term > ? AND term < ? LIMIT ?"
_NEWEST_NAMES = "SELECT name FROM search_names WHERE name GLOB '*[./]*' ORDER BY id DESC LIMIT ?"
_PATH = re.compile(r"~?(?:[\w@+-][\w.@+-]*/|\.{1,2}/|/)*[\w.@+-]*[\w@+-]\.[a-z][a-z0-9]{0,5}|(?:[\w.@+-]+/)+[\w.@+-]+")
_VERSION = re.compile(r"v?\d[\d.]*")


def tools_in(
    connection: sqlite3.Connection, cache: TailCache, *, session_id: str | None, workspace: Workspace | None
) -> tuple[str, ...]:
    """The tools that were called in scope, those used most first; as the filter `tool:` takes them."""
    scope = Scope(connection, session_id=session_id, workspace=workspace, named=None)
    tail = read_tail(connection, scope, cache)
    postings = Postings(connection, scope, tail)
    start = tool_facet("")
    facets = {facet for facet in tail.facets() if facet.startswith(start)}
    if scope.indexed:
        connection.execute(_VOCABULARY)
        facets.update(row[0] for row in connection.execute(_TOOLS, (start, f"{start}\U0010ffff", MOST_TOOLS)))
    counts = {facet: len(postings.places("facets", facet, MOST_COUNTED)) for facet in facets}
    used = sorted((facet for facet in facets if counts[facet]), key=lambda facet: (-counts[facet], facet))
    return tuple(facet.removeprefix(start) for facet in used)


def files_in(
    connection: sqlite3.Connection,
    cache: TailCache,
    fragment: str,
    *,
    session_id: str | None,
    workspace: Workspace | None,
    limit: int,
) -> tuple[str, ...]:
    """Paths that occur in scope and have the fragment, those whose name begins with it first, then the ones that were
    there last; as the filter `file:` takes them."""
    scope = Scope(connection, session_id=session_id, workspace=workspace, named=None)
    tail = read_tail(connection, scope, cache)
    postings = Postings(connection, scope, tail)
    wanted = fold(fragment)
    names: Iterable[str]
    if len(wanted) >= 3:
        names = postings.names_with(wanted)
    else:
        recent = [row[0] for row in connection.execute(_NEWEST_NAMES, (MOST_NAMES,))] if scope.indexed else []
        names = dict.fromkeys([*sorted(tail.names()), *recent])
    newest: dict[str, int] = {}
    for name in names:
        if wanted in name and _PATH.fullmatch(name) and not _VERSION.fullmatch(name):
            places = postings.places("names", name, 1)
            if places:
                newest[name] = max(places)
    order = sorted(newest, key=lambda name: (not _begins(name, wanted), -turn_of(newest[name]), name))
    return tuple(order[:limit])


def _begins(path: str, fragment: str) -> bool:
    return path.startswith(fragment) or path.rsplit("/", 1)[-1].startswith(fragment)
