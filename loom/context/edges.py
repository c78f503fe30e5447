"""Where the window begins: a few numbers, and the rows of the archive that move them.

What a turn looks like in the window follows from these numbers alone, so it changes only when one of them moves: when
something leaves, not from request to request. The provider's prompt cache holds in between, and a resumed session
looks as it did.

A row that moves them (a mark) holds all of them as they are since, so that the newest mark alone tells where the
window begins. A mark that a person can take back (a move) also holds them as they were before it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal

from loom.archive.records import Turn, TurnKind
from loom.archive.rewound import ranges_in, rewound_after
from loom.turn_numbers import Ranges

_PUTS_BACK = ("undone", "brought_back")
_MARKS = (TurnKind.RECEIPT, TurnKind.SUMMARY, TurnKind.NOTE)

Move = Literal["compaction", "clearing", "rewinding"]
"""What a person can take back."""


@dataclass(frozen=True, slots=True)
class Edges:
    """Turn numbers, where nothing else is said; 0 is before the first turn."""

    left_to: int = 0
    """Turns up to this one have left. (If it is inside an exchange, that exchange's user message has not.)"""
    short_to: int = 0
    """Tool outputs up to this turn are shortened to `tool_output_trim_chars`."""
    mark_to: int = 0
    """Tool outputs up to this turn are a marker only."""
    tight_to: int = 0
    """Long arguments of calls and long texts of answers up to this turn are cut in the middle."""
    cap_from: int = 0
    cap_to: int = 0
    cap: int = 0
    """Tool outputs behind turn `cap_from` and up to turn `cap_to` are shown in at most `cap` tokens; 0: as they are."""
    prompt_turn: int = 0
    prompt_tokens: int = 0
    """The person's message in turn `prompt_turn` is shown in at most `prompt_tokens` tokens."""
    back: tuple[int, ...] = ()
    """Exchanges (by number, ascending) that had left and were brought back: they are shown whole."""
    rewound: Ranges = ()
    """Turns that the person rewound past: the exchanges that begin in one of these ranges are not shown."""

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> Edges:
        """The edges as a mark or a recipe keeps them. What this version does not know is left out; what is missing or
        damaged is 0."""
        names = {field.name for field in fields(cls)} - {"back", "rewound"}
        numbers = {name: kept[name] for name in names if _is_number(kept.get(name))}
        given = kept.get("back")
        back = {each for each in given if _is_number(each)} if isinstance(given, list) else ()
        return cls(**numbers, back=tuple(sorted(back)), rewound=ranges_in(kept.get("rewound")))


@dataclass(frozen=True, slots=True)
class Beginning:
    """The edges, the summary that stands in front of them, and what a person can take back."""

    edges: Edges = Edges()
    summary: int = 0
    """The turn of the summary; 0 when none stands there."""
    move: int = 0
    """The turn of the newest move that has not been taken back; 0 if there is none."""
    restored: int = 0
    """The turn with which a person last put something back into the window; 0 since something left again. See
    `loom.context.restored`."""

    def moved_by(self, turn: Turn) -> Beginning:
        """Where the window begins after this row; the same for every row that is no mark."""
        if turn.kind not in _MARKS or not turn.message_meta:
            return self
        meta = _mapping(turn.message_meta)
        found = _beginning(meta)
        if found is None:
            return self
        if turn.kind is TurnKind.SUMMARY:
            found = replace(found, summary=turn.turn_number)
        if any(name in meta for name in _PUTS_BACK):
            found = replace(found, restored=turn.turn_number)
        if "rewound_from" in meta:
            found = replace(found, edges=replace(found.edges, rewound=rewound_after(turn) or ()))
        return replace(found, move=turn.turn_number) if "before" in meta else found

    def meta(self, **more: Any) -> str:
        """`message_meta` of a mark: the window begins like this since."""
        return json.dumps({**_flat(self), **more})


def compaction_meta(before: Beginning, to_turn: int, replaced_tokens: int = 0) -> str:
    """`message_meta` of a SUMMARY turn that stands for the turns up to `to_turn`, which took `replaced_tokens` in the
    window. A move."""
    after = Beginning(replace(before.edges, left_to=to_turn, back=()))
    return after.meta(before=_flat(before), replaced_tokens=replaced_tokens)


def cleared_meta(before: Beginning, to_turn: int) -> str:
    """`message_meta` of a NOTE turn: the window was emptied of the turns up to `to_turn`. A move."""
    return Beginning(Edges(left_to=to_turn, rewound=before.edges.rewound)).meta(before=_flat(before))


def rewound_meta(before: Beginning, then: Beginning, first: int) -> str:
    """`message_meta` of a NOTE turn: the person went back to before turn `first`, with which an exchange begins, when
    the window began as `then` says. All since is rewound past. A move."""
    return then.meta(before=_flat(before), rewound_from=first)


def brought_back_meta(before: Beginning, exchanges: Iterable[int]) -> str:
    """`message_meta` of a NOTE turn: these exchanges, which had left, stand in the window too."""
    back = tuple(sorted({*before.edges.back, *exchanges}))
    return replace(before, edges=replace(before.edges, back=back)).meta(brought_back=True)


def restored_meta(move: Turn) -> str:
    """`message_meta` of a NOTE turn: the window begins again as it did before this move."""
    before = before_move(move)
    if before is None:
        raise ValueError(f"T{move.turn_number} moved nothing")
    return before.meta(undone=move.turn_number)


def move_of(turn: Turn) -> Move | None:
    """Which move this turn is; None if it is none."""
    if before_move(turn) is None:
        return None
    if turn.kind is TurnKind.SUMMARY:
        return "compaction"
    return "rewinding" if "rewound_from" in _mapping(turn.message_meta or "") else "clearing"


def before_move(turn: Turn) -> Beginning | None:
    """Where the window began before this move; None if the turn is none."""
    if turn.kind not in _MARKS or not turn.message_meta:
        return None
    before = _mapping(turn.message_meta).get("before")
    return _beginning(before) if isinstance(before, dict) else None


def left_turns(turn: Turn) -> Ranges:
    """The turns that a stored receipt names; empty for every other row, and for a receipt that is damaged."""
    if turn.kind is not TurnKind.RECEIPT or not turn.message_meta:
        return ()
    left = _mapping(turn.message_meta).get("left")
    try:
        ranges = tuple((int(first), int(last)) for first, last in left or ())
    except (ValueError, TypeError, OverflowError):
        return ()
    return ranges if all(0 < first <= last < turn.turn_number for first, last in ranges) else ()


def ranges_of(numbers: Iterable[int]) -> Ranges:
    """The numbers as inclusive ranges, ascending."""
    found: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return tuple(found)


def cited(ranges: Iterable[tuple[int, int]]) -> str:
    """`T1–T4, T9`."""
    return ", ".join(f"T{first}" if first == last else f"T{first}–T{last}" for first, last in ranges)


def summed_up(turn: Turn) -> tuple[int, int]:
    """For a SUMMARY turn: the turn up to which it stands and the tokens that it replaced; 0 where that is unknown."""
    meta = _mapping(turn.message_meta or "")
    to_turn, tokens = (meta[name] if _is_number(meta.get(name)) else 0 for name in ("left_to", "replaced_tokens"))
    return to_turn, tokens


def _flat(beginning: Beginning) -> dict[str, Any]:
    return {
        **asdict(beginning.edges),
        "summary": beginning.summary,
        "move": beginning.move,
        "restored": beginning.restored,
    }


def _beginning(meta: dict[str, Any]) -> Beginning | None:
    """What a mark says; None if it is none. A number that is missing or damaged is 0."""
    if not _is_number(meta.get("left_to")):
        return None
    names = ("summary", "move", "restored")
    return Beginning(Edges.of(meta), *(meta[name] if _is_number(meta.get(name)) else 0 for name in names))


def _is_number(value: object) -> bool:
    return type(value) is int and value >= 0


def _mapping(text: str) -> dict[str, Any]:
    try:
        meta: Any = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return meta if isinstance(meta, dict) else {}
