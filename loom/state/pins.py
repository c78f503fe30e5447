"""What the person or the model pinned: always in the state until it is unpinned.

A pin is a note whose `message_meta` holds `{"pin": {"text": …, "turn": 57, "by": "person"}}`, or `unpin` with the same.
`turn` is the pinned turn; without it, the pin cites the note itself.
"""

from __future__ import annotations

import json
from dataclasses import replace

from loom.archive.records import Turn
from loom.state.entries import put
from loom.state.model import MAX_PINS, Pin, PinnedBy, SessionState

MAX_PIN_CHARS = 2_000


def pin_meta(text: str, turn: int | None, by: PinnedBy) -> str:
    """`message_meta` of the note that pins: a turn, with its first words, or words that are no turn (None)."""
    cited = {} if turn is None else {"turn": turn}
    return json.dumps({"pin": {"text": text, **cited, "by": by}})


def unpin_meta(pin: Pin) -> str:
    """`message_meta` of the note that takes the pin away."""
    return json.dumps({"unpin": {"text": pin.text, "turn": pin.turn}})


def pinned(state: SessionState, turn: Turn) -> SessionState:
    """The state after a note that pins or unpins; the same state after any other."""
    if not turn.message_meta:
        return state
    try:
        meta = json.loads(turn.message_meta)
    except (ValueError, RecursionError):
        return state
    if not isinstance(meta, dict):
        return state
    if pin := _pin(meta.get("unpin"), turn.turn_number):
        return replace(state, pins=tuple(p for p in state.pins if p.turn != pin.turn))
    if pin := _pin(meta.get("pin"), turn.turn_number):
        return replace(state, pins=put(state.pins, pin, MAX_PINS, same=lambda p: p.turn == pin.turn))
    return state


def _pin(data: object, note: int) -> Pin | None:
    if not isinstance(data, dict) or not isinstance(data.get("text"), str) or not data["text"].strip():
        return None
    cited = data.get("turn")
    by: PinnedBy = "model" if data.get("by") == "model" else "person"
    turn = cited if isinstance(cited, int) and not isinstance(cited, bool) else note
    return Pin(data["text"].strip()[:MAX_PIN_CHARS], turn, by)
