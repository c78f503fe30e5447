"""Several statements that happen together."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from loom.archive.database import WRITING_PATIENCE, ArchiveConnection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Everything inside, or nothing. For functions that run in one hop: no task may be cancelled in here.

    Raises sqlite3.Error, and as `in_turn` does.
    """
    with in_turn(connection, WRITING_PATIENCE):
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            # Some errors (a full disk) have rolled back already.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def in_turn(connection: sqlite3.Connection, patience: float) -> AbstractContextManager[None]:
    """While it lasts nobody else writes the archive, if the connection is one to an archive that others may write.
    Waits at most `patience` seconds for its turn.

    Raises as `ArchiveConnection.writing` does.
    """
    return connection.writing(patience) if isinstance(connection, ArchiveConnection) else nullcontext()
