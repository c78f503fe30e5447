"""The list of slash commands that what was typed may become."""

from __future__ import annotations

from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widget import Widget

from loom.tui.commands import Command

MOST_ROWS = 8


class CompletionPopup(Widget):
    """A list above the composer; the composer moves it, it never has the keyboard itself."""

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
        """A command was clicked."""

        def __init__(self, command: Command) -> None:
            super().__init__()
            self.command = command

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._commands: tuple[Command, ...] = ()
        self._index = 0

    @property
    def is_open(self) -> bool:
        return bool(self._commands)

    @property
    def chosen(self) -> Command | None:
        return self._commands[self._index] if self._commands else None

    def offer(self, commands: tuple[Command, ...]) -> None:
        """Show these; none closes the list. The choice stays on the same command if it is still there."""
        before = self.chosen
        self._commands = commands
        self._index = commands.index(before) if before in commands else 0
        self.display = bool(commands)
        self.refresh(layout=True)

    def move(self, by: int) -> None:
        if self._commands:
            self._index = (self._index + by) % len(self._commands)
            self.refresh()

    def render(self) -> Content:
        first = max(0, min(self._index - MOST_ROWS // 2, len(self._commands) - MOST_ROWS))
        rows = []
        widest = max((len(command.usage) for command in self._commands), default=0)
        for index, command in enumerate(self._commands[first : first + MOST_ROWS], first):
            row = Content.assemble(
                ("▸ " if index == self._index else "  ", "$text-primary"),
                (command.usage.ljust(widest), "bold" if index == self._index else ""),
                (f"  {command.help}", "$foreground-muted"),
            ).truncate(max(1, self.content_size.width), ellipsis=True, pad=True)
            rows.append(row.stylize("on $primary 20%") if index == self._index else row)
        return Content("\n").join(rows)

    def on_click(self, event: Click) -> None:
        event.stop()
        first = max(0, min(self._index - MOST_ROWS // 2, len(self._commands) - MOST_ROWS))
        if first + event.y < len(self._commands):
            self.post_message(self.Picked(self._commands[first + event.y]))
