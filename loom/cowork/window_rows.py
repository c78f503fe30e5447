"""A session's rows, as the window asks for them when it is filled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loom.archive import ConversationStore, Turn
from loom.archive.records import ExchangeSize
from loom.context.recipes import Recipe, recipe_from_json


@dataclass(frozen=True, slots=True)
class ArchivedRows:
    """`loom.context.resuming.SessionRows` of one session of the archive."""

    store: ConversationStore
    session_id: str

    async def sizes(self, before: int | None, limit: int) -> Sequence[ExchangeSize]:
        return await self.store.get_exchange_sizes(self.session_id, before, limit)

    async def exchanges(self, first: int, last: int) -> Sequence[Turn]:
        return await self.store.get_exchanges(self.session_id, first, last)

    async def turn(self, number: int) -> Turn | None:
        return await self.store.get_turn(self.session_id, number)

    async def newest_mark(self) -> Turn | None:
        marks = await self.store.get_window_marks(self.session_id, 1)
        return marks[0] if marks else None

    async def newest_recipe(self) -> Recipe | None:
        last = await self.store.get_request_count(self.session_id)
        manifest = await self.store.get_manifest(self.session_id, last) if last else None
        return recipe_from_json(manifest.recipe) if manifest is not None else None
