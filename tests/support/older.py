"""Archives as earlier versions of loom left them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from loom.archive.database import connect
from loom.archive.digests import DIGESTED, GENESIS, digest
from loom.archive.migrations import MIGRATIONS, prepare

Said = tuple[int, str, str, int]
"""Exchange, role, text and tokens of a turn."""


def make_older(path: Path, version: int, sessions: dict[str, Iterable[Said]]) -> None:
    """An archive of an older version at `path`, with the turns of each session by its id (which is its reference)."""
    prepare(path, MIGRATIONS[:version])
    marks = ", ".join("?" * (len(DIGESTED) + 2))
    insert = f"INSERT INTO conversation_turns (session_id, {', '.join(DIGESTED)}, digest) VALUES ({marks})"
    moment = "2026-01-01T00:00:00.000000Z"
    with closing(connect(path)) as connection:
        connection.execute("BEGIN")
        for session, turns in sessions.items():
            connection.execute(
                "INSERT INTO cowork_sessions (id, reference, workspace_path, model_name, started_at, last_active_at)"
                " VALUES (?, ?, '/w', 'm', ?, ?)",
                (session, session, moment, moment),
            )
            chained = GENESIS
            for number, (exchange, role, text, tokens) in enumerate(turns, 1):
                columns = (number, exchange, role, "text", "complete", text, *[None] * 3, tokens, *[None] * 4, moment)
                chained = digest(chained, columns)
                connection.execute(insert, (session, *columns, chained))
        connection.execute("COMMIT")
