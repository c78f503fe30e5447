"""What one sentence of the person is: a constraint, a decision, or neither."""

from __future__ import annotations

from typing import Literal

from loom.state.clauses import clause_starts
from loom.state.cues import LANGUAGES
from loom.state.prose import Sentence

Saying = Literal["constraint", "decision"]


def saying_of(sentence: Sentence) -> Saying | None:
    """A sentence that both chooses and excludes (`let's use JWT, not sessions`) is the choice, unless it forbids
    (`let's never use sessions`)."""
    if sentence.question:
        return None
    starts = clause_starts(sentence.plain)
    decided = constrained = False
    for cues in LANGUAGES:
        if cues.doubts.search(sentence.plain):
            continue
        decided = decided or bool(
            cues.settled.search(sentence.plain) or any(cues.choices.match(start) for start in starts)
        )
        constrained = constrained or bool(
            cues.rules.search(sentence.plain) or any(cues.orders.match(start) for start in starts)
        )
    if decided:
        return "decision"
    return "constraint" if constrained else None
