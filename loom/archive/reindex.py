"""Makes the full-text index anew from the turns, while a person waits."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from loom.archive.chains import Progress
from loom.archive.database import connect
from loom.archive.faults import unwritable


def reindex(path: Path, progress: Progress = lambda what, done, total: None) -> int:
    """Throw the index of the archive at `path` away and make it again; gives how many turns there were to read.

    Other processes may go on meanwhile: what is not indexed yet is found by scanning. Raises ArchiveError.
    """
    from loom.archive.search.index import index_batch, rebuild, watermark

    with closing(connect(path)) as connection:
        try:
            (total,) = connection.execute("SELECT coalesce(max(id), 0) FROM conversation_turns").fetchone()
            rebuild(connection)
            while index_batch(connection):
                progress("indexing", min(watermark(connection) or 0, total), total)
            (turns,) = connection.execute("SELECT count(*) FROM conversation_turns").fetchone()
        except sqlite3.Error as error:
            raise unwritable(error, path) from error
    return int(turns)
