"""What is searched for, and where."""

from __future__ import annotations

from dataclasses import dataclass

from loom.archive.workspaces import Workspace


@dataclass(frozen=True, slots=True)
class Request:
    """What is searched for, and where."""

    query: str
    session_id: str | None = None
    workspace: Workspace | None = None
    limit: int = 10
    roles: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    before: str | None = None
    after: str | None = None
