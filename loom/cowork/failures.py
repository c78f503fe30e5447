"""Why an exchange failed, kept behind its turns as loom's own word to the person: who opens the session again reads it
there. It is in no request and no search finds it; a model that reads these very turns again is shown it as they are."""

from __future__ import annotations

import json

from loom.archive.records import NewTurn, Turn, TurnKind, TurnStatus

_META = {"exchange": "failed"}


def failure_note(words: str) -> NewTurn:
    """The turn that says so; `words` are without keys, as `loom.models.errors` gives them."""
    return NewTurn(
        role="system",
        kind=TurnKind.NOTE,
        status=TurnStatus.FAILED,
        content=words,
        message_meta=json.dumps(_META),
    )


def failure_in(turn: Turn) -> str:
    """Why the exchange failed that ends with this turn; empty for every other turn."""
    if turn.kind is not TurnKind.NOTE or turn.status is not TurnStatus.FAILED or not turn.message_meta:
        return ""
    try:
        meta = json.loads(turn.message_meta)
    except (ValueError, RecursionError):
        return ""
    return turn.content or "" if meta == _META else ""
