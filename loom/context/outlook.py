"""What would leave the window next: the same order as `loom.context.fitting`, looked at beforehand."""

from __future__ import annotations

from dataclasses import dataclass, replace

from loom.context.budget import Marks
from loom.context.contents import Contents
from loom.context.meter import Meter


@dataclass(frozen=True, slots=True)
class Outlook:
    """What happens when the window's high-water mark is reached, if it were reached with what is in it now. Tokens."""

    room: int
    """Until then; 0 when the next request is already above the mark."""
    high: int
    shortened_to: int = 0
    """Tool outputs up to this turn are shortened first; 0 if none is long enough to gain anything."""
    shortened_tokens: int = 0
    """What that frees."""
    left_to: int = 0
    """Turns up to this one leave after that; 0 if shortening is enough."""
    left_from: int = 0
    left_exchanges: int = 0
    left_tokens: int = 0


def outlook(contents: Contents, meter: Meter, marks: Marks) -> Outlook:
    """Looks at what the window holds now as if its newest exchange were over and the high one of `marks` were
    passed."""
    edges = contents.edges
    goal = marks.high - marks.low

    def freed(short_to: int, left_to: int) -> int:
        seen = replace(edges, short_to=max(edges.short_to, short_to), left_to=max(edges.left_to, left_to))
        return meter.scaled(now - contents.tokens(seen))

    now = contents.tokens()
    ends = [held.last_turn for held in contents.held]
    room = max(0, marks.high - meter.scaled(meter.floor_tokens + now))
    short_to = ends[-2] if len(ends) > 1 else 0
    shortened = freed(short_to, 0)
    if shortened <= 0:
        short_to = shortened = 0
    found = Outlook(room, marks.high, short_to, shortened)
    if shortened >= goal:
        return found
    for number, end in enumerate(ends[:-1], 1):
        gained = freed(short_to, end)
        if gained >= goal or number == len(ends) - 1:
            first = contents.views()[0].turns[:1]
            return replace(
                found,
                left_to=end,
                left_from=first[0] if first else contents.held[0].first_turn,
                left_exchanges=number,
                left_tokens=gained - shortened,
            )
    return found
