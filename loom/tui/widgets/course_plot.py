"""The window over the session, coloured."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from loom.archive.records import RequestLine
from loom.context.course import Ink, cache_shares, course, sparkline
from loom.context.usage import WindowUsage

_STYLES = {
    # Every ink has characters of its own: sixteen colours, or none, still tell them apart.
    Ink.SCALE: "$foreground-muted",
    Ink.FILL: "$primary",
    Ink.CHOSEN: "$text-warning bold",
    Ink.MARK: "$text-error",
    Ink.EVENT: "$text-accent",
}
CACHE_WORDS = 44
"""Cells beside the course of the cache's share."""


def course_content(
    lines: Sequence[RequestLine], width: int, height: int, chosen: int | None = None, now: WindowUsage | None = None
) -> Content:
    """Tokens a request, in `width` by `height` cells, and a legend that wraps; see `loom.context.course`."""
    drawn = course(lines, width, height, chosen, now)
    if not lines:
        return Content.styled(drawn.legend, "$foreground-muted")
    rows = [Content.assemble(*((stroke.text, _STYLES[stroke.ink]) for stroke in row)) for row in drawn.rows]
    return Content("\n").join([*rows, Content.styled(drawn.legend, "$foreground-muted")])


def cache_content(lines: Sequence[RequestLine], width: int) -> Content:
    """The share of each request's input that came from the provider's cache, over time."""
    shares = cache_shares(lines)
    if not shares:
        return Content.styled("No provider has said what came from its cache.", "$foreground-muted")
    mean, now = sum(shares) / len(shares), shares[-1]
    said = f"from the cache: last {now:.0%}, mean {mean:.0%}  "
    return Content.assemble(said, (sparkline(shares, max(8, min(60, width - CACHE_WORDS))), "$success"))
