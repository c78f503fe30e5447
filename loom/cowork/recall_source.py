"""What `conversation_recall` reads: the archive, from where one session stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypedDict

from loom.archive import ConversationStore, Revision, SearchHit, SearchPage, Session, Turn
from loom.archive.errors import AmbiguousReference, UnknownReference
from loom.archive.records import TurnKind
from loom.state import SessionState, read_state
from loom.turn_numbers import Ranges

Scope = Literal["session", "workspace", "all"]
ASKING = (8, 64, 512)
"""Hits that are looked for beyond those wanted, more of them where fewer leave too little: so many may be the words
that ask. A model says and thinks a lot on its way through one long exchange."""


@dataclass(frozen=True, slots=True)
class ArchiveRecall:
    """The `RecallSource` of a session that may not exist yet (it does from the first message on)."""

    store: ConversationStore
    workspace: str
    session: Callable[[], Session | None]
    overview: Callable[[], str]
    """The state's YAML and the totals, for `summary`."""
    rewound_here: Callable[[], Ranges]
    """The turns of this session that the person rewound past."""
    sees: Callable[[int], bool]
    """Whether the model sees a turn of this session."""

    def session_id(self) -> str:
        session = self.session()
        return session.id if session is not None else ""

    def reference(self) -> str:
        session = self.session()
        return session.reference if session is not None else ""

    async def search(self, query: str, scope: Scope, limit: int) -> SearchPage:
        session_id = self.session_id() or None
        if session_id is None and scope == "session":
            return SearchPage(hits=(), searched_turns=0, elapsed_ms=0)
        for more in ASKING:
            page = await self.store.search(
                query, limit=limit + more, at_hand=session_id, asked=True, **self._within(scope)
            )
            hits = tuple(hit for hit in page.hits if not self._is_asking(hit))[:limit]
            if len(hits) == limit or len(page.hits) < limit + more:
                break
        return replace(page, hits=hits)

    def _is_asking(self, hit: SearchHit | Turn) -> bool:
        """Whether these are the words that ask, or the model's own on its way to ask: they have every word of the
        query. Only those that it has before it: a long exchange leaves the window, too, from its beginning on."""
        session = self.session()
        return (
            session is not None
            and (hit.session_id, hit.exchange) == (session.id, session.exchange_count)
            and hit.role in ("user", "assistant")
            and hit.kind in (TurnKind.TEXT, TurnKind.THINKING)
            and self.sees(hit.turn_number)
        )

    async def session_meant(self, reference: str, scope: Scope) -> tuple[str, str] | None:
        if reference.isdecimal():
            return None  # a place in a list that the model does not see
        try:
            session = await self.store.resolve_reference(reference, self.workspace)
        except (UnknownReference, AmbiguousReference):
            return None
        in_scope = scope == "all" or await self.store.is_of_workspace(session, self.workspace)
        return (session.id, session.reference) if session.is_active and in_scope else None

    async def turns(self, session_id: str, first: int, last: int) -> list[Turn]:
        return await self.store.get_range(session_id, first, last)

    async def turns_around(self, session_id: str, turn_number: int) -> list[Turn]:
        around = await self.store.get_turns_around(session_id, turn_number)
        return [turn for turn in around if not self._is_asking(turn)]

    async def tool_turns(self, name: str, limit: int) -> list[Turn]:
        return await self.store.find_tool_turns(self.session_id(), name, limit)

    async def tools(self) -> Sequence[str]:
        return await self.store.find_tools(session_id=self.session_id())

    async def call(self, session_id: str, tool_call_id: str, before: int) -> Turn | None:
        return await self.store.find_call(session_id, tool_call_id, before=before)

    async def summary(self) -> str:
        return self.overview()

    async def turn_count(self, session_id: str) -> int:
        return await self.store.get_turn_count(session_id)

    async def revisions(
        self, hits: Sequence[SearchHit], query: str, scope: Scope
    ) -> Mapping[tuple[str, int], Revision]:
        # Its patterns take 80 ms to compile: the first search pays, not the first paint.
        from loom.archive.search.revisions import Reading
        from loom.state.revisions import FORMULAS, revising_passages, settles_something

        reading = Reading(revising_passages, settles_something, FORMULAS)
        return await self.store.find_revisions(
            hits, query, reading, at_hand=self.session_id() or None, **self._within(scope)
        )

    async def rewound(self, session_id: str) -> Ranges:
        if session_id == self.session_id():
            return self.rewound_here()
        session = await self.store.get_session(session_id)
        state = read_state(session.session_state) if session is not None else SessionState()
        if session is None or state.last_turn >= session.turn_count:
            return state.rewound
        return await self.store.get_rewound(session_id)

    async def nearest(self, query: str, scope: Scope) -> Sequence[str]:
        if not self.session_id() and scope == "session":
            return ()
        return await self.store.nearest_words(query, **self._within(scope))

    def _within(self, scope: Scope) -> _Within:
        return {
            "session_id": self.session_id() if scope == "session" else None,
            "workspace": self.workspace if scope == "workspace" else None,
        }


class _Within(TypedDict):
    """How the archive is told where to look."""

    session_id: str | None
    workspace: str | None
