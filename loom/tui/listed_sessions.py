"""The sessions of a list: how they are read, and which of them a filter lets through."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from loom.archive.records import Session
from loom.tui.readers import SessionReader

FIRST_PAGE = 100
"""Sessions asked for before anything is drawn; the rest follows."""
ALL_SESSIONS = 1_000_000


class ListedSessions:
    """Sessions, newest first. `complete` is False while there may be more of them than these."""

    def __init__(self, sessions: Sequence[Session] = (), *, complete: bool = True) -> None:
        self.all = tuple(sessions)
        self.complete = complete
        self._texts = [_text(session) for session in sessions]

    def having(self, wanted: str) -> list[Session]:
        """Those that have every word that is wanted, whatever its case: the one that goes by it as its reference, then
        the others, newest first."""
        words = wanted.casefold().split()
        found = [
            session for session, text in zip(self.all, self._texts, strict=True) if all(word in text for word in words)
        ]
        return sorted(found, key=lambda session: [session.reference] != words)

    @property
    def folders(self) -> set[str]:
        """The folders that they were begun in."""
        return {session.workspace_path for session in self.all}


async def read_listed(reader: SessionReader, workspace: str | None) -> AsyncIterator[ListedSessions]:
    """The first page, then all of them where there are more; of every workspace if None. Raises what the archive
    raises."""
    page = await reader.list_sessions(workspace, limit=FIRST_PAGE)
    complete = len(page) < FIRST_PAGE
    yield ListedSessions(page, complete=complete)
    if not complete:
        yield ListedSessions(await reader.list_sessions(workspace, limit=ALL_SESSIONS))


def _text(session: Session) -> str:
    """What the filter looks at."""
    fields = (session.title, session.reference, session.focus, session.model_name, session.workspace_path)
    return "\n".join((*fields, *(f"#{tag}" for tag in session.tags))).casefold()
