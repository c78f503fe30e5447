"""Databases of other programs, which are only read: nothing is written into them or beside them, not even a lock.

SQLite makes files beside a database even to read one that has a log (`-shm`). So one whose log is empty is read as it
stands (`immutable`), and of any other a private copy with its log. Here and not where such files are understood,
because only the archive imports the database.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from loom.archive.errors import ArchiveError, ArchiveUnavailable
from loom.archive.unwritable import PrivateCopy, copy_privately, is_at_rest
from loom.text import show_line

_HEADER = b"SQLite format 3\x00"
_LONGEST = 64 * 1024 * 1024
"""Bytes of one text; a row with a longer one is not read."""
_STEPS = 100_000
"""Of SQLite's machine, between two looks at how many there were."""
_STEPS_A_BYTE = 10
"""To read rows of 25 bytes and to put them in order takes 0.6."""


class ForeignUnreadable(ArchiveError):
    """Another program's database that cannot be read."""


def is_database(head: bytes) -> bool:
    """Whether a file that begins so is one of SQLite's."""
    return head.startswith(_HEADER)


class ForeignDatabase:
    """Another program's database, open to read."""

    def __init__(self, connection: sqlite3.Connection, size: int) -> None:
        self._connection = connection
        self._size = size
        """Bytes."""
        self._looks = 0
        connection.set_progress_handler(self._look, _STEPS)

    def _look(self) -> bool:
        """Whether a query is to end: pages that are named again and again hold more rows than can ever be read."""
        self._looks += 1
        return self._looks > 10 + self._size * _STEPS_A_BYTE // _STEPS

    def columns(self, table: str) -> frozenset[str]:
        """The columns of a table; none where there is no such table. What is computed (a view, a virtual table) is
        none: whoever made the file would say for how long."""
        rows = self._rows("SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = ?", (table,))
        if not any(row["rootpage"] for row in rows):
            return frozenset()
        return frozenset(str(row["name"]) for row in self._rows(f'PRAGMA table_info("{table}")', ()))

    def rows(
        self, table: str, columns: tuple[str, ...], *, where: str = "", value: str | None = None, order: str = "rowid"
    ) -> Iterator[dict[str, Any]]:
        """The rows of a table, ordered by a column, those columns of it that are there (the others are None); with
        `where`, only those in which that column is the value. Raises ForeignUnreadable."""
        there = self.columns(table)
        if not there or (where and where not in there):
            return
        chosen = ", ".join(f'"{name}"' for name in columns if name in there) or "NULL"
        condition = f' WHERE "{where}" = ?' if where else ""
        by = f'"{order}", rowid' if order in there else "rowid"
        query = f'SELECT {chosen} FROM "{table}"{condition} ORDER BY {by}'  # noqa: S608 - our own names
        for row in self._rows(query, (value,) if where else ()):
            yield {**dict.fromkeys(columns), **row}

    def _rows(self, query: str, values: tuple[str | None, ...]) -> Iterator[dict[str, Any]]:
        self._looks = 0
        try:
            cursor = self._connection.execute(query, values)
            names = [column[0] for column in cursor.description or ()]
            for count, row in enumerate(cursor):
                if count > self._size:
                    raise ForeignUnreadable("The database cannot be read: it has more rows than there is room for.")
                yield dict(zip(names, row, strict=True))
        except sqlite3.Error as error:
            raise ForeignUnreadable(f"The database cannot be read: {show_line(str(error), 200)}.") from error


@contextmanager
def opened_foreign(path: Path) -> Iterator[ForeignDatabase]:
    """The database at `path`. Blocking. Raises ForeignUnreadable."""
    copy: PrivateCopy | None = None
    try:
        # The archive itself, if it is open in this process, is refused by this.
        path.open("rb").close()
    except OSError as error:
        raise ForeignUnreadable(f"{show_line(str(path), 500)} cannot be read: {error.strerror}.") from error
    try:
        copy = None if is_at_rest(path) else copy_privately(path)
    except ArchiveUnavailable as error:
        raise ForeignUnreadable(
            f"{show_line(str(path), 500)} is in use, and no copy of it can be made to read.", "End what writes it."
        ) from error
    try:
        # The copy is ours: its log is taken into account, and what SQLite makes beside it goes with it.
        uri = f"file:{quote(str(path if copy is None else copy.path))}?mode=ro{'&immutable=1' if copy is None else ''}"
        try:
            connection = sqlite3.connect(uri, uri=True)
        except sqlite3.Error as error:
            raise ForeignUnreadable(f"{show_line(str(path), 500)} cannot be opened: {error}.") from error
        try:
            connection.text_factory = lambda data: data.decode("utf-8", "replace")
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA query_only = ON")
            yield ForeignDatabase(connection, _size(connection))
        finally:
            connection.close()
    finally:
        if copy is not None:
            copy.remove()


def _size(connection: sqlite3.Connection) -> int:
    """Bytes. Raises ForeignUnreadable."""
    try:
        (pages,), (each,) = (connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    except sqlite3.Error as error:
        raise ForeignUnreadable(f"The database cannot be read: {show_line(str(error), 200)}.") from error
    return int(pages) * int(each)
