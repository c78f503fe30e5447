"""A fork of a session behind one of its turns."""

from __future__ import annotations

from loom.archive import ConversationStore
from loom.errors import LoomError
from loom.text import show_line
from loom.tui.choices import OpenSession


async def fork_behind(store: ConversationStore, session_id: str, turn_number: int) -> OpenSession:
    """The fork, to be opened. It ends with the turn's exchange: from half of one no model can go on.
    Raises LoomError when the turn is not there, and what the archive raises."""
    turn = await store.get_turn(session_id, turn_number)
    if turn is None:
        raise LoomError(f"T{turn_number} is not there any more.")
    last = (await store.get_exchanges(session_id, turn.exchange, turn.exchange))[-1].turn_number
    parent = await store.get_session(session_id)
    fork = await store.fork_session(session_id, last)
    source = f" from {show_line(parent.reference, 12)}" if parent is not None else ""
    end = "" if last == turn_number else f", the end of the exchange that T{turn_number} is in"
    return OpenSession(fork, forked=f"Forked{source} after T{last}{end}.")
