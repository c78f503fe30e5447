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
    at_hand: str | None = None
    """The session that asks: of the turns that it has in common with others its own are found."""
    limit: int = 10
    roles: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    before: str | None = None
    after: str | None = None
    asked: bool = False
    """It is put by a model, which says in its own words what it looks for: what they say is meant, not the words."""
    patience: float = 0.0
    """Seconds that may be waited for the index when it is too far behind for all to be searched."""
