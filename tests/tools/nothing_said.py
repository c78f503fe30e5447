"""A conversation in which nothing was said, for tools that do not ask about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from loom.archive.records import Revision, SearchHit, SearchPage, Turn
from loom.tools.memory_file import MemoryFile, MemoryProblem
from loom.tools.outcome import ToolFailure
from loom.tools.recall import Scope


class NothingSaid:
    async def search(self, query: str, scope: Scope, limit: int) -> SearchPage:
        return SearchPage(hits=(), searched_turns=0, elapsed_ms=0)

    async def session_meant(self, reference: str, scope: Scope) -> tuple[str, str] | None:
        return None

    async def turns(self, session_id: str, first: int, last: int) -> list[Turn]:
        return []

    async def turns_around(self, session_id: str, turn_number: int) -> list[Turn]:
        return []

    async def tool_turns(self, name: str, limit: int) -> list[Turn]:
        return []

    async def tools(self) -> Sequence[str]:
        return ()

    async def call(self, session_id: str, tool_call_id: str) -> Turn | None:
        return None

    async def summary(self) -> str:
        return "session: {}"

    async def turn_count(self, session_id: str) -> int:
        return 0

    def session_id(self) -> str:
        return ""

    def reference(self) -> str:
        return ""

    async def rewound(self, session_id: str) -> tuple[tuple[int, int], ...]:
        return ()

    async def revisions(
        self, hits: Sequence[SearchHit], query: str, scope: Scope
    ) -> Mapping[tuple[str, int], Revision]:
        return {}

    async def nearest(self, query: str, scope: Scope) -> Sequence[str]:
        return ()


class NothingPinned:
    async def pin_turn(self, turn: int) -> int:
        raise ToolFailure(f"There is no T{turn} in this session.")

    async def pin_text(self, text: str) -> int:
        return 1

    async def unpin(self, turn: int) -> None:
        raise ToolFailure(f"T{turn} is not pinned.")


def _no_memory() -> MemoryFile:
    raise MemoryProblem("There is no memory here.")


KEPT: dict[str, Any] = {"pins": NothingPinned(), "memory": _no_memory, "window": lambda: "empty"}
"""The sources of every tool beside recall."""
