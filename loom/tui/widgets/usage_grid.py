"""The window as a grid: every cell the same number of tokens, drawn as the gauge draws them."""

from __future__ import annotations

from textual.content import Content

from loom.context.usage import Segment, WindowUsage, short_tokens
from loom.tui.widgets.gauge import Cell, gauge_cells

CELLS = 240
"""Cells of the grid, about; rows are filled up."""


def grid_rows(usage: WindowUsage, columns: int, cells: int = CELLS) -> list[list[Cell]]:
    """The gauge's bar, folded into rows of `columns` cells: same segments, same trigger mark, same order."""
    columns = max(1, columns)
    rows = max(1, -(-cells // columns))
    bar = gauge_cells(usage, rows * columns)
    return [bar[at : at + columns] for at in range(0, len(bar), columns)]


def look_of(segment: Segment) -> Cell:
    """How the gauge draws a segment: asked of the gauge itself, with a window that holds nothing else."""
    only = WindowUsage({segment: 2}, window=2, window_assumed=False, reserve=0, high_water=2, used=2, estimated=False)
    return gauge_cells(only, 2)[0]


def grid_content(usage: WindowUsage, columns: int) -> Content:
    """The grid, two characters a cell, and under it what a cell stands for."""
    rows = grid_rows(usage, columns)
    lines = [Content.assemble(*[(cell.glyph + " ", cell.style) for cell in row]) for row in rows]
    each = usage.window / (len(rows) * max(1, columns)) if usage.window else 0
    lines.append(Content.styled(f"one cell is about {short_tokens(round(each))} tokens", "$foreground-muted"))
    return Content("\n").join(lines)
