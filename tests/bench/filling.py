"""Fills an archive quickly, with turns as the product would have written them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from loom.archive import NewTurn
from loom.archive.appends import MAX_ROWS, Appender
from loom.archive.checkpoints import checkpoint
from loom.archive.database import connect

TEXT = "a line of about sixty characters, as people and models write\n"
_CHECKPOINT_EVERY = 40
"""Statements."""


def fill(path: Path, session: str, turns: int, size: int = 1_000, together: int = MAX_ROWS) -> None:
    """Append so many turns of `size` characters to the session, without waiting for the disk between them; `together`
    turns are one append and one exchange."""
    text = (TEXT * (size // len(TEXT) + 1))[:size]
    appender = Appender()
    with closing(connect(path)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        for place, start in enumerate(range(0, turns, together), 1):
            rows = range(min(together, turns - start))
            batch = [NewTurn(role="user" if n % 4 == 0 else "assistant", content=text) for n in rows]
            appender.append(connection, session, batch, None)
            if place % _CHECKPOINT_EVERY == 0:
                checkpoint(connection)
        checkpoint(connection)
