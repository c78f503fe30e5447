"""What `conversation_recall` reads: the archive, from where one session stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from loom.archive import ConversationStore, SearchHit, Turn

Scope = Literal["session", "workspace", "all"]


@dataclass(frozen=True, slots=True)
class ArchiveRecall:
    """The `RecallSource` of a session that may not exist yet (it does from the first message on)."""

    store: ConversationStore
    workspace: str
    session_id: Callable[[], str | None]
    overview: Callable[[], str]
    """The state's YAML and the totals, for `summary`."""

    async def search(self, query: str, scope: Scope, limit: int) -> Sequence[SearchHit]:
        session_id = self.session_id()
        if session_id is None and scope == "session":
            return ()
        page = await self.store.search(
            query,
            session_id=session_id if scope == "session" else None,
            workspace=self.workspace if scope == "workspace" else None,
            limit=limit,
        )
        return page.hits

    async def turns(self, first: int, last: int) -> list[Turn]:
        session_id = self.session_id()
        return [] if session_id is None else await self.store.get_range(session_id, first, last)

    async def tool_turns(self, name: str, limit: int) -> list[Turn]:
        session_id = self.session_id()
        return [] if session_id is None else await self.store.find_tool_turns(session_id, name, limit)

    async def call(self, tool_call_id: str) -> Turn | None:
        session_id = self.session_id()
        return None if session_id is None else await self.store.find_call(session_id, tool_call_id)

    async def summary(self) -> str:
        return self.overview()

    async def turn_count(self) -> int:
        session_id = self.session_id()
        return 0 if session_id is None else await self.store.get_turn_count(session_id)
