"""The parts of a request as rows, and those of two requests side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from textual.content import Content

from loom.context.compare import Comparison
from loom.context.seen import SeenPart, SeenRequest
from loom.text import plural, show_line
from loom.tui.call_text import call_line
from loom.tui.widgets.gauge import Cell
from loom.tui.widgets.line import turn_label
from loom.tui.widgets.row_list import RowList
from loom.tui.widgets.usage_grid import look_of
from loom.tui.widgets.usage_table import NAMES

_A_LINE = 3
"""Segments named in one line: as many as 60 cells have room for."""
_CALL = "→ "
"""In front of a tool's name where the model calls it; without it the name is that of a result."""
_SIGNS = {"+": "$text-success bold", "-": "$text-error bold", "~": "$text-warning bold"}


@dataclass(frozen=True, slots=True)
class Heading:
    """A line between rows."""

    text: str


@dataclass(frozen=True, slots=True)
class PartRow:
    """One part."""

    part: SeenPart
    sign: str = ""
    """`+` came, `-` left, `~` looks different; empty where nothing is compared."""
    earlier: SeenPart | None = None
    """How it looked in the other request, for `~`."""


Row = PartRow | Heading


def request_rows(seen: SeenRequest) -> list[Row]:
    """Every part, in the order in which it was sent."""
    return [PartRow(part) for part in seen.parts]


def comparison_rows(found: Comparison) -> list[Row]:
    """What is different, under a heading for each kind of difference."""
    return list(_compared(found))


def _compared(found: Comparison) -> Iterator[Row]:
    reused = f"its first {found.prefix_share:.0%} is as in request {found.before.request:,}"
    yield Heading(f"{found.before_tokens:,} → {found.after.tokens:,} tokens; {reused}")
    if found.before_tokens != found.before.tokens:
        before, after = found.before, found.after
        yield Heading(f"counted as request {after.request:,} is; {before.request:,} by itself was {before.tokens:,}")
    moved = [
        f"{NAMES[segment]} {after - before:+,}"
        for segment, (before, after) in found.segments.items()
        if before != after
    ]
    for at in range(0, len(moved), _A_LINE):
        yield Heading(", ".join(moved[at : at + _A_LINE]))
    for title, sign, parts in (("Came", "+", found.came), ("Left", "-", found.left)):
        if parts:
            yield Heading(f"{title}: {plural(len(parts), 'part')}, {sum(part.tokens for part in parts):,} tokens")
            yield from (PartRow(part, sign) for part in parts)
    if found.changed:
        change = sum(later.tokens - earlier.tokens for earlier, later in found.changed)
        yield Heading(f"Look different: {len(found.changed):,}, {change:+,} tokens")
        yield from (PartRow(later, "~", earlier) for earlier, later in found.changed)
    if not (found.came or found.left or found.changed):
        yield Heading("Nothing is different.")


class PartList(RowList[Row]):
    """A part a line: turn, whose words, tokens, the first words."""

    DEFAULT_CSS = "PartList { padding: 0 1; }"

    def selectable(self, item: Row) -> bool:
        return isinstance(item, PartRow)

    def draw_row(self, item: Row, width: int) -> list[Content]:
        if isinstance(item, Heading):
            return [Content.styled(show_line(item.text, 300), "$text-primary bold")]
        part = item.part
        look: Cell = look_of(part.segment)
        name = (
            f"{_CALL if part.side == 'model' else ''}{show_line(part.tool, 16)}" if part.tool else NAMES[part.segment]
        )
        earlier = f"{item.earlier.tokens:,}→" if item.earlier is not None else ""
        head = Content.assemble(
            (f"{item.sign} " if item.sign else "", _SIGNS.get(item.sign, "")),
            (look.glyph, look.style),
            " ",
            (turn_label(part.turn).ljust(7), "$text-primary"),
            Content(name).truncate(14, ellipsis=True, pad=True),
            (f"{earlier}{part.tokens:,}".rjust(13 if item.earlier is not None else 8), ""),
            (" cut " if part.shortened else "     ", "$text-warning"),
        )
        words = call_line(part.text) if part.kind == "tool-call" else part.text
        return [head.append(Content.styled(show_line(words, max(20, width)), "$foreground-muted"))]
