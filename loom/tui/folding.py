"""A line that is too long for the screen, in rows: cut behind a space where there is one, and nothing left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len, chop_cells

_PIECES = re.compile(r"\s+|\S+")


def folded(line: str, width: int) -> list[str]:
    """Rows of at most `width` cells; joined they are the line. Spaces take their cells, so that a gap is seen.

    A word goes to the next row whole; only one that is longer than a row is cut, from where it stands.
    """
    if len(line) <= width // 2 or (line.isascii() and len(line) <= width):
        return [line]
    return list(_ascii_rows(line, width) if line.isascii() else _rows(line, width))


def _ascii_rows(line: str, width: int) -> Iterator[str]:
    """Row by row, not word by word: megabytes on one line are folded at once."""
    at = 0
    while len(line) - at > width:
        cut = at + width
        if line[cut] != " ":
            word = line.rfind(" ", at, cut) + 1
            # One more than a row: a longer word is cut wherever it begins.
            fits = " " in line[cut : word + width + 1] or len(line) - word <= width
            if fits and word > at:
                cut = word
        yield line[at:cut]
        at = cut
    yield line[at:]


def _rows(line: str, width: int) -> Iterator[str]:
    row, room = "", width
    for piece in (found[0] for found in _PIECES.finditer(line)):
        cells = cell_len(piece)
        if cells <= room:
            row, room = row + piece, room - cells
        elif cells <= width and row and not piece.isspace():
            yield row
            row, room = piece, width - cells
        else:
            *full, row = chop_cells(row + piece, width)
            yield from full
            room = width - cell_len(row)
    yield row
