"""The command palette (Ctrl+P): everything that can be done on the screen behind it, found by its words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from textual.app import App
from textual.command import DiscoveryHit, Hit, Hits, Matcher, Provider
from textual.content import Content
from textual.screen import Screen

from loom.archive.records import Session
from loom.text import show_line
from loom.tui.commands import COMMANDS, Command, command_named
from loom.tui.keys import KEYS
from loom.tui.screens.help import key_text
from loom.tui.themes import THEMES


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that can be done."""

    name: str
    help: str
    run: Callable[[], Any]
    elsewhere: tuple[str, ...] = ()
    """What other programs call it."""


class Offering(Protocol):
    """An app that says what can be done."""

    async def entries(self, screen: Screen[Any]) -> Sequence[Entry]:
        """What can be done on this screen, in the order in which it is offered."""


class LoomCommands(Provider):
    """The entries of the app. Names and help may hold whatever a session's title holds: they are drawn literally."""

    async def startup(self) -> None:
        self._entries = await cast(Offering, self.app).entries(self.screen)

    async def discover(self) -> Hits:
        for each in self._entries:
            yield DiscoveryHit(Content(each.name), each.run, text=each.name, help=_literal(each.help))

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for each in self._entries:
            # A name that fits goes before a help text that does.
            called = max(map(matcher.match, each.elsewhere), default=0.0) * 0.8
            score = max(matcher.match(each.name), matcher.match(f"{each.name} {each.help}") * 0.9, called)
            if score > 0:
                shown = _marked(matcher, each.name)
                yield Hit(score, shown, each.run, text=each.name, help=_literal(each.help))


def _literal(text: str) -> str:
    """Markup that shows this text. (`Content.markup` leaves out a bracket that nothing closes.)"""
    return text.replace("[", r"\[")


def _marked(matcher: Matcher, name: str) -> Content:
    """The name, what was typed marked in it. (`Matcher.highlight` reads markup.)"""
    content = Content(name)
    for offset in matcher.fuzzy_search.match(matcher.query, name)[1]:
        if not name[offset].isspace():
            content = content.stylize(matcher.match_style, offset, offset + 1)
    return content


def command_entries(app: App[Any], screen: Screen[Any]) -> list[Entry]:
    """The slash commands, with the key that does the same."""
    keys = {key.action: key.shown.replace("^", "Ctrl+") for key in KEYS if key.action.startswith("command(")}
    for node, binding, _, _ in screen.active_bindings.values():
        if node is app and (named := command_named(binding.action)):
            keys[f"command('{named.name}')"] = key_text(binding)

    def entry(command: Command) -> Entry:
        action = f"command('{command.name}')"
        key = f" · {keys[action]}" if action in keys else ""
        return Entry(command.usage, f"{command.help}{key}", lambda: screen.run_action(action), command.elsewhere)

    return [entry(each) for each in COMMANDS]


def key_entries(app: App[Any], screen: Screen[Any], *, beside_commands: bool) -> list[Entry]:
    """What the keys of the screen, and of what has the keyboard on it, do now. `beside_commands`: the slash commands
    are offered as well; what the app does by the name of one of them is not said again."""
    entries: dict[str, Entry] = {}
    for node, binding, enabled, tooltip in screen.active_bindings.values():
        told = tooltip or (binding.description if binding.show else "")
        if not told or not enabled or binding.action.startswith(("command", "app.go")):
            # A slash command has an entry of its own; the palette is open.
            continue
        if beside_commands and node is app and command_named(binding.action):
            continue
        # What says no more than the name is not said again below it.
        words = [*([told] if told != binding.description else []), key_text(binding)]

        def run(action: str = binding.action, node: Any = node) -> Any:
            return app.run_action(action, node)

        entries.setdefault(binding.action, Entry(binding.description, " · ".join(words), run))
    return list(entries.values())


def theme_entries(app: App[Any]) -> list[Entry]:
    """The themes; the setting `theme` is what a start begins with."""

    def entry(name: str) -> Entry:
        return Entry(f"Theme {name}", "Until loom is left; the setting `theme` keeps it", lambda: _wear(app, name))

    return [entry(theme.name) for theme in THEMES if theme.name != app.theme]


def _wear(app: App[Any], name: str) -> None:
    app.theme = name


def session_entries(sessions: Sequence[Session], open_session: Callable[[str], object]) -> list[Entry]:
    """The sessions that can be gone to."""

    def entry(session: Session) -> Entry:
        title = show_line(session.title, 80) or "untitled"
        fork = "a fork · " if session.fork_turn is not None else ""
        focus = show_line(session.focus, 80)
        # The first message is the title as well.
        about = f"Open session {show_line(session.reference, 12)} · {fork}{focus if focus != title else ''}"
        return Entry(title, about.rstrip(" ·"), lambda: open_session(session.id))

    return [entry(session) for session in sessions]
