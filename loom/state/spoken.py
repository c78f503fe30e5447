"""What the person's message changes: the focus, the constraints, the decisions."""

from __future__ import annotations

from dataclasses import replace

from loom.state.entries import clip, put
from loom.state.model import MAX_DECISIONS, MAX_FOCUS_CHARS, Decision, SessionState
from loom.state.prose import sentences
from loom.state.sayings import saying_of
from loom.state.supersession import constrained, permitted

MAX_DECISION_CHARS = 200


def said(state: SessionState, message: str, turn: int) -> SessionState:
    """The state after the person's message."""
    state = replace(state, current_focus=_focus(message) or state.current_focus)
    for sentence in sentences(message):
        saying = saying_of(sentence)
        if saying == "constraint":
            state = constrained(state, sentence.text, turn)
        elif saying == "decision":
            state = _decided(state, sentence.text, turn)
        elif not sentence.question:
            state = permitted(state, sentence.text, turn)
    return state


def _focus(message: str) -> str:
    # The first lines are enough, however much was pasted below them.
    first = next((line for line in message[:4_000].splitlines() if line.strip()), "")
    return clip(" ".join(first.split()), MAX_FOCUS_CHARS)


def _decided(state: SessionState, sentence: str, turn: int) -> SessionState:
    decision = Decision(clip(sentence, MAX_DECISION_CHARS), turn)
    decisions = put(state.key_decisions, decision, MAX_DECISIONS, same=lambda d: d.text == decision.text)
    return replace(state, key_decisions=decisions)
