"""What waits to be sent: for the running exchange to end, or, once that was interrupted, for the person."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from loom.text import show_line

MOST_ROWS = 4


_KEYS = {
    (False, False): "Up in an empty composer takes the last one back",
    (False, True): "^L, then Up, takes the last one back",
    (True, False): "Held: an empty Enter sends them, Up takes the last one back",
    (True, True): "Held: ^L, then Enter, sends them; ^L, then Up, takes the last one back",
}
"""What to press, by whether any is held and whether a question has the keys."""
_TAKEN_KEYS = "Held: they go where you go on (^T), Up takes the last one back"


class QueuedMessages(Static):
    """One line for each waiting message, above the composer."""

    DEFAULT_CSS = """
    QueuedMessages {
        display: none;
        height: auto;
        max-height: 7;
        padding: 0 2;
        color: $text-muted;
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)

    def show_waiting(
        self, waiting: tuple[str, ...], *, held: int = 0, asked: bool = False, taken: bool = False
    ) -> None:
        """Draw them, oldest first; none takes the list away. The first `held` of them do not go by themselves. `asked`:
        a question has the keys; `taken`: another loom has the session."""
        lines = [
            Content.assemble(("‖ " if at < held else "↳ ", "$text-warning"), show_line(text, 160))
            for at, text in enumerate(waiting[:MOST_ROWS])
        ]
        if len(waiting) > MOST_ROWS:
            lines.append(Content(f"  and {len(waiting) - MOST_ROWS} more"))
        if lines:
            keys = _TAKEN_KEYS if taken else _KEYS[bool(held), asked]
            lines.append(Content.styled(f"  {keys}", "dim"))
        if lines or self.display:  # nothing in the place of nothing would lay out the whole screen again
            self.update(Content("\n").join(lines))
            self.display = bool(lines)
