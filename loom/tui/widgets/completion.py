"""The list of what the text being typed may become."""

from __future__ import annotations

from typing import Any, Generic, Protocol, TypeVar

from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widget import Widget

MOST_ROWS = 8


class Completion(Protocol):
    """Something that can be offered."""

    @property
    def usage(self) -> str:
        """What it is, as it would be written; safe to draw."""

    @property
    def help(self) -> str:
        """What it means, in a few words; safe to draw."""


Offered = TypeVar("Offered", bound=Completion)


class CompletionPopup(Widget, Generic[Offered]):
    """A list beside what is being written; the writing moves it, it never has the keyboard itself."""

    DEFAULT_CSS = """
    CompletionPopup {
        display: none;
        height: auto;
        max-height: 8;
        margin: 0 1;
        padding: 0 1;
        background: $panel;
    }
    """

    class Picked(Message):
        """An entry was clicked."""

        def __init__(self, entry: Any) -> None:
            super().__init__()
            self.entry = entry

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._entries: tuple[Offered, ...] = ()
        self._index = 0

    @property
    def is_open(self) -> bool:
        return bool(self._entries)

    @property
    def chosen(self) -> Offered | None:
        return self._entries[self._index] if self._entries else None

    def offer(self, entries: tuple[Offered, ...]) -> None:
        """Show these; none closes the list. The choice stays on the same entry if it is still there."""
        before = self.chosen
        self._entries = entries
        self._index = entries.index(before) if before in entries else 0
        self.display = bool(entries)
        self.refresh(layout=True)

    def move(self, by: int) -> None:
        if self._entries:
            self._index = (self._index + by) % len(self._entries)
            self.refresh()

    def render(self) -> Content:
        first = max(0, min(self._index - MOST_ROWS // 2, len(self._entries) - MOST_ROWS))
        rows = []
        widest = max((len(entry.usage) for entry in self._entries), default=0)
        for index, entry in enumerate(self._entries[first : first + MOST_ROWS], first):
            row = Content.assemble(
                ("▸ " if index == self._index else "  ", "$text-primary"),
                (entry.usage.ljust(widest), "bold" if index == self._index else ""),
                (f"  {entry.help}", "$foreground-muted"),
            ).truncate(max(1, self.content_size.width), ellipsis=True, pad=True)
            rows.append(row.stylize("on $primary 20%") if index == self._index else row)
        return Content("\n").join(rows)

    def on_click(self, event: Click) -> None:
        event.stop()
        first = max(0, min(self._index - MOST_ROWS // 2, len(self._entries) - MOST_ROWS))
        if first + event.y < len(self._entries):
            self.post_message(self.Picked(self._entries[first + event.y]))
