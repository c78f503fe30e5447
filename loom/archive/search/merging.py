"""Keeps the index in few pieces, while nobody writes.

FTS5 writes each batch as a segment of its own and merges some of them in passing. A term is looked up in every
segment: with nine of them in a million turns a look-up takes eight times as long as with one.
"""

from __future__ import annotations

import sqlite3

from loom.archive.transactions import transaction

TABLES = ("search_terms", "search_name_pieces")
PAGES = 16
"""Written in one step: some 3 ms, for which an append waits at most."""
MOST_SEGMENTS = 5
GROWN = 0.2
"""What stands beside the largest segment, against it, from which on writing it anew is worth it: over its life a page
is written some six times."""
_LEAST_PAGES = 64
_NOTHING_DONE = 2
"""Changed rows of a step that had nothing to merge."""


def scattered(connection: sqlite3.Connection) -> list[str]:
    """The tables of the index that are worth merging."""
    return [table for table in TABLES if _is_scattered(connection, table)]


def _is_scattered(connection: sqlite3.Connection, table: str) -> bool:
    sizes = [row[0] for row in connection.execute(f"SELECT count(*) FROM {table}_idx GROUP BY segid")]  # noqa: S608
    beside = sum(sizes) - max(sizes, default=0)
    return len(sizes) >= MOST_SEGMENTS and beside >= max(_LEAST_PAGES, GROWN * max(sizes))


def merge_some(connection: sqlite3.Connection, table: str) -> bool:
    """Merges a little of a table, in one short transaction; False if nothing was left to merge."""
    # A negative number takes all segments together, and goes on with that where it has begun.
    with transaction(connection):
        before = connection.total_changes
        connection.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('merge', ?)", (-PAGES,))  # noqa: S608
        return connection.total_changes - before >= _NOTHING_DONE
