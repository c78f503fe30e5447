"""Messages that wait for the running exchange to end."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from loom.text import show_line

MOST_ROWS = 4


class QueuedMessages(Static):
    """One line for each waiting message, above the composer."""

    DEFAULT_CSS = """
    QueuedMessages {
        display: none;
        height: auto;
        max-height: 6;
        padding: 0 2;
        color: $text-muted;
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)

    def show_waiting(self, waiting: tuple[str, ...]) -> None:
        """Draw them, oldest first; none takes the list away."""
        lines = [Content.assemble(("↳ ", "$text-warning"), show_line(text, 160)) for text in waiting[:MOST_ROWS]]
        if len(waiting) > MOST_ROWS:
            lines.append(Content(f"  and {len(waiting) - MOST_ROWS} more"))
        if lines:
            lines.append(Content.styled("  Up in an empty composer takes the last one back", "dim"))
        self.update(Content("\n").join(lines))
        self.display = bool(waiting)
