"""The message, or the tool's result, that the model never answered: loom, or the provider, came to its end between the
two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loom.archive.records import PERSON_COMMAND, Turn, TurnKind, TurnStatus

NEWEST_TURNS = 20
"""So many of a session's newest turns are looked through: what stands behind a turn without an answer is a few notes
of loom's own."""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """What waits for the model."""

    turn: Turn
    """The person's message, or the result that was to go to the model next."""
    prompt: Turn
    """The message that its exchange began with; the same turn, or one before it."""


def unanswered_in(turns: Sequence[Turn]) -> Turn | None:
    """The turn that these newest turns of a session, ascending, end with, when the model was to be asked next: the
    person's message, or what a call gave. None when something came in answer to it, be it a thought or a call, when the
    call was stopped (whoever stopped it says what is next), or when the person ran a command after it."""
    for turn in reversed(turns):
        if turn.role != "system":
            return turn if _is_for_the_model(turn) else None
    return None


def _is_for_the_model(turn: Turn) -> bool:
    if turn.role == "tool":
        return turn.tool_name != PERSON_COMMAND and turn.status is not TurnStatus.INTERRUPTED
    return turn.role == "user" and turn.kind is TurnKind.TEXT
