"""What the browsing screens need of the archive. `loom.archive.ConversationStore` is all of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypedDict

from loom.archive.errors import ArchiveDamaged
from loom.archive.leases import Holder
from loom.archive.records import Role, SearchHit, SearchPage, Session, Turn


class Within(TypedDict):
    """How a reader is told where to look."""

    session_id: str | None
    workspace: str | None


class SessionReader(Protocol):
    """The list of sessions, and what a person may do to its entries."""

    async def list_sessions(self, workspace: str | None = None, *, limit: int = 50) -> list[Session]:
        """Newest first; of every workspace if None. Sessions that were deleted are not in it."""

    async def get_lease_holders(self) -> dict[str, Holder]:
        """Who else has which session open, by the session's id."""

    async def rename_session(self, session_id: str, title: str) -> None: ...

    async def delete_session(self, session_id: str) -> None:
        """Take it off the list; its turns stay."""

    async def restore_session(self, session_id: str) -> None:
        """Put a deleted session back on the list."""


class SearchReader(Protocol):
    """Search over turns, and the turns themselves."""

    async def search(
        self,
        query: str,
        *,
        session_id: str | None = None,
        workspace: str | None = None,
        at_hand: str | None = None,
        limit: int = 20,
        roles: Sequence[Role] | None = None,
        tools: Sequence[str] | None = None,
        after: str | None = None,
        patience: float = 0.0,
    ) -> SearchPage:
        """Ranked; of one session, one workspace or everything. Of a turn that forks have in common the one of the
        session `at_hand` is given. `after` is an ISO 8601 time in UTC; `patience` the seconds that it may wait for an
        index that is far behind."""

    async def find_tools(self, *, session_id: str | None = None, workspace: str | None = None) -> tuple[str, ...]:
        """The tools that have results there, those used most first."""

    async def find_files(
        self, fragment: str, *, session_id: str | None = None, workspace: str | None = None, limit: int = 20
    ) -> tuple[str, ...]:
        """Paths that occur there and have the fragment, the likeliest first."""

    async def list_sessions(self, workspace: str | None = None, *, limit: int = 50) -> list[Session]:
        """Newest first; of every workspace if None."""

    async def nearest_words(
        self, query: str, *, session_id: str | None = None, workspace: str | None = None, limit: int = 5
    ) -> tuple[str, ...]:
        """Words that are there and spelt nearly like those of the query."""

    async def get_range(self, session_id: str, first: int, last: int) -> list[Turn]:
        """Turns `first` to `last`, both included, ascending; fewer where there are fewer."""

    async def get_turns_around(self, session_id: str, turn_number: int) -> list[Turn]:
        """The turn with one on either side, ascending: of what was said, what was said before and after it."""


async def turns_near(reader: SearchReader, hit: SearchHit) -> list[Turn]:
    """The turn of a hit with its neighbours; alone where one of those is damaged."""
    number = hit.turn_number
    try:
        return await reader.get_turns_around(hit.session_id, number)
    except ArchiveDamaged:
        return await reader.get_range(hit.session_id, number, number)


async def still_there(reader: SearchReader, hits: Sequence[SearchHit]) -> tuple[SearchHit, ...]:
    """The hits without those that were purged since they were found: they must not come back in a file."""
    turns = [await reader.get_range(hit.session_id, hit.turn_number, hit.turn_number) for hit in hits]
    return tuple(hit for hit, found in zip(hits, turns, strict=True) if found)
