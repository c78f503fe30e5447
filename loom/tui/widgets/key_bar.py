"""The line of keys at the foot of a screen: as many as there is room for, none of them half."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding
from textual.events import Resize
from textual.widgets import Footer
from textual.widgets._footer import FooterKey


class KeyBar(Footer):
    """Keys in the order of the screen's bindings. Where they do not all fit, the last ones stay away; the help, the
    way back and the way out are always there, and the help names them all."""

    def __init__(self) -> None:
        super().__init__(show_command_palette=False)

    def compose(self) -> ComposeResult:
        if self._bindings_ready:
            yield from fitting(list(self._keys().values()), self.size.width or self.app.size.width)

    def _keys(self) -> dict[str, FooterKey]:
        """What the keys do here: by action, the first key of each.

        Made here and not by the footer that this extends: that one binds each key to a value of its own, and so holds
        all that it ever showed for as long as the screen lives.
        """
        keys: dict[str, FooterKey] = {}
        active = [(binding, enabled) for _, binding, enabled, _ in self.screen.active_bindings.values()]
        for binding, enabled in [*active, *((binding, True) for binding in self._everywhere())]:
            if binding.show and binding.action not in keys:
                shown = self.app.get_key_display(binding)
                key = FooterKey(
                    binding.key,
                    shown,
                    binding.description,
                    binding.action,
                    disabled=not enabled,
                    tooltip=binding.tooltip,
                )
                key.compact = False
                keys[binding.action] = key
        return keys

    def _everywhere(self) -> list[Binding]:
        """The app's keys that work over a sheet too, though Textual does not count them among its keys."""
        return [each for each in self.app.BINDINGS if isinstance(each, Binding) and each.priority]

    def on_resize(self, event: Resize) -> None:
        if self._bindings_ready:
            self.call_after_refresh(self.recompose)


def fitting(keys: Sequence[FooterKey], width: int) -> list[FooterKey]:
    """Those that fit into so many columns, in their order."""
    taken: set[int] = set()
    for at in sorted(range(len(keys)), key=lambda at: (not _leads(keys[at]), at)):
        columns = _columns(keys[at])
        if columns > width:
            break
        width -= columns
        taken.add(at)
    return [key for at, key in enumerate(keys) if at in taken]


def _leads(key: FooterKey) -> bool:
    return "help" in key.action or key.key in ("escape", "ctrl+q")


def _columns(key: FooterKey) -> int:
    return cell_len(key.key_display) + (cell_len(key.description) + 3 if key.description else 0)
