"""The numbers of turns, as they stand in a line."""

from __future__ import annotations

from collections.abc import Sequence

Ranges = tuple[tuple[int, int], ...]
"""Turn numbers: inclusive ranges, ascending."""

_SHOWN = 20


def named_turns(numbers: Sequence[int]) -> str:
    """`T3, T7`; of many the first ones, and how many more."""
    more = f" and {len(numbers) - _SHOWN:,} more" if len(numbers) > _SHOWN else ""
    return f"{', '.join(f'T{number}' for number in numbers[:_SHOWN])}{more}"
