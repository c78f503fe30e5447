"""What the filters of a query can be given: tools and files that occur in the turns in scope."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable

from loom.archive.search.document import turn_of
from loom.archive.search.marks import tool_facet
from loom.archive.search.postings import Postings
from loom.archive.search.scope import Scope
from loom.archive.search.tail import Tail, TailCache, read_tail
from loom.archive.search.words import fold
from loom.archive.workspaces import Workspace

MOST_TOOLS = 2_000
"""Tools of the whole archive that are looked at: one server brings a hundred along."""
MOST_COUNTED = 1_000
"""Turns of one tool, calls and results, that are counted."""
MOST_NAMES = 4_000
"""Names of the whole archive that are looked at, the shortest first; the newest, where the beginning is too short to be
searched for."""
MOST_FILES = 200
"""Of these, those in scope after which no more are looked at."""
MOST_READ = 65_536
"""Characters of a turn in which it is looked how a file's name is spelled."""

_BEGINNING = (
    "SELECT substr(content, 1, ?), substr(tool_calls, 1, ?) FROM conversation_turns"
    " WHERE session_id = ? AND turn_number = ?"
)
_VOCABULARY = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_vocabulary USING fts5vocab(main, search_terms, row)"
_TOOLS = "SELECT term FROM temp.search_vocabulary WHERE term > ? AND term < ? LIMIT ?"
_NEWEST_NAMES = "SELECT name FROM search_names WHERE name GLOB '*[./]*' ORDER BY id DESC LIMIT ?"
_PATH = re.compile(r"~?(?:[\w@+-][\w.@+-]*/|\.{1,2}/|/)*[\w.@+-]*[\w@+-]\.[a-z][a-z0-9]{0,5}|(?:[\w.@+-]+/)+[\w.@+-]+")
_VERSION = re.compile(r"v?\d[\d.]*")


class Values:
    """What the filters of a query may be given within a scope; `tail` is what waits there for the index."""

    def __init__(self, connection: sqlite3.Connection, scope: Scope, tail: Tail) -> None:
        self._connection = connection
        self._scope = scope
        self._tail = tail
        self.postings = Postings(connection, scope, tail)

    def tools(self) -> tuple[str, ...]:
        """The tools that were called, those used most first."""
        counts = {name: len(self.postings.places("facets", tool_facet(name), MOST_COUNTED)) for name in self._known()}
        return tuple(sorted((name for name in counts if counts[name]), key=lambda name: (-counts[name], name)))

    def tools_meant(self, names: Iterable[str]) -> frozenset[str]:
        """The tools that `tool:` with these names (as `one_term` gives them) means: the one of that name; where no
        turn is of it, those with a word that begins so (`shell`: `shell_execute`)."""
        meant: set[str] = set()
        for name in names:
            if name and not self.postings.places("facets", tool_facet(name), 1):
                begins = re.compile(rf"(?<![^\W_]){re.escape(name)}")
                meant.update(filter(begins.search, self._known()))
            meant.add(name)
        return frozenset(meant)

    def files(self, fragment: str) -> list[str]:
        """Paths that occur and have the fragment, those whose name begins with it first, then the ones that were
        there last. As they are kept: without capitals and accents."""
        wanted = fold(fragment)
        names: Iterable[str]
        if len(wanted) >= 3:
            names = self.postings.names_with(wanted, most=MOST_NAMES)
        else:
            rows = self._connection.execute(_NEWEST_NAMES, (MOST_NAMES,)) if self._scope.indexed else ()
            names = dict.fromkeys([*sorted(self._tail.names()), *(row[0] for row in rows)])
        newest: dict[str, int] = {}
        for name in names:
            if wanted in name and _PATH.fullmatch(name) and not _VERSION.fullmatch(name):
                places = self.postings.places("names", name, 1)
                if places:
                    newest[name] = max(places)
                if len(newest) == MOST_FILES:
                    break
        return sorted(newest, key=lambda name: (not _begins(name, wanted), -turn_of(newest[name]), name))

    def spelled(self, name: str) -> str:
        """A path as the beginning of the newest turn that has it spells it; as it is kept where it stands further on
        there, or has accents."""
        place = max(self.postings.places("names", name, 1), default=None)
        if place is None:
            return name
        where = (MOST_READ, MOST_READ, self._scope.session_of(place).id, turn_of(place))
        texts = self._connection.execute(_BEGINNING, where).fetchone() or ()
        whole = re.compile(rf"(?<![\w.@+-]){re.escape(name)}(?![\w/@+-])", re.IGNORECASE)
        found = next(filter(None, (whole.search(text) for text in texts if text)), None)
        return found[0] if found is not None else name

    def _known(self) -> set[str]:
        """Tools that were called, in scope or not."""
        start = tool_facet("")
        facets = {facet for facet in self._tail.facets() if facet.startswith(start)}
        if self._scope.indexed:
            self._connection.execute(_VOCABULARY)
            rows = self._connection.execute(_TOOLS, (start, f"{start}\U0010ffff", MOST_TOOLS))
            facets.update(row[0] for row in rows)
        return {facet.removeprefix(start) for facet in facets}


def tools_in(
    connection: sqlite3.Connection, cache: TailCache, *, session_id: str | None, workspace: Workspace | None
) -> tuple[str, ...]:
    """The tools that were called in scope, those used most first; as the filter `tool:` takes them."""
    scope = Scope(connection, session_id=session_id, workspace=workspace, named=None)
    return Values(connection, scope, read_tail(connection, scope, cache)).tools()


def files_in(
    connection: sqlite3.Connection,
    cache: TailCache,
    fragment: str,
    *,
    session_id: str | None,
    workspace: Workspace | None,
    limit: int,
) -> tuple[str, ...]:
    """Paths that occur in scope and have the fragment, the likeliest first; as the filter `file:` takes them."""
    scope = Scope(connection, session_id=session_id, workspace=workspace, named=None)
    values = Values(connection, scope, read_tail(connection, scope, cache))
    return tuple(values.spelled(name) for name in values.files(fragment)[:limit])


def _begins(path: str, fragment: str) -> bool:
    return path.startswith(fragment) or path.rsplit("/", 1)[-1].startswith(fragment)
