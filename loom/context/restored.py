"""What a person put back into the window (a compaction or a clearing taken back, turns brought back) stays there.

The marks would push it out again with the next request, and the `summarise` policy would sum it up again. So they hold
off: up to the full window, and until the window has grown by as much as lies between the marks, which is when something
would leave in any case. From then on, or as soon as something has left, all is as usual.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from loom.context.budget import Marks
from loom.context.contents import Contents
from loom.context.meter import Meter


@dataclass(frozen=True, slots=True)
class Limits:
    """What the window is held to now."""

    marks: Marks
    messages: int
    """The most messages; 0 is any number."""
    kept: bool
    """Whether what was put back is left alone."""


def limits(contents: Contents, meter: Meter, max_messages: int) -> Limits:
    """The limits for the window as it is."""
    marks = meter.marks()
    if not _is_kept(contents, meter, marks, max_messages):
        return Limits(marks, max_messages, kept=False)
    return Limits(replace(marks, high=marks.full), messages=0, kept=True)


def _is_kept(contents: Contents, meter: Meter, marks: Marks, max_messages: int) -> bool:
    restored = contents.beginning.restored
    if not restored:
        return False
    views = zip(contents.held, contents.views(), strict=True)
    later = [view for held, view in views if held.first_turn > restored]
    grown = meter.scaled(sum(view.tokens for view in later))
    messages = sum(len(view.messages) for view in later)
    return grown < marks.high - marks.low and not 0 < meter.budget.slack(max_messages) <= messages
