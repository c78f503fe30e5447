"""The second guard: nothing that is drawn may steer the terminal, wherever it slipped in.

The first one is `loom.text` at the boundary, which makes hidden characters visible. This one runs on every line of
every widget just before it goes to the terminal, keeps the line's width, and costs one scan of a short line.
"""

from __future__ import annotations

import re

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from loom.text import UNSAFE

_UNSAFE_IN_A_LINE = re.compile(f"{UNSAFE.pattern}|[\t\n]")


class TerminalGuard(LineFilter):
    """Takes out what `loom.text.show` would have made visible, cell for cell."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        if not any(_UNSAFE_IN_A_LINE.search(segment.text) for segment in segments):
            return segments
        return [
            Segment(_UNSAFE_IN_A_LINE.sub(_mask, segment.text), segment.style, segment.control) for segment in segments
        ]


def _mask(match: re.Match[str]) -> str:
    return "\ufffd" * cell_len(match[0])
