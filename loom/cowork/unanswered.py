"""The message, or the tool's result, that the model never answered: loom, or the provider, came to its end between the
two, or the answer was empty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loom.archive.records import PERSON_COMMAND, Turn, TurnKind, TurnStatus

PAGE_TURNS = 20
MOST_PAGES = 20
"""So many of a session's newest turns are looked through, a page at a time: what stands behind a turn without an answer
is a few notes of loom's own, or what empty answers left, eleven turns each time that it was asked for."""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """What waits for the model."""

    turn: Turn
    """The person's message, or the result that was to go to the model next."""
    prompt: Turn
    """The message that its exchange began with; the same turn, or one before it."""


def unanswered_in(turns: Sequence[Turn]) -> Turn | None:
    """The turn that these newest turns of a session, ascending, end with, when the model was to be asked next: the
    person's message, or what a call gave. None when something came in answer to it, be it a thought that was cut off or
    a call, when the call was stopped (whoever stopped it says what is next), or when the person ran a command after
    it."""
    last = last_word(turns)
    return last if last is not None and _is_for_the_model(last) else None


def last_word(turns: Sequence[Turn]) -> Turn | None:
    """The newest of these turns, ascending, that is neither a note of loom's own nor part of an empty answer; None if
    there is none."""
    return next((turn for turn in reversed(turns) if turn.role != "system" and not _is_nothing(turn)), None)


def _is_nothing(turn: Turn) -> bool:
    """Whether the model said nothing by it: no words, or a thought, thought to its end, to which no words came."""
    if turn.role != "assistant":
        return False
    if turn.kind is TurnKind.THINKING:
        return turn.status is not TurnStatus.INTERRUPTED
    return turn.kind is TurnKind.TEXT and not (turn.content or "").strip()


def _is_for_the_model(turn: Turn) -> bool:
    if turn.role == "tool":
        return turn.tool_name != PERSON_COMMAND and turn.status is not TurnStatus.INTERRUPTED
    return turn.role == "user" and turn.kind is TurnKind.TEXT
