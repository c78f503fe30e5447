"""Keys work in the order in which they were pressed, also when many of them wait.

Textual looks a key up among the bindings only when no widget up to the app has taken it, and by then the letters that
waited behind it have been written: `teh`, two Backspaces and `he`, all at once, stayed `teh`.
"""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Key
from textual.widget import Widget
from textual.widgets import Input


async def bound_here(widget: Widget, event: Key) -> bool:
    """Whether the key is one of the widget's own bindings, and was done before the keys behind it have their turn."""
    for binding in widget._bindings.key_to_bindings.get(event.key, ()):
        if await widget.app.run_action(binding.action, widget):
            event.stop()
            event.prevent_default()
            return True
    return False


async def bound_above(widget: Widget, event: Key) -> bool:
    """Whether the key is bound by what the widget stands in, and was done before the keys behind it have their turn."""
    if not await widget.app._check_bindings(event.key):
        return False
    event.stop()
    event.prevent_default()
    return True


def passed_on(widget: Widget, event: Key) -> bool:
    """Whether the key was meant for the widget that has the focus by now, and was handed to it: the key in front of it
    took the focus there while it waited here."""
    focused = widget.screen.focused
    if focused is None or focused is widget:
        return False
    event.stop()
    event.prevent_default()
    focused.post_message(Key(event.key, event.character))
    return True


def is_joiner(event: Key) -> bool:
    """Whether the key writes a joiner of zero width: Persian and Indic words are spelt with it, and families of emoji.
    Textual, which writes only what can be seen, leaves it out."""
    return event.character in ("\u200c", "\u200d")


class LineBox(Input):
    """A line to write in."""

    async def _on_key(self, event: Key) -> None:
        if is_joiner(event):
            self.replace(event.character or "", *sorted(self.selection))
            event.stop()
            event.prevent_default()
        else:
            await bound_here(self, event)


class FilterLine(LineBox):
    """A line that filters a list; Enter opens the row under the list's cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "Open", tooltip="Open the row under the cursor"),
    ]
