"""The one scale on which tokens are shown: our own counts, read so that they come to the number that counts.

That number is the provider's for a request that it has counted, and what the gauge expected for any other. Everything
that shows tokens shares it out here, so that the same request has the same numbers wherever it is looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import TypeVar

from loom.archive.records import RequestLine
from loom.context.usage import Segment

_Name = TypeVar("_Name", bound=Hashable)

_CREDIBLE = (0.4, 3.0)
"""A report outside these multiples of our count is no measure of the window (a server that leaves out what
it had cached, or counts another request)."""

_STEADY = (Segment.TOOLS, Segment.INSTRUCTIONS, Segment.MEMORY, Segment.PROJECT, Segment.STATE)


def factor_of(counted: int, reported: int | None) -> float | None:
    """The provider's count of a request over ours; None if there is none, or none that can be of this request."""
    if not counted or not reported:
        return None
    factor = reported / counted
    return factor if _CREDIBLE[0] <= factor <= _CREDIBLE[1] else None


def taken(expected: int, counted: int, reported: int | None) -> int:
    """Input tokens of a request: the provider's count where it is one of this request, else what the gauge expected.
    `counted` is our own."""
    return reported if reported and factor_of(counted, reported) is not None else expected


def taken_by(line: RequestLine) -> int:
    """The same of a request in a list."""
    return taken(line.expected_tokens, line.estimated_tokens, line.reported_tokens)


def shared(counts: Mapping[_Name, int], factor: float, total: int, steady: Collection[_Name] = ()) -> dict[_Name, int]:
    """Our counts times `factor`, rounded so that they add up to `total`. What counts nothing is left out.

    The rest that rounding leaves goes to the largest that is not `steady`: what is the same in every request has the
    same number in every request.
    """
    found = {name: round(count * factor) for name, count in counts.items() if count}
    rest = total - sum(found.values())
    if found and rest:
        moving = [name for name in found if name not in steady and found[name] + rest > 0]
        found[max(moving or found, key=lambda name: found[name])] += rest
    return found


def by_segment(counted: Mapping[Segment, int], factor: float, total: int) -> dict[Segment, int]:
    """A request's segments as every view shows them."""
    return shared(counted, factor, total, _STEADY)
