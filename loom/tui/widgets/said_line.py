"""The place of what is said in passing: lines of their own, so that they cover nothing."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from loom.text import show_block
from loom.tui.passing import Said

MOST_CHARS = 2_000
_MARKS = {"information": ("· ", "$text-muted"), "warning": ("! ", "$text-warning"), "error": ("✗ ", "$text-error")}


class SaidLine(Static):
    """Takes no room while there is nothing to say."""

    DEFAULT_CSS = """
    SaidLine {
        display: none;
        height: auto;
        max-height: 6;
        padding: 0 1;
        background: $panel;
    }
    """

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._drawn: tuple[Said | None, int] = (None, 0)

    def show_said(self, said: Said | None, waiting: int) -> None:
        """Draw it, literally; None takes it away."""
        if (said, waiting) == self._drawn:
            return
        self._drawn = (said, waiting)
        self.display = said is not None
        if said is None:
            return
        mark, style = _MARKS[said.severity]
        often = f" (×{said.count})" if said.count > 1 else ""
        more = f"  +{waiting} more" if waiting else ""
        text = show_block(said.text, max_chars=MOST_CHARS)
        self.update(Content.assemble((mark, style), (text, style), (often, "bold"), (more, "$text-muted")))
