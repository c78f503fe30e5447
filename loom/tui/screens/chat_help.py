"""The help of the chat screen, made from the lists of keys and commands."""

from __future__ import annotations

from loom.tui.commands import COMMANDS
from loom.tui.keys import KEYS, Place
from loom.tui.screens.help import HelpGroup

_TITLES: dict[Place, tuple[str, str]] = {
    "chat": ("Everywhere in the conversation", ""),
    "composer": ("Writing", ""),
    "message": ("On a message", "Shift+Tab goes there from the composer."),
    "card": ("On a tool call or a fold", "Shift+Tab goes there from the composer."),
    "receipt": ("On the line that says what left the window", "Shift+Tab goes there from the composer."),
    "approval": (
        "Answering a question",
        "A key counts once the keyboard has been quiet for 0.4 seconds, and Enter never answers. While there is text "
        "in the composer the question does not take the keyboard: Tab goes to it.",
    ),
}


def chat_help() -> tuple[HelpGroup, ...]:
    """Commands first: they are what people look for."""
    commands = HelpGroup("Commands", tuple((command.usage, command.help) for command in COMMANDS))
    keys = [
        HelpGroup(title, tuple((key.shown.replace("^", "Ctrl+"), key.help) for key in KEYS if key.where == where), note)
        for where, (title, note) in _TITLES.items()
    ]
    return (commands, *keys)
