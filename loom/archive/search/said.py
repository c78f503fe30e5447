"""What is said before and after a turn, whatever was done in between: from the index and from behind its watermark."""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence

from loom.archive.reading import MAX_BETWEEN
from loom.archive.search.document import TURN_BITS, key_of, place_of
from loom.archive.search.marks import ASSISTANT, ROLE_BITS, SAID, is_remark, is_said
from loom.archive.search.tail import Tail

_SIDE = f"""
    (SELECT json_group_array(place) FROM (
        SELECT place FROM search_marks AS here
        WHERE place BETWEEN asked.value + ? AND asked.value + ? AND place >> {TURN_BITS} = asked.value >> {TURN_BITS}
            AND marks & {SAID}
            AND (marks & {ROLE_BITS} != {ASSISTANT} OR 1 IS NOT (
                SELECT next.place > here.place + 1 AND next.marks & {ROLE_BITS} = {ASSISTANT} FROM search_marks AS next
                WHERE next.place BETWEEN here.place + 1 AND here.place + {MAX_BETWEEN} AND next.marks & {SAID}
                    AND next.place >> {TURN_BITS} = here.place >> {TURN_BITS}
                ORDER BY next.place LIMIT 1
            ))
        ORDER BY place {{}} LIMIT ?
    ))
"""  # noqa: S608
_BOTH_SIDES = f"SELECT asked.value, {_SIDE.format('DESC')}, {_SIDE.format('ASC')} FROM json_each(?) AS asked"  # noqa: S608
"""As `marks.is_remark` has it."""
_LAST = (
    f"SELECT place, marks FROM search_marks WHERE place BETWEEN ? AND ? AND marks & {SAID} ORDER BY place DESC LIMIT 1"  # noqa: S608
)


def said_beside(
    connection: sqlite3.Connection, tail: Tail, places: Collection[int], most: int, *, indexed: bool
) -> dict[int, list[int]]:
    """For each place at which something is said that is no remark, in ascending order, the nearest others: at most so
    many on either side, of the same session."""
    if not places:
        return {}
    near: dict[int, list[int]] = {place: [] for place in places}
    if indexed:
        # One more before it: the place itself is among them.
        values = (-MAX_BETWEEN, 0, most + 1, 1, MAX_BETWEEN, most, json.dumps(list(places)))
        for place, before, behind in connection.execute(_BOTH_SIDES, values):
            near[place] = json.loads(before)[::-1] + json.loads(behind)
    words = sorted(place for place, entry in tail.entries.items() if is_said(entry.marks))
    pairs = zip(words, [*words[1:], None], strict=False)
    waiting = [place for place, following in pairs if not _is_remark(place, following, tail)]
    remarks = _remarks_before(words, connection, tail) if indexed else set()
    both = {place: sorted({*known, *_around(place, waiting, most)} - remarks) for place, known in near.items()}
    return {place: _nearest(place, ordered, most) for place, ordered in both.items() if place in ordered}


def _is_remark(place: int, following: int | None, tail: Tail) -> bool:
    if following is None or key_of(following) != key_of(place):
        return False
    return is_remark(tail.entries[place].marks, following - place, tail.entries[following].marks)


def _remarks_before(words: Sequence[int], connection: sqlite3.Connection, tail: Tail) -> set[int]:
    """The last words that the index has of a session, where the first that wait show them to be a remark."""
    remarks = set()
    firsts = {key_of(place): place for place in reversed(words)}
    for key, first in firsts.items():
        last = connection.execute(_LAST, (place_of(key, 0), first - 1)).fetchone()
        if last is not None and is_remark(last[1], first - last[0], tail.entries[first].marks):
            remarks.add(last[0])
    return remarks


def _around(place: int, waiting: Sequence[int], most: int) -> list[int]:
    """The place itself, if it waits, and the nearest that do."""
    near = [*_nearest(place, waiting, most), *([place] if place in waiting else [])]
    return [other for other in near if key_of(other) == key_of(place) and abs(other - place) <= MAX_BETWEEN]


def _nearest(place: int, ordered: Sequence[int], most: int) -> list[int]:
    """Of ascending places the nearest on either side, without the place itself."""
    before, behind = bisect_left(ordered, place), bisect_right(ordered, place)
    return [*ordered[max(0, before - most) : before], *ordered[behind : behind + most]]
