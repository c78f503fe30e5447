"""The line of keys at the foot of a screen: as many as there is room for, none of them half."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import Footer
from textual.widgets._footer import FooterKey


@dataclass(frozen=True)
class ShownKey:
    """A key of the screen, and what the line says of it."""

    key: str
    display: str
    words: str
    action: str
    tooltip: str
    enabled: bool

    @property
    def columns(self) -> int:
        return cell_len(self.display) + (cell_len(self.words) + 3 if self.words else 0)

    @property
    def leads(self) -> bool:
        """Whether it is the help, the way back or the way out."""
        return "help" in self.action or self.key in ("escape", "ctrl+q")

    def drawn(self) -> FooterKey:
        key = FooterKey(
            self.key, self.display, self.words, self.action, disabled=not self.enabled, tooltip=self.tooltip
        )
        # Without its watcher, which would look for styles before the key is on the screen.
        key.set_reactive(FooterKey.compact, False)
        return key


class KeyBar(Footer):
    """Keys in the order of the screen's bindings. Where they do not all fit, the last ones stay away; the help, the
    way back and the way out are always there, and the help names them all."""

    def __init__(self) -> None:
        super().__init__(show_command_palette=False)
        self._shown: list[ShownKey] = []

    def compose(self) -> ComposeResult:
        self._shown = self._wanted()
        for key in self._shown:
            yield key.drawn()

    def bindings_changed(self, screen: Screen[object]) -> None:
        """The screen's keys may be others now. Drawn as soon as this widget has its turn, and not a picture later."""
        self._bindings_ready = True
        if screen.app.app_focus and self.is_attached and screen is self.screen:
            self.refresh(recompose=True)

    async def recompose(self) -> None:
        """Draw the keys anew if they are others than those that are there: Textual says that keys may have changed with
        every move of the focus."""
        if self.is_attached and not self._pruning and self._wanted() != self._shown:
            await super().recompose()

    def _wanted(self) -> list[ShownKey]:
        """What there is room for; nothing until the screen knows its keys."""
        if not self._bindings_ready:
            return []
        return fitting(self._keys(), self.size.width or self.app.size.width)

    def _keys(self) -> list[ShownKey]:
        """What the keys do here: of each action its first key.

        Made here and not by the footer that this extends: that one binds each key to a value of its own, and so holds
        all that it ever showed for as long as the screen lives.
        """
        keys: dict[str, ShownKey] = {}
        active = [(binding, enabled) for _, binding, enabled, _ in self.screen.active_bindings.values()]
        for binding, enabled in [*active, *((binding, True) for binding in self._everywhere())]:
            if binding.show and binding.action not in keys:
                keys[binding.action] = ShownKey(
                    binding.key,
                    self.app.get_key_display(binding),
                    binding.description,
                    binding.action,
                    binding.tooltip,
                    enabled,
                )
        return list(keys.values())

    def _everywhere(self) -> list[Binding]:
        """The app's keys that work over a sheet too, though Textual does not count them among its keys."""
        return [each for each in self.app.BINDINGS if isinstance(each, Binding) and each.priority]

    def on_resize(self, event: Resize) -> None:
        if self._bindings_ready:
            self.refresh(recompose=True)


def fitting(keys: Sequence[ShownKey], width: int) -> list[ShownKey]:
    """Those that fit into so many columns, in their order."""
    taken: set[int] = set()
    for at in sorted(range(len(keys)), key=lambda at: (not keys[at].leads, at)):
        if keys[at].columns > width:
            break
        width -= keys[at].columns
        taken.add(at)
    return [key for at, key in enumerate(keys) if at in taken]
