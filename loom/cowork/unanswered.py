"""The message that nobody answered: loom, or the provider, came to its end between the two."""

from __future__ import annotations

from collections.abc import Sequence

from loom.archive.records import Turn, TurnKind

NEWEST_TURNS = 20
"""So many of a session's newest turns are looked through: what stands behind a message without an answer is a few notes
of loom's own."""


def unanswered_in(turns: Sequence[Turn]) -> Turn | None:
    """The person's message that these newest turns of a session, ascending, end with; None when something came in
    answer to it, be it a thought or a call, or when they ran a command after it."""
    for turn in reversed(turns):
        if turn.role != "system":
            return turn if turn.role == "user" and turn.kind is TurnKind.TEXT else None
    return None
