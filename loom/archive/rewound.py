"""What the person rewound past: turns that are kept, and are no part of the conversation any more.

Every row that moves the window's beginning (see `loom.context.edges`) names in its `message_meta` the turns that are
rewound past since: `{"left_to": 3, "rewound": [[10, 21]], …}`. The one that rewinds names the first turn of what it
cuts as `rewound_from` besides; what it cuts ends with itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from loom.archive.records import Turn
from loom.turn_numbers import Ranges


def rewound_after(turn: Turn) -> Ranges | None:
    """The turns that are rewound past since this row; None if it is no row that says so."""
    if turn.role != "system" or not turn.message_meta:
        return None
    try:
        meta: Any = json.loads(turn.message_meta)
    except (ValueError, RecursionError):
        return None
    if not isinstance(meta, dict) or type(meta.get("left_to")) is not int:
        return None
    ranges = ranges_in(meta.get("rewound"))
    first: Any = meta.get("rewound_from")
    return joined(ranges, first, turn.turn_number) if _is_range(first, turn.turn_number) else ranges


def ranges_in(kept: object) -> Ranges:
    """The ranges as JSON keeps them, none of which touches another; what is damaged is left out."""
    ranges: Ranges = ()
    for each in kept if isinstance(kept, list | tuple) else ():
        if isinstance(each, list | tuple) and len(each) == 2 and _is_range(each[0], each[1]):
            ranges = joined(ranges, each[0], each[1])
    return ranges


def joined(ranges: Ranges, first: int, last: int) -> Ranges:
    """The ranges with this one."""
    apart = [each for each in ranges if each[1] < first - 1 or each[0] > last + 1]
    near = [each for each in ranges if each not in apart]
    low, high = min([first, *(a for a, _ in near)]), max([last, *(b for _, b in near)])
    return tuple(sorted([*apart, (low, high)]))


def is_rewound(turn_number: int, ranges: Ranges) -> bool:
    """Whether the turn is in one of the ranges."""
    return any(first <= turn_number <= last for first, last in ranges)


def others(first: int, last: int, but: Iterable[tuple[int, int]]) -> Ranges:
    """The turns from `first` to `last` that are in none of the ranges `but`, ascending, which may reach beyond."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(but):
        if low > last:
            break
        if first < low:
            found.append((first, low - 1))
        first = max(first, high + 1)
    if first <= last:
        found.append((first, last))
    return tuple(found)


def _is_range(first: object, last: object) -> bool:
    return type(first) is int and type(last) is int and 0 < first <= last
