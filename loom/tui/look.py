"""How everything looks, and the keys that work everywhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar

from textual import on
from textual.app import App
from textual.binding import Binding, BindingType
from textual.command import CommandPalette, Provider
from textual.events import Event, InputEvent, Key, MouseDown, Paste
from textual.filter import LineFilter
from textual.notifications import Notify
from textual.screen import Screen
from textual.theme import BUILTIN_THEMES
from textual.timer import Timer

from loom.config import ConfigError
from loom.tui.garbage import Garbage
from loom.tui.guard import TerminalGuard
from loom.tui.palette import Entry, LoomCommands, command_entries, key_entries, theme_entries
from loom.tui.passing import Passing, Said
from loom.tui.screens.chat import ChatScreen
from loom.tui.screens.chat_frame import FramedScreen
from loom.tui.screens.picker import PickerScreen
from loom.tui.terminal import Terminal
from loom.tui.themes import THEMES
from loom.tui.widgets.said_line import SaidLine

PASSING_SECONDS = 0.25
"""How often it is looked whether what is said in passing was there long enough."""
REMARK_SECONDS = 15.0
"""How long something is said that loom found at its start."""
IN_TMUX = "tmux passes on what is copied if its option set-clipboard is on: tmux set -s set-clipboard on"
QUIT_SECONDS = 3.0
"""Ctrl+C leaves when it comes twice within this."""


class LoomLook(App[None]):
    """How everything looks, and the guard that every line passes on its way to the terminal."""

    # Whole: a subclass in another folder would look for it beside itself.
    CSS_PATH = Path(__file__).with_name("app.tcss")
    TITLE = "loom"
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {LoomCommands}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", key_display="^Q", tooltip="Leave loom; everything is kept", priority=True),
        Binding("ctrl+c", "stop", show=False, system=True),
    ]

    def __init__(self, theme: str = "loom-dark", *, clock: Callable[[], float] = monotonic) -> None:
        """Raises ConfigError for a theme that there is not."""
        super().__init__(driver_class=Terminal)
        self._clock = clock
        self.garbage = Garbage(clock)
        self._told_of_tmux = False
        self._quit_asked_at = -QUIT_SECONDS
        self._guard = TerminalGuard()
        # Sixteen colours, or none: shades of the background cannot be told apart there, so that the app's stylesheet
        # marks the cursor otherwise.
        self.set_class(self.no_color or self.console.color_system in (None, "standard"), "-few-colours")
        self._passing = Passing(clock)
        self._look_on: Timer | None = None
        for each in THEMES:
            self.register_theme(each)
        if theme not in self.available_themes:
            known = ", ".join([*(each.name for each in THEMES), *sorted(BUILTIN_THEMES)])
            raise ConfigError(f"`theme` is {theme!r}.", f"It takes one of: {known}.")
        self.theme = theme
        self.remarks: tuple[str, ...] = ()
        """What is said as soon as there is a picture to say it on, one after the other."""

    def on_ready(self) -> None:
        for words in self.remarks:
            self._say(Said(words, "warning", REMARK_SECONDS))

    def copy_to_clipboard(self, text: str) -> None:
        super().copy_to_clipboard(text)
        if os.environ.get("TMUX") and not self._told_of_tmux:
            # No terminal answers whether it took the text, and tmux as it comes does not.
            self._told_of_tmux = True
            self._say(Said(IN_TMUX, "information", REMARK_SECONDS))

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), self._guard]

    async def entries(self, screen: Screen[Any]) -> Sequence[Entry]:
        """What the palette offers over this screen: its commands and keys, and the themes."""
        commands = command_entries(self, screen) if isinstance(screen, ChatScreen) else []
        return [*commands, *key_entries(self, screen, beside_commands=bool(commands)), *theme_entries(self)]

    def action_command_palette(self) -> None:
        if not isinstance(self.screen, CommandPalette):
            self.push_screen(CommandPalette(placeholder="a command, a key, a session, a theme", id="--command-palette"))

    # --- what is said in passing -----------------------------------------------------------------------------

    @property
    def said(self) -> tuple[str, ...]:
        """Everything that is said in passing now, on the screen that is open or on one behind it."""
        return tuple(said.text for said in self._passing.everything)

    def on_notify(self, event: Notify) -> None:
        """Whatever is said with `notify` anywhere. Textual's own notices pile up over the text; they stay hidden."""
        said = event.notification
        self._say(Said(said.message, said.severity, said.timeout, place=self.screen))

    @on(FramedScreen.InPassing)
    def _said_of_conversation(self, event: FramedScreen.InPassing) -> None:
        self._say(event.said)

    def _say(self, said: Said) -> None:
        # What went wrong is not to be missed because another screen is open.
        self._passing.say(replace(said, place=None) if said.severity == "error" else said)
        self._show_said()

    async def on_event(self, event: Event) -> None:
        if isinstance(event, InputEvent | Paste):
            self.garbage.touch()
        if isinstance(event, Key | MouseDown):
            changed = isinstance(event, Key) and self._pressed(event)
            if self._passing.seen() or changed:
                self._show_said()
        await super().on_event(event)

    def _pressed(self, event: Key) -> bool:
        """Whether the key takes something away that was said before it."""
        if event.key not in ("ctrl+c", "ctrl+d"):
            self._quit_asked_at = -QUIT_SECONDS
        return self._passing.pressed()

    def _show_said(self) -> None:
        """Draw what is said on the screen that is open, as long as there is something."""
        if not self.screen_stack:
            return  # loom is being left
        if self._look_on is None:
            # A screen that was covered meanwhile may still show what was said before.
            self.screen_change_signal.subscribe(self, lambda _: self.call_after_refresh(self._show_said))
            self._look_on = self.set_interval(PASSING_SECONDS, self._pass_on)
        screen = self.screen
        self._passing.go_to(screen, self.screen_stack)
        shown = self._passing.shown
        if shown is not None and screen.is_mounted and not screen.query(SaidLine):
            screen.mount(SaidLine())
        for line in screen.query(SaidLine):
            line.show_said(shown, self._passing.waiting)
        if shown is None:
            self._look_on.pause()
        else:
            self._look_on.resume()

    def _pass_on(self) -> None:
        self._passing.pass_on()
        self._show_said()

    async def _check_bindings(self, key: str, priority: bool = False) -> bool:
        if await super()._check_bindings(key, priority):
            return True
        # Textual looks no further than a sheet, so that the app's own Ctrl+C is not reached from there.
        return key == "ctrl+c" and not priority and self.screen.is_modal and await self._check_bindings("escape")

    async def action_stop(self) -> None:
        """Ctrl+C where nothing is selected that it could copy: clear what is being written, else stop what runs; over
        a conversation do what Esc does. Where nothing of that is left, leave, when it comes twice."""
        screen = self.screen
        if isinstance(screen, ChatScreen):
            if screen.stop():
                return
        elif not (isinstance(screen, PickerScreen) and screen.leads_out) and await self._check_bindings("escape"):
            return
        self.action_leave("Ctrl+C")

    def action_leave(self, key: str) -> None:
        """Leave, when the key comes twice."""
        now = self._clock()
        if now - self._quit_asked_at < QUIT_SECONDS:
            self.run_worker(self.action_quit(), group="end", exit_on_error=False)
            return
        self._quit_asked_at = now
        self._passing.answer(Said(f"Press {key} again to quit.", "information", QUIT_SECONDS, fleeting=True))
        self._show_said()
