"""What is said before and after a turn, whatever was done in between: from the index and from behind its watermark."""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence

from loom.archive.search.document import TURN_BITS, key_of
from loom.archive.search.marks import ASSISTANT, ROLE_BITS, SAID, is_said
from loom.archive.search.tail import Tail

MAX_BETWEEN = 400
"""Turns from a question to its answer, at most."""

_SIDE = f"""
    (SELECT json_group_array(place) FROM (
        SELECT place FROM search_marks AS here
        WHERE place BETWEEN asked.value + ? AND asked.value + ? AND place >> {TURN_BITS} = asked.value >> {TURN_BITS}
            AND marks & {SAID}
            AND NOT EXISTS (
                SELECT 1 FROM search_marks AS next
                WHERE next.place = here.place + 1 AND here.marks & {ROLE_BITS} = {ASSISTANT}
                    AND next.marks & {ROLE_BITS} = {ASSISTANT} AND NOT next.marks & {SAID}
            )
        ORDER BY place {{}} LIMIT ?
    ))
"""  # noqa: S608
_BOTH_SIDES = f"SELECT asked.value, {_SIDE.format('DESC')}, {_SIDE.format('ASC')} FROM json_each(?) AS asked"  # noqa: S608
"""As `is_said` has it."""


def said_beside(
    connection: sqlite3.Connection, tail: Tail, places: Collection[int], most: int, *, indexed: bool
) -> dict[int, list[int]]:
    """For each place, in ascending order, the nearest at which something is said: at most so many on either side, of
    the same session."""
    if not places:
        return {}
    near: dict[int, list[int]] = {place: [] for place in places}
    if indexed:
        asked = json.dumps(list(places))
        values = (-MAX_BETWEEN, -1, most, 1, MAX_BETWEEN, most, asked)
        for place, before, behind in connection.execute(_BOTH_SIDES, values):
            near[place] = json.loads(before)[::-1] + json.loads(behind)
    waiting = sorted(place for place in tail.entries if _is_said(place, tail))
    return {
        place: _nearest(place, sorted({*known, *_around(place, waiting, most)}), most) for place, known in near.items()
    }


def _is_said(place: int, tail: Tail) -> bool:
    following = tail.entries.get(place + 1)
    return is_said(tail.entries[place].marks, None if following is None else following.marks)


def _around(place: int, waiting: Sequence[int], most: int) -> list[int]:
    near = _nearest(place, waiting, most)
    return [other for other in near if key_of(other) == key_of(place) and abs(other - place) <= MAX_BETWEEN]


def _nearest(place: int, ordered: Sequence[int], most: int) -> list[int]:
    """Of ascending places the nearest on either side, without the place itself."""
    before, behind = bisect_left(ordered, place), bisect_right(ordered, place)
    return [*ordered[max(0, before - most) : before], *ordered[behind : behind + most]]
