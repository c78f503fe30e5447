"""Keeps the index in few pieces, while nobody writes.

FTS5 writes each batch as a segment of its own and merges some of them in passing. A term is looked up in every
segment: with nine of them in a million turns a look-up takes eight times as long as with one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

from loom.archive.search.index import watermark
from loom.archive.transactions import transaction

TABLES = ("search_terms", "search_name_pieces")
PAGES = 16
"""Written in one step: some 3 ms, for which an append waits at most."""
MOST_SEGMENTS = 5
GROWN = 0.2
"""What stands beside the largest segment, against it, from which on writing it anew is worth it: over its life a page
is written some six times. Before that the small ones are merged with each other, which costs little: of eighteen two
were left after 24 steps."""
_LEAST_PAGES = 64
_NOTHING_DONE = 2
"""Changed rows of a step that had nothing to merge."""


@dataclass(frozen=True, slots=True)
class Merge:
    """What is to be merged."""

    table: str
    whole: bool
    """All segments into one, or only those of about the same size (of which the table's `usermerge` allows one)."""


def scattered(connection: sqlite3.Connection) -> list[Merge]:
    """What of the index is worth merging."""
    found = (_merge_of(connection, table) for table in TABLES)
    return [merge for merge in found if merge is not None]


def _merge_of(connection: sqlite3.Connection, table: str) -> Merge | None:
    sizes = [row[0] for row in connection.execute(f"SELECT count(*) FROM {table}_idx GROUP BY segid")]  # noqa: S608
    if len(sizes) < MOST_SEGMENTS:
        return None
    beside = sum(sizes) - max(sizes)
    return Merge(table, whole=beside >= max(_LEAST_PAGES, GROWN * max(sizes)))


def merge_all(connection: sqlite3.Connection, merged: Callable[[], None] = lambda: None) -> None:
    """Leaves nothing in the index of what was taken out of it until now: all segments become one, in short
    transactions, between which `merged` is called. Those that others write meanwhile are merged with each other."""
    if watermark(connection) is None:
        return
    for table in TABLES:
        # The first step takes all segments together. One that did so again, when others have written since, would begin
        # anew; the others go on with what was begun.
        step = Merge(table, whole=True)
        while merge_some(connection, step):
            merged()
            step = Merge(table, whole=False)


def merge_some(connection: sqlite3.Connection, merge: Merge) -> bool:
    """Merges a little, in one short transaction; False if nothing was left to merge."""
    table = merge.table
    # A negative number takes all segments together, and goes on with that where it has begun.
    pages = -PAGES if merge.whole else PAGES
    with transaction(connection):
        before = connection.total_changes
        connection.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('merge', ?)", (pages,))  # noqa: S608
        return connection.total_changes - before >= _NOTHING_DONE
