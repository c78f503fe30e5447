"""What the person or the model pinned: always in the state until it is unpinned."""

from __future__ import annotations

import json
from dataclasses import replace

from loom.archive.records import Turn
from loom.state.entries import put
from loom.state.model import MAX_PINS, Pin, SessionState

MAX_PIN_CHARS = 2_000


def pinned(state: SessionState, turn: Turn) -> SessionState:
    """The state after a note that pins or unpins; the same state after any other.

    Its `message_meta` holds `{"pin": {"text": …, "turn": 57}}`, or `unpin` with the same. `turn` is the pinned turn;
    without it, the pin cites the note itself.
    """
    if not turn.message_meta:
        return state
    try:
        meta = json.loads(turn.message_meta)
    except (ValueError, RecursionError):
        return state
    if not isinstance(meta, dict):
        return state
    if pin := _pin(meta.get("unpin"), turn.turn_number):
        return replace(state, pins=tuple(p for p in state.pins if p != pin))
    if pin := _pin(meta.get("pin"), turn.turn_number):
        return replace(state, pins=put(state.pins, pin, MAX_PINS, same=lambda p: p == pin))
    return state


def _pin(data: object, note: int) -> Pin | None:
    if not isinstance(data, dict) or not isinstance(data.get("text"), str) or not data["text"].strip():
        return None
    cited = data.get("turn")
    return Pin(
        data["text"].strip()[:MAX_PIN_CHARS], cited if isinstance(cited, int) and not isinstance(cited, bool) else note
    )
