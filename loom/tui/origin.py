"""Where a fork comes from, in words."""

from __future__ import annotations

from loom.archive import ConversationStore
from loom.archive.records import Session
from loom.text import show_line


def origin_in_words(reference: str, turn: int) -> str:
    """`fork of k3f9 at T12`; an empty reference is a session that is not there any more, or not in sight."""
    source = f" of {show_line(reference, 12)}" if reference else ""
    return f"fork{source} at T{turn}"


async def origin_of(store: ConversationStore, session: Session | None) -> str:
    """Where this session comes from; empty unless it is a fork. Raises an ArchiveError."""
    if session is None or session.fork_turn is None:
        return ""
    parent = await store.get_session(session.parent_id) if session.parent_id is not None else None
    return origin_in_words(parent.reference if parent is not None else "", session.fork_turn)
