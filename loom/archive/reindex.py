"""Makes the full-text index anew from the turns, or as far as they go, while a person waits."""

from __future__ import annotations

import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path

from loom.archive.chains import Progress
from loom.archive.checkpoints import move_if_long
from loom.archive.database import connect
from loom.archive.faults import unwritable, unwritable_beside
from loom.archive.logs import Log


def catch_up(path: Path, progress: Progress = lambda what, done, total: None) -> None:
    """Index the turns that wait for it, as `reindex` does, for a person who stored many at once and wants to find them.
    Raises ArchiveError."""
    from loom.archive.search.claim import Claim
    from loom.archive.search.index import index_batch, newest_turn, watermark

    log, claim = Log(path), Claim(path)
    with closing(connect(path)) as connection, closing(log), ExitStack() as stack:
        stack.callback(claim.free)
        try:
            claim.take_at_once()
            total = newest_turn(connection)
            while (watermark(connection) or 0) < total and index_batch(connection):
                move_if_long(connection, log)
                progress("indexing", min(watermark(connection) or 0, total), total)
        except sqlite3.Error as error:
            raise unwritable(error, path) from error
        except OSError as error:
            raise unwritable_beside(error, path) from error


def reindex(path: Path, progress: Progress = lambda what, done, total: None) -> int:
    """Throw the index of the archive at `path` away and make it again; gives how many turns there were to read.

    Other processes may go on meanwhile: what is not indexed yet is found by scanning. Cut off, it is gone on with by
    the next loom. Raises ArchiveError.
    """
    from loom.archive.search.claim import Claim
    from loom.archive.search.index import index_batch, newest_turn, rebuild, watermark
    from loom.archive.search.merging import merge_some, scattered

    log, claim = Log(path), Claim(path)
    with closing(connect(path)) as connection, closing(log), ExitStack() as stack:
        stack.callback(claim.free)
        try:
            # Who has it indexes the same turns meanwhile: nobody who waits for this need wait for that one's end.
            claim.take_at_once()
            total = newest_turn(connection)
            rebuild(connection)
            while index_batch(connection):
                move_if_long(connection, log)
                progress("indexing", min(watermark(connection) or 0, total), total)
            for merge in scattered(connection):
                while merge_some(connection, merge):
                    move_if_long(connection, log)
                    progress("putting the index in order", 0, 0)
            (turns,) = connection.execute("SELECT count(*) FROM conversation_turns").fetchone()
        except sqlite3.Error as error:
            raise unwritable(error, path) from error
        except OSError as error:
            raise unwritable_beside(error, path) from error
    return int(turns)
