"""The half of the archive's face that changes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from loom.archive import drafts, manifests, reading, sessions
from loom.archive.access import Access
from loom.archive.errors import ArchiveError, ArchiveUnavailable
from loom.archive.finder import PATIENCE, Finder
from loom.archive.leases import Holder, Leases
from loom.archive.records import (
    Draft,
    ExchangeSize,
    Manifest,
    RequestLine,
    Revision,
    Role,
    SearchHit,
    SearchPage,
    Session,
    SessionDetail,
    Turn,
)
from loom.archive.resolve import find_half_purged, resolve
from loom.archive.workspaces import Workspace, identify
from loom.turn_numbers import Ranges

if TYPE_CHECKING:
    # All of search: not needed to paint.
    from loom.archive.search.revisions import Reading


class ArchiveReader:
    """Reads conversations. Raises ArchiveUnavailable or ArchiveDamaged when that cannot be done."""

    def __init__(self) -> None:
        self._place("")
        self._workspaces: dict[str, Workspace] = {}

    def _place(self, place: Path | str) -> None:
        path = Path(place).absolute()
        self._leases = Leases(path.parent / "leases")
        self._finder = Finder(path)
        self._access = Access(path, self._finder.at_rest)

    @property
    def path(self) -> Path:
        return self._access.path

    @property
    def readonly(self) -> bool:
        """True when nothing can be written through this store."""
        return self._access.readonly

    def tell_of_files(self, tell: Callable[[ArchiveError], None]) -> None:
        """`tell` is called, on the event loop, when files of the archive lost their names while they were open: that
        nothing is lost, or what to do."""
        self._access.tell = tell

    # Sessions

    async def get_session(self, session_id: str) -> SessionDetail | None:
        """The session, hidden or not, with its system prompt and state; None if there is none."""
        return await self._access.read(lambda c: sessions.get_session(c, session_id))

    async def list_sessions(
        self,
        workspace: Path | str | None = None,
        *,
        limit: int = 200,
        offset: int = 0,
        include_inactive: bool = False,
    ) -> list[Session]:
        """The sessions of a workspace (of everywhere if None), newest activity first.

        A workspace is known by its path and by the root commit of its git history.
        """
        place = None if workspace is None else await self._identify(workspace)
        return await self._access.read(
            lambda c: sessions.list_sessions(c, place, limit=limit, offset=offset, include_inactive=include_inactive)
        )

    async def resolve_reference(self, reference: str, workspace: Path | str | None = None) -> Session:
        """The session meant by a place in the list (0 is the newest), a reference, an id, or the unique beginning of
        either. Raises UnknownReference or AmbiguousReference, which names the choices."""
        place = None if workspace is None else await self._identify(workspace)
        return await self._access.read(lambda c: resolve(c, reference, place))

    async def find_half_purged(self, reference: str) -> Session | None:
        """The session of this reference or id that is being purged, or whose purge was cut off: nothing else finds it.
        None if there is none."""
        return await self._access.read(lambda c: find_half_purged(c, reference))

    async def is_of_workspace(self, session: Session, workspace: Path | str) -> bool:
        """Whether the list of the workspace's sessions has this one."""
        place = await self._identify(workspace)
        return place.has(session.workspace_path, session.workspace_commit)

    async def get_lease_holder(self, session_id: str) -> Holder | None:
        """Who else has the session open; None if nobody does, or this store."""
        try:
            return await asyncio.to_thread(self._leases.holder, session_id)
        except OSError as error:
            raise ArchiveUnavailable(f"The leases beside {self.path} cannot be read: {error.strerror}.") from error

    async def get_lease_holders(self) -> dict[str, Holder]:
        """Who else has which session open, by the session's id; costs nothing for those that are closed."""
        try:
            return await asyncio.to_thread(self._leases.holders)
        except OSError as error:
            raise ArchiveUnavailable(f"The leases beside {self.path} cannot be read: {error.strerror}.") from error

    # Turns

    async def get_turns(self, session_id: str, offset: int = 0, limit: int = 50) -> list[Turn]:
        """At most `limit` turns, oldest first, leaving out the first `offset`. Numbers have no gaps, so a large
        offset costs no more than a small one."""
        return await self._access.read(lambda c: reading.turns_after(c, session_id, offset, limit))

    async def get_turn(self, session_id: str, turn_number: int) -> Turn | None:
        """One turn; None if there is none."""
        found = await self.get_range(session_id, turn_number, turn_number)
        return found[0] if found else None

    async def get_range(self, session_id: str, first: int, last: int) -> list[Turn]:
        """The turns from `first` to `last`, both included, ascending."""
        return await self._access.read(lambda c: reading.turn_range(c, session_id, first, last))

    async def get_turns_around(self, session_id: str, turn_number: int) -> list[Turn]:
        """A turn with one on either side, ascending: with what was said before and after it if it is something that
        was said, whatever was done in between; otherwise with the turns next to it."""
        return await self._access.read(lambda c: reading.turns_around(c, session_id, turn_number))

    async def get_exchanges(self, session_id: str, first: int, last: int) -> list[Turn]:
        """The turns of the exchanges from `first` to `last`, both included, ascending."""
        return await self._access.read(lambda c: reading.exchange_range(c, session_id, first, last))

    async def get_turns_before(self, session_id: str, turn_number: int | None, limit: int) -> list[Turn]:
        """The newest `limit` turns before `turn_number` (of all if None), ascending."""
        return await self._access.read(lambda c: reading.turns_before(c, session_id, turn_number, limit))

    async def get_window_marks(self, session_id: str, limit: int = 100, *, before: int | None = None) -> list[Turn]:
        """The newest turns before turn `before` (of all if None) that moved the window's beginning: receipts,
        summaries, clearings, rewindings; newest first."""
        return await self._access.read(lambda c: reading.window_marks(c, session_id, limit, before))

    async def get_rewound(self, session_id: str) -> Ranges:
        """The turns of a session that the person rewound past."""
        return await self._access.read(lambda c: reading.rewound_in(c, session_id))

    async def get_exchange_sizes(
        self, session_id: str, before: int | None = None, limit: int = 100
    ) -> list[ExchangeSize]:
        """The newest `limit` exchanges before exchange `before` (of all if None), newest first."""
        return await self._access.read(lambda c: reading.exchange_sizes(c, session_id, before, limit))

    async def find_tool_turns(self, session_id: str, tool_name: str, limit: int = 10) -> list[Turn]:
        """The newest `limit` results of a tool, newest first."""
        return await self._access.read(lambda c: reading.tool_turns(c, session_id, tool_name, limit))

    async def find_call(self, session_id: str, tool_call_id: str, *, before: int | None = None) -> Turn | None:
        """The newest assistant turn before turn `before` (of all if None) that asked for a call of this id; None if
        there is none. The one before its result is the call's own: some local servers give ids again."""
        return await self._access.read(lambda c: reading.asking_turn(c, session_id, tool_call_id, before))

    async def get_turn_count(self, session_id: str) -> int:
        """How many turns the session has; 0 for an unknown one."""
        return await self._access.read(lambda c: reading.turn_count(c, session_id))

    async def has_key(self, session_id: str, beginning: str) -> bool:
        """Whether a turn of the session was stored under an `append_key` that begins so."""
        return await self._access.read(lambda c: reading.has_key(c, session_id, beginning))

    # Search

    async def search_turns(
        self,
        session_id: str,
        query: str,
        limit: int = 10,
        *,
        roles: Sequence[Role] | None = None,
        tools: Sequence[str] | None = None,
        before: str | None = None,
        after: str | None = None,
    ) -> list[SearchHit]:
        """The turns of one session that match best, best first. See `search`."""
        page = await self.search(
            query, session_id=session_id, limit=limit, roles=roles, tools=tools, before=before, after=after
        )
        return list(page.hits)

    async def search(
        self,
        query: str,
        *,
        session_id: str | None = None,
        workspace: Path | str | None = None,
        at_hand: str | None = None,
        limit: int = 10,
        roles: Sequence[Role] | None = None,
        tools: Sequence[str] | None = None,
        before: str | None = None,
        after: str | None = None,
        asked: bool = False,
        patience: float = PATIENCE,
    ) -> SearchPage:
        """The turns that match best in a session, a workspace or everything, best first; everything that was stored
        before the call is searched. `before` and `after` are moments in ISO 8601.

        A question also finds what says the same in other words; with `asked`, so does a query in keywords, as a model
        writes them.

        Where more than some thousand turns wait for the index (very many were stored at once, or it is made anew), it
        is waited for it, if that is likely to take no more than `patience` seconds; otherwise the newest of them are
        searched, and the page counts the others.

        A turn that forks have in common is found once: in the session `at_hand`, if it has it, else where it was
        stored first; its `also_in` names the others. Turns of deleted sessions are not found, but for those of the
        session `at_hand` where it alone is searched: another loom may have deleted it while it goes on.
        """
        place = None if workspace is None else await self._identify(workspace)
        return await self._finder.search(
            query,
            session_id=session_id,
            workspace=place,
            at_hand=at_hand,
            limit=limit,
            roles=roles,
            tools=tools,
            before=before,
            after=after,
            asked=asked,
            patience=patience,
        )

    async def find_revisions(
        self,
        hits: Sequence[SearchHit],
        query: str,
        reading: Reading,
        *,
        session_id: str | None = None,
        workspace: Path | str | None = None,
        at_hand: str | None = None,
    ) -> dict[tuple[str, int], Revision]:
        """For the best of the hits of a query: the newest later message of the user's, in the same scope, that takes
        back what the hit says, by the hit's session and turn."""
        from loom.archive.search.revisions import revisions_of  # imports all of search

        place = None if workspace is None else await self._identify(workspace)
        found = tuple(hits)
        return await self._finder.ask(
            lambda c, tails: revisions_of(
                c, tails, found, query, reading, session_id=session_id, workspace=place, at_hand=at_hand
            )
        )

    async def nearest_words(
        self, query: str, *, session_id: str | None = None, workspace: Path | str | None = None, limit: int = 5
    ) -> tuple[str, ...]:
        """Words that are in the scope and spelt nearly like those of the query, the most similar first."""
        from loom.archive.search.nearest import nearest_words  # imports all of search

        place = None if workspace is None else await self._identify(workspace)
        return await self._finder.ask(
            lambda c, tails: nearest_words(c, tails, query, session_id=session_id, workspace=place, limit=limit)
        )

    async def find_tools(
        self, *, session_id: str | None = None, workspace: Path | str | None = None
    ) -> tuple[str, ...]:
        """The tools that were called in the scope, those used most first."""
        from loom.archive.search.values import tools_in  # imports all of search

        place = None if workspace is None else await self._identify(workspace)
        return await self._finder.ask(lambda c, tails: tools_in(c, tails, session_id=session_id, workspace=place))

    async def find_files(
        self,
        fragment: str,
        *,
        session_id: str | None = None,
        workspace: Path | str | None = None,
        limit: int = 20,
    ) -> tuple[str, ...]:
        """Paths that occur in the scope and have the fragment, the likeliest first."""
        from loom.archive.search.values import files_in  # imports all of search

        place = None if workspace is None else await self._identify(workspace)
        return await self._finder.ask(
            lambda c, tails: files_in(c, tails, fragment, session_id=session_id, workspace=place, limit=limit)
        )

    # Drafts and manifests

    async def get_draft(self, session_id: str) -> Draft | None:
        """The session's draft; None if there is none."""
        return await self._access.read(lambda c: drafts.get_draft(c, session_id))

    async def list_requests(self, session_id: str) -> list[RequestLine]:
        """The requests of a session, oldest first, without their texts: 10,000 in some 0.2 s."""
        return await self._access.read(lambda c: manifests.list_requests(c, session_id))

    async def get_manifest(self, session_id: str, request: int) -> Manifest | None:
        """The manifest of one request; None if there is none."""
        return await self._access.read(lambda c: manifests.get_manifest(c, session_id, request))

    async def get_newest_report(self, model_name: str) -> tuple[int, int] | None:
        """Our own count of the newest request, of any session, whose tokens this model's provider reported, and that
        report; None without one."""
        return await self._access.read(lambda c: manifests.newest_report(c, model_name))

    async def get_request_count(self, session_id: str) -> int:
        """The number of the session's last request to a model; 0 before the first."""
        return await self._access.read(lambda c: manifests.request_count(c, session_id))

    async def _identify(self, workspace: Path | str) -> Workspace:
        key = str(workspace)
        known = self._workspaces.get(key)
        if known is None:
            known = await asyncio.to_thread(identify, workspace)
            if known.commit is not None:
                # A folder without commits may get its first one at any time.
                self._workspaces[key] = known
        return known
