"""What a list cannot say by its rows: that nothing was found and why, what was done, what went wrong."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from loom.text import show_line


class ListNote(Static):
    """A few lines beside a list; none of them where there is nothing to say."""

    DEFAULT_CSS = """
    ListNote {
        height: auto;
        color: $text-muted;
        &.-error { color: $text-error; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)

    def say(self, text: str, *, error: bool = False) -> None:
        """Say this in the place of what stood there; empty is nothing."""
        self.update(Content(show_line(text, 500)))
        self.display = bool(text)
        self.set_class(error, "-error")
