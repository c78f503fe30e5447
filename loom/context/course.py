"""The course of the window over a session: tokens a request as a picture of block characters, in any size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from loom.archive.records import RequestLine
from loom.archive.rewound import others
from loom.context.scale import taken_by
from loom.context.usage import WindowUsage, short_tokens
from loom.text import plural

_EIGHTHS = " ▁▂▃▄▅▆▇█"
LABEL = 7
"""Cells of the scale at the left."""
_SCALE_DOWN = 3
"""The mark stays in the picture up to this many times the fullest request; a lower session would be a flat line."""


_SPANS = 3


class Ink(StrEnum):
    """What a piece of the picture is, for whoever colours it."""

    SCALE = "scale"
    FILL = "fill"
    CHOSEN = "chosen"
    MARK = "mark"
    EVENT = "event"


@dataclass(frozen=True, slots=True)
class Stroke:
    """Characters of one kind, side by side."""

    text: str
    ink: Ink


@dataclass(frozen=True, slots=True)
class Course:
    """The picture, top line first, and what it cannot show."""

    rows: tuple[tuple[Stroke, ...], ...]
    legend: str


@dataclass(frozen=True, slots=True)
class _Column:
    """One cell of width: the fullest of its requests."""

    tokens: int
    high: int
    evicted: bool
    compacted: bool
    chosen: bool


def evictions(lines: Sequence[RequestLine]) -> list[int]:
    """The requests for which turns left the window."""
    return [now.request for before, now in pairwise(lines) if now.left_to > before.left_to]


def spans_in(line: RequestLine, dash: str) -> str:
    """`T1–T4, T9–T12`: the turns that had neither left nor been rewound past; of many ranges the newest."""
    ranges = others(line.left_to + 1, line.last_turn, line.rewound)
    shown = [f"T{first}" if first == last else f"T{first}{dash}T{last}" for first, last in ranges[-_SPANS:]]
    return ", ".join(shown if len(ranges) <= _SPANS else ["…", *shown])


def compactions(lines: Sequence[RequestLine]) -> list[int]:
    """The first requests behind another summary."""
    return [now.request for before, now in pairwise(lines) if now.summary and now.summary != before.summary]


def course(
    lines: Sequence[RequestLine], width: int, height: int, chosen: int | None = None, now: WindowUsage | None = None
) -> Course:
    """The window from the first request to the last in `width` by `height` cells, two lines for events and numbers
    included; `chosen` is the request to point at. Each request stands under the mark that it had; the legend names the
    mark of `now`, or else the last request's."""
    room, high = max(1, width - LABEL - 1), max(1, height - 2)
    columns = _columns(lines, room, chosen)
    fullest = max((column.tokens for column in columns), default=0)
    # A mark far above leaves the picture: the others, and the requests under it, would lie flat on the ground.
    marks = [column.high for column in columns if column.high <= fullest * _SCALE_DOWN]
    top = max(fullest, *marks, 0) * 1.05 or 1.0
    rows = [
        (Stroke(_label(top, row, high), Ink.SCALE), *_runs([_cell(column, top, row, high) for column in columns]))
        for row in range(high)
    ]
    rows.append((Stroke(" " * (LABEL + 1), Ink.SCALE), *_runs([_event(column) for column in columns])))
    last = f"{lines[-1].request:,}" if lines else ""
    ends = "1".ljust(max(0, min(room, len(columns)) - len(last))) + last if len(columns) > len(last) + 1 else last
    rows.append((Stroke(" " * (LABEL + 1) + ends, Ink.SCALE),))
    return Course(tuple(rows), _legend(lines, now, top))


def _columns(lines: Sequence[RequestLine], room: int, chosen: int | None) -> list[_Column]:
    gone, summed = set(evictions(lines)), set(compactions(lines))
    count = len(lines)
    columns = min(room, count)
    made = []
    for at in range(columns):
        part = lines[at * count // columns : (at + 1) * count // columns]
        made.append(
            _Column(
                tokens=max(taken_by(line) for line in part),
                high=max(line.high_water or 0 for line in part),
                evicted=any(line.request in gone for line in part),
                compacted=any(line.request in summed for line in part),
                chosen=any(line.request == chosen for line in part),
            )
        )
    # A short session is drawn broader, so that it can be seen.
    broad = max(1, min(4, room // columns)) if columns else 1
    return [column for column in made for _ in range(broad)]


def _cell(column: _Column, top: float, row: int, high: int) -> Stroke:
    """Row 0 is the highest."""
    eighths = round(column.tokens / top * high * 8) - (high - 1 - row) * 8
    if row == high - 1 and column.tokens:
        eighths = max(1, eighths)
    if eighths > 0:
        return Stroke(_EIGHTHS[min(8, eighths)], Ink.CHOSEN if column.chosen else Ink.FILL)
    on_mark = column.high and int((top - column.high) / top * high) == row
    return Stroke("┄", Ink.MARK) if on_mark else Stroke(" ", Ink.SCALE)


def _event(column: _Column) -> Stroke:
    if column.chosen:
        return Stroke("▲", Ink.CHOSEN)
    if column.compacted:
        return Stroke("◆", Ink.EVENT)
    return Stroke("▾", Ink.EVENT) if column.evicted else Stroke(" ", Ink.SCALE)


def _runs(cells: Sequence[Stroke]) -> list[Stroke]:
    """Neighbours of one kind as one."""
    runs: list[Stroke] = []
    for cell in cells:
        if runs and runs[-1].ink is cell.ink:
            runs[-1] = Stroke(runs[-1].text + cell.text, cell.ink)
        else:
            runs.append(cell)
    return runs


def _label(top: float, row: int, high: int) -> str:
    """Tokens at the top of the highest row, and in the middle; an axis for the others."""
    value = round(top * (high - row) / high)
    if row == 0 or (high >= 6 and row == high // 2):
        return f"{short_tokens(value):>{LABEL}}┤"
    return f"{'0' if row == high - 1 else '':>{LABEL}}│"


def _legend(lines: Sequence[RequestLine], now: WindowUsage | None, top: float) -> str:
    if not lines:
        return "No request yet."
    said = [plural(len(lines), "request")]
    if mark := _mark(lines, now):
        said.append(f"┄ exchanges leave at {short_tokens(mark)}{_since(lines, now, mark, top)}")
    if gone := len(evictions(lines)):
        said.append(f"▾ turns left {plural(gone, 'time')}")
    if summed := len(compactions(lines)):
        said.append(f"◆ summed up {plural(summed, 'time')}")
    return " · ".join(said)


def _mark(lines: Sequence[RequestLine], now: WindowUsage | None) -> int:
    return now.high_water if now is not None else lines[-1].high_water or 0


def _since(lines: Sequence[RequestLine], now: WindowUsage | None, mark: int, top: float) -> str:
    """When the window got the size it has, and what the mark was before; or that the mark is not in the picture."""
    size = now.window if now is not None else lines[-1].window_tokens
    before = next((at for at in range(len(lines) - 1, -1, -1) if lines[at].window_tokens != size), None)
    far = ", far above this picture" if mark > top else ""
    if before is None:
        return far
    begun = f"since T{lines[before + 1].last_turn}" if before + 1 < len(lines) else "from the next request on"
    was = lines[before].high_water
    return f"{far} {begun}{f' ({short_tokens(was)} before)' if was else ''}"


def cache_shares(lines: Sequence[RequestLine]) -> list[float]:
    """For each request whose provider said it: the share of its input that came from the cache, 0 to 1."""
    return [share for line in lines if (share := line.cached_share) is not None]


def sparkline(shares: Sequence[float], width: int) -> str:
    """The shares over time in at most `width` cells: each the mean of its requests."""
    columns = min(width, len(shares))
    means = [
        sum(part) / len(part)
        for at in range(columns)
        if (part := shares[at * len(shares) // columns : (at + 1) * len(shares) // columns])
    ]
    return "".join(_EIGHTHS[1 + round(mean * 7)] for mean in means)
