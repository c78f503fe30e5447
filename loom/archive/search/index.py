"""Keeping the full-text index: made when missing, filled in small batches, exact through its watermark."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from heapq import merge
from importlib.resources import files
from itertools import groupby, islice, zip_longest

from loom.archive.errors import ArchiveUnavailable
from loom.archive.faults import is_damage
from loom.archive.forgiving import forgiving
from loom.archive.migrations import statements
from loom.archive.search import sketches
from loom.archive.search.document import (
    COLUMNS,
    FINDABLE,
    PART_MARK,
    Entry,
    FoundBy,
    TurnRow,
    entry_of,
    key_of,
    place_of,
)
from loom.archive.search.marks import ROLES, SAID, role_facet
from loom.archive.search.words import without_lines
from loom.archive.transactions import transaction

VERSION = 15
"""Raised whenever words.py, stems.py, marks.py, document.py, meaning.py, vectors.py, sketches.py or the vectors
themselves give something else: the index is then made anew."""

BATCH_TURNS = 32
BATCH_CHARACTERS = 50_000
"""A batch ends at either limit, so that appends wait some 2 ms for it (with 128 turns it was 10). Larger
ones make the index no sooner."""
COPY_KIB = 16_384
"""So much of the copy in which an index is looked over is in memory at most."""
SORTED_AT_ONCE = 8_192
"""Terms. One call that sorts 290,000 of them, the numbers in an output of 2 MB, keeps all other threads waiting, the
screen's too, for 0.3 s; this many take 9 ms."""

_TABLES = (
    "search_terms",
    "search_name_pieces",
    "search_names",
    "search_marks",
    "search_sketches",
    "search_sessions",
    "search_progress",
)
_PROGRESS = (
    "CREATE TABLE IF NOT EXISTS search_progress"
    " (id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL, watermark INTEGER NOT NULL) STRICT"
)
_ROWS_AT_ONCE = {
    "search_terms_data": 32,
    "search_name_pieces_data": 32,
    "search_marks": 2_000,
    "search_sketches": 32,
    "search_names": 500,
}
"""What the index's pages are in, and how many rows of it are deleted (and overwritten) at once."""
_HEAD_ROWS = 10
"""Without these rows of its data FTS5 cannot open a table, not even to drop it."""
_NEXT = f"SELECT {COLUMNS} FROM conversation_turns WHERE id > ? ORDER BY id"  # noqa: S608
_AT = f"SELECT {COLUMNS} FROM conversation_turns WHERE id = ?"  # noqa: S608
_FINDABLE_IDS = f"SELECT id FROM conversation_turns WHERE id IN (SELECT value FROM json_each(?)) AND {FINDABLE}"  # noqa: S608


Columns = tuple[str, str, str, str]
"""`words`, `parts`, `names` and `facets` of `search_terms`."""


def index_schema() -> str:
    """The SQL that makes the index's tables where they are missing."""
    return files("loom.archive.search").joinpath("schema.sql").read_text("utf-8")


def prepare(connection: sqlite3.Connection) -> None:
    """Makes the tables where any is missing, and makes all of them anew where they are of another version."""
    if watermark(connection) is None:
        rebuild(connection, only_missing=True)


def rebuild(connection: sqlite3.Connection, *, only_missing: bool = False) -> None:
    """Makes the tables anew, empty; `index_batch` fills them. With `only_missing` not if there is an index.

    A large index goes in small steps, each of them a transaction: appends wait for none longer than for a batch.
    Until the last one the index counts as missing: it has our version with a minus. Another process may do the same at
    the same time.
    """
    with transaction(connection):
        if only_missing and watermark(connection) is not None:
            return  # somebody else was quicker
        connection.execute(_PROGRESS)
        connection.execute("INSERT OR REPLACE INTO search_progress VALUES (1, ?, 0)", (-VERSION,))
    try:
        while _take_away_some(connection):
            pass
    except sqlite3.DatabaseError as error:
        # What is damaged cannot be emptied, but dropped.
        if isinstance(error, sqlite3.OperationalError):
            raise
    with transaction(connection):
        if not _is_going(connection):
            return
        for table in _TABLES:
            connection.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in statements(index_schema()):
            connection.execute(statement)
        connection.execute("INSERT INTO search_progress VALUES (1, ?, 0)", (VERSION,))


def _take_away_some(connection: sqlite3.Connection) -> bool:
    """Deletes a few rows of what the index is kept in; False if none is left, or somebody else has made it anew."""
    with transaction(connection):
        if not _is_going(connection):
            return False
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE name GLOB 'search_*'")}
        for table, rows in _ROWS_AT_ONCE.items():
            if table not in tables:
                continue
            deleted = connection.execute(
                f"DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM {table} WHERE rowid > ? LIMIT ?)",  # noqa: S608
                (_HEAD_ROWS if table.endswith("_data") else -1, rows),
            )
            if deleted.rowcount:
                return True
    return False


def _is_going(connection: sqlite3.Connection) -> bool:
    row = connection.execute("SELECT version FROM search_progress WHERE id = 1").fetchone()
    return row is not None and bool(row[0] == -VERSION)


def is_others(connection: sqlite3.Connection) -> bool:
    """Whether a loom of another version has made the index as it needs it, or is about to."""
    try:
        row = connection.execute("SELECT version FROM search_progress WHERE id = 1").fetchone()
    except sqlite3.OperationalError:
        return False
    return row is not None and abs(row[0]) not in (0, VERSION)


def watermark(connection: sqlite3.Connection) -> int | None:
    """The id of the last turn that is in the index; None if the index is missing, in part or of another version."""
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE name GLOB 'search_*'")}
    if not tables.issuperset(_TABLES):
        return None
    row = connection.execute("SELECT version, watermark FROM search_progress WHERE id = 1").fetchone()
    return None if row is None or row[0] != VERSION else int(row[1])


def is_outdated(connection: sqlite3.Connection) -> bool:
    """Whether something is left of an index that counts as missing: it has words, and none can be taken out."""
    left = connection.execute("SELECT 1 FROM sqlite_schema WHERE name GLOB 'search_*'").fetchone() is not None
    return left and watermark(connection) is None


def newest_turn(connection: sqlite3.Connection) -> int:
    """The greatest id of a turn; 0 if there is none."""
    return int(connection.execute("SELECT coalesce(max(id), 0) FROM conversation_turns").fetchone()[0])


def is_sound(connection: sqlite3.Connection) -> bool:
    """Whether the index holds together; SQLite reads a damaged one as an empty one, without an error. Only reads, all
    of it at one moment. Takes long for a large index, and as much room as it has in the folder for temporary files. One
    that is missing is sound: it will be made. Raises ArchiveUnavailable without that room: then nobody knows."""
    own = not connection.in_transaction
    if own:
        connection.execute("BEGIN")
    try:
        if watermark(connection) is None:
            return True
        for table in ("search_terms", "search_name_pieces"):
            _look_over(connection, table)
        return _agrees(connection)
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0)
        if code in _NO_ROOM or code & 0xFF in _NO_ROOM:
            raise ArchiveUnavailable(
                f"The full-text index was not looked over: there is no room for a copy of it ({error}).",
                "Make room in the folder for temporary files, or name another in SQLITE_TMPDIR.",
            ) from error
        return False
    finally:
        if own:
            connection.execute("ROLLBACK")


_NO_ROOM = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR_WRITE})
"""What only the copy can meet: the archive itself is read, and open already."""


def _look_over(connection: sqlite3.Connection, table: str) -> None:
    """Let SQLite check a full-text table. That is a statement that writes, though it changes nothing, and appends would
    wait for it: it is done in a copy of the table's rows, in a file of SQLite's own that has no name from its beginning
    on (https://www.sqlite.org/inmemorydb.html). Raises sqlite3.DatabaseError."""
    with closing(sqlite3.connect("", isolation_level=None)) as copy:
        copy.execute(f"PRAGMA cache_size = -{COPY_KIB}")
        # Nobody goes back in it, and it ends with this.
        copy.execute("PRAGMA journal_mode = OFF")
        copy.execute("BEGIN")
        for statement in statements(index_schema()):
            if f"VIRTUAL TABLE IF NOT EXISTS {table} " in statement:
                copy.execute(statement)
        for part in ("config", "data", "idx"):
            copy.execute(f"DELETE FROM {table}_{part}")  # noqa: S608 - a constant name
            rows = connection.execute(f"SELECT * FROM {table}_{part}")  # noqa: S608
            marks = ", ".join("?" * len(rows.description))
            copy.executemany(f"INSERT INTO {table}_{part} VALUES ({marks})", rows)  # noqa: S608
        copy.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")  # noqa: S608


def _agrees(connection: sqlite3.Connection) -> bool:
    """Whether each turn in the index is everywhere that it should be, once."""
    (marked,) = connection.execute("SELECT count(*) FROM search_marks").fetchone()
    (counted,) = connection.execute("SELECT coalesce(sum(turns), 0) FROM search_sessions").fetchone()
    roles = " OR ".join(f'"{role_facet(role)}"' for role in ROLES)
    (held,) = connection.execute(
        "SELECT count(*) FROM search_terms WHERE search_terms MATCH ?", (f"facets : ({roles})",)
    ).fetchone()
    said = connection.execute(f"SELECT place FROM search_marks WHERE marks & {SAID} ORDER BY place")  # noqa: S608
    pairs = zip_longest((row[0] for row in said), sketches.places(connection))
    return bool(marked == counted == held) and all(place == sketched for place, sketched in pairs)


def index_batch(connection: sqlite3.Connection) -> bool:
    """Indexes the next few turns; False when there were none.

    Reading and taking apart happen before the write lock is asked for. Another process may have done the same
    batch meanwhile: then nothing is written, and the next call goes on from its watermark. Turns on a damaged page are
    passed over: they must not keep all behind them from being found.
    """
    prepare(connection)
    start = watermark(connection) or 0
    rows, end = forgiving(connection, lambda: _next_rows(connection, start))
    if end == start:
        return False
    findable = {row[0] for row in connection.execute(_FINDABLE_IDS, (json.dumps([row.id for row in rows]),))}
    ready = []
    for row in rows:
        if row.id in findable:
            entry = entry_of(row, 0)
            if entry is not None:
                ready.append(_Ready(row, entry, columns_of(entry)))
            # Gives the interpreter to an append that waits for it, which would else get it after 5 ms.
            time.sleep(0)
    with transaction(connection):
        if watermark(connection) == start:
            _write(connection, ready)
            connection.execute("UPDATE search_progress SET watermark = ? WHERE id = 1", (end,))
    return True


def _next_rows(connection: sqlite3.Connection, start: int) -> tuple[list[TurnRow], int]:
    """The next turns behind an id, and up to which id these are all that can be read."""
    rows: list[TurnRow] = []
    characters = 0
    try:
        for values in connection.execute(_NEXT, (start,)):
            row = TurnRow(*values)
            rows.append(row)
            characters += len(row.content or "") + len(row.tool_calls or "")
            if len(rows) >= BATCH_TURNS or characters >= BATCH_CHARACTERS:
                break
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        if not rows:
            return _past_damage(connection, start)
    return rows, rows[-1].id if rows else start


def _past_damage(connection: sqlite3.Connection, start: int) -> tuple[list[TurnRow], int]:
    """The first turn behind an id that can be read, and its id; without one, the newest id."""
    newest = newest_turn(connection)
    for row_id in range(start + 1, newest + 1):
        try:
            values = connection.execute(_AT, (row_id,)).fetchone()
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            continue
        if values is not None:
            return [TurnRow(*values)], row_id
    return [], newest


@dataclass(frozen=True, slots=True)
class _Ready:
    """A turn that only has to be written."""

    row: TurnRow
    entry: Entry
    columns: Columns


def _write(connection: sqlite3.Connection, turns: list[_Ready]) -> None:
    keys: dict[str, int] = {}
    placed: list[tuple[int, _Ready]] = []
    for ready in turns:
        row, entry = ready.row, ready.entry
        # A purge may have taken the turn since it was read: its words must not come back.
        if connection.execute("SELECT 1 FROM conversation_turns WHERE id = ?", (row.id,)).fetchone() is None:
            continue
        if row.session_id not in keys:
            keys[row.session_id] = _key(connection, row.session_id)
        placed.append((place_of(keys[row.session_id], row.turn_number), ready))
        connection.execute(
            "UPDATE search_sessions SET turns = turns + 1, characters = characters + ? WHERE key = ?",
            (entry.characters, keys[row.session_id]),
        )
    placed.sort(key=lambda item: item[0])  # FTS5 writes a segment early when a rowid goes back
    for place, ready in placed:
        entry = ready.entry
        connection.execute(
            "INSERT INTO search_marks VALUES (?, ?, ?, ?)", (place, entry.at, entry.characters, entry.marks)
        )
        connection.execute(
            "INSERT INTO search_terms (rowid, words, parts, names, facets) VALUES (?, ?, ?, ?, ?)",
            (place, *ready.columns),
        )
        for name in without_lines(entry.terms.names):
            _add_name(connection, name)
    said = [(place, ready.entry.sketch) for place, ready in placed if ready.entry.sketch is not None]
    for _, turns_of_session in groupby(said, key=lambda turn: key_of(turn[0])):
        sketches.keep(connection, list(turns_of_session))


def _key(connection: sqlite3.Connection, session_id: str) -> int:
    connection.execute("INSERT OR IGNORE INTO search_sessions (session_id) VALUES (?)", (session_id,))
    row = connection.execute("SELECT key FROM search_sessions WHERE session_id = ?", (session_id,)).fetchone()
    return int(row[0])


def columns_of(found_by: FoundBy) -> Columns:
    """What is stored of a turn in `search_terms`, and has to be given again for it to be taken out."""
    terms = found_by.terms
    parts = (PART_MARK + part for part in terms.parts)
    return _column(terms.words), _column(parts), _column(terms.names), _column(found_by.facets)


def _column(terms: Iterable[str]) -> str:
    """The terms in order, no more than SORTED_AT_ONCE of them sorted, joined or let go of in one call."""
    unsorted = iter(terms)
    # An iterator lets its list go when it comes to the end.
    runs = map(iter, iter(lambda: sorted(islice(unsorted, SORTED_AT_ONCE)), []))
    merged = merge(*runs)
    return " ".join(iter(lambda: " ".join(islice(merged, SORTED_AT_ONCE)), ""))


def _add_name(connection: sqlite3.Connection, name: str) -> None:
    added = connection.execute("INSERT OR IGNORE INTO search_names (name) VALUES (?)", (name,))
    if added.rowcount:
        connection.execute("INSERT INTO search_name_pieces (rowid, name) VALUES (?, ?)", (added.lastrowid, name))
