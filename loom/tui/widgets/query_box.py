"""The box that a search is typed in: its filters are completed, and no other key is taken from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Key
from textual.message import Message

from loom.tui.filter_completion import Choice, Typed, typed_at
from loom.tui.widgets.completion import CompletionPopup
from loom.tui.widgets.key_order import LineBox, passed_on


class QueryBox(LineBox):
    """Tab writes what is offered. Up, Down and Enter work in the list only where a filter's value is typed: before
    that they mean what they always mean, since any word may look like the beginning of a filter."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "screen.open", "Open first", tooltip="In the query: open the first hit"),
        Binding("down", "screen.to_hits", "Hits", key_display="↓", tooltip="In the query: to the hits"),
    ]

    class Completing(Message):
        """Something is typed that may be completed; `offer` takes what it may become."""

        def __init__(self, typed: Typed) -> None:
            super().__init__()
            self.typed = typed

    def __init__(self, popup: CompletionPopup[Choice], value: str, *, placeholder: str, id: str | None = None) -> None:
        super().__init__(value, placeholder=placeholder, id=id, compact=True, select_on_focus=False)
        self._popup = popup
        self._typed: Typed | None = None
        self._moved = False
        self._quiet_at: str | None = value

    @property
    def typed(self) -> Typed | None:
        """The filter that is being typed at the cursor."""
        return self._typed

    @property
    def asked(self) -> str:
        """What to search for: what was typed, without a filter that has no value yet."""
        typed = typed_at(self.value, self.cursor_position)
        if typed is None or typed.name is None or not typed.is_bare:
            return self.value.strip()
        start = self.value.rfind(" ", 0, typed.start) + 1
        return f"{self.value[:start]}{self.value[self.cursor_position :]}".strip()

    def offer(self, typed: Typed, choices: Sequence[Choice]) -> None:
        """Show what it may become, unless something else is typed by now."""
        if typed == self._typed:
            done = len(choices) == 1 and choices[0].written.strip() == typed.fragment
            self._popup.offer(() if done else tuple(choices))

    def complete_with(self, choice: Choice | None) -> None:
        """Write a choice in the place of what was typed."""
        typed = self._typed
        if choice is None or typed is None:
            return
        start, end = typed.start, max(typed.start, self.cursor_position)
        rest = self.value[end:]
        written = choice.written.rstrip() if rest.startswith(" ") else choice.written
        value = f"{self.value[:start]}{written}{rest}"
        self._quiet_at = None if typed.name is None else value
        self.value = value
        self.cursor_position = start + len(written)

    def on_input_changed(self) -> None:
        self._look()

    def watch_cursor_position(self) -> None:
        self._look()

    def on_blur(self) -> None:
        self._popup.offer(())

    def _look(self) -> None:
        typed = typed_at(self.value, self.cursor_position) if self.value != self._quiet_at else None
        if self.value != self._quiet_at:
            self._quiet_at = None
        if typed == self._typed:
            return
        self._typed, self._moved = typed, False
        if typed is None:
            self._popup.offer(())
        else:
            self.post_message(self.Completing(typed))

    async def _on_key(self, event: Key) -> None:
        if passed_on(self, event):
            return
        if self._popup.is_open and self._typed is not None and self._handle(event.key, self._typed):
            event.stop()
            event.prevent_default()

    def _handle(self, key: str, typed: Typed) -> bool:
        match key:
            case "tab":
                self.complete_with(self._popup.chosen)
            case "escape":
                self._quiet_at = self.value
                self._typed = None
                self._popup.offer(())
            case "up" | "down" if typed.name is not None:
                self._moved = True
                self._popup.move(-1 if key == "up" else 1)
            case "enter" if typed.name is not None and (self._moved or not typed.is_free):
                chosen = self._popup.chosen
                if chosen is None or chosen.written.strip() == typed.fragment:
                    return False
                self.complete_with(chosen)
            case _:
                return False
        return True
