"""Where the window begins: three turn numbers, and the rows of the archive that move them.

What a turn looks like in the window follows from these numbers alone, so it changes only when one of them moves: when
something leaves, not from request to request. The provider's prompt cache holds in between, and a resumed session
looks as it did.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from loom.archive.records import Turn, TurnKind


@dataclass(frozen=True, slots=True)
class Edges:
    """Turn numbers; 0 is before the first turn."""

    left_to: int = 0
    """Turns up to this one have left. (If it is inside an exchange, that exchange's user message has not.)"""
    short_to: int = 0
    """Tool outputs up to this turn are shortened to `tool_output_trim_chars`."""
    mark_to: int = 0
    """Tool outputs up to this turn are a marker only."""

    def meta(self) -> str:
        """As kept on a receipt's row."""
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, numbers: Mapping[str, int]) -> Edges:
        """The edges by name; names that this version does not know are left out."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: number for name, number in numbers.items() if name in known})


def compaction_meta(to_turn: int) -> str:
    """`message_meta` of a SUMMARY turn that stands for the turns up to `to_turn`."""
    return json.dumps({"compacted_to": to_turn})


def cleared_meta(to_turn: int) -> str:
    """`message_meta` of a NOTE turn: the window was emptied of the turns up to `to_turn`."""
    return json.dumps({"cleared_to": to_turn})


def restored_meta(to_turn: int) -> str:
    """`message_meta` of a NOTE turn: the window begins behind `to_turn` again, whatever was cleared or compacted."""
    return json.dumps({"restored_to": to_turn})


@dataclass(frozen=True, slots=True)
class Beginning:
    """The edges, and the summary that stands in front of them, if one does."""

    edges: Edges = Edges()
    summary: Turn | None = None

    def moved_by(self, turn: Turn) -> Beginning:
        """Where the window begins after this row; the same for every row that is no mark."""
        if turn.kind not in (TurnKind.RECEIPT, TurnKind.SUMMARY, TurnKind.NOTE) or not turn.message_meta:
            return self
        meta = _numbers(turn.message_meta)
        if turn.kind is TurnKind.RECEIPT and "left_to" in meta:
            edges = Edges(meta["left_to"], meta.get("short_to", 0), meta.get("mark_to", 0))
            return Beginning(edges, self.summary)
        if turn.kind is TurnKind.SUMMARY and "compacted_to" in meta:
            return Beginning(replace(self.edges, left_to=meta["compacted_to"]), turn)
        for name in ("cleared_to", "restored_to"):
            if turn.kind is TurnKind.NOTE and name in meta:
                return Beginning(replace(self.edges, left_to=meta[name]), None)
        return self


def _numbers(text: str) -> dict[str, int]:
    try:
        meta: Any = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return {k: v for k, v in meta.items() if type(v) is int} if isinstance(meta, dict) else {}
