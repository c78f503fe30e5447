"""Every key of the chat screen, once: bindings, footer and help are made from this list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from textual.binding import Binding, BindingType

Place = Literal["chat", "composer", "message", "card", "receipt", "approval"]


@dataclass(frozen=True, slots=True)
class Key:
    """One key: what it does where."""

    id: str
    """Unique; a key map of the person's may put another key under it."""
    keys: str
    """As Textual spells them, comma between alternatives."""
    shown: str
    """As a person reads it."""
    label: str
    """One or two words for the footer; empty when the footer does not show it."""
    help: str
    where: Place
    action: str = ""
    """Action of the widget that owns the place; empty when the widget handles the key itself."""
    at_once: str = ""
    """What is done in its place by the app itself, before the keys behind it have their turn: they are meant for where
    it leads."""


KEYS: tuple[Key, ...] = (
    Key("chat.interrupt", "escape", "Esc", "Interrupt", "Interrupt the running exchange", "chat", "interrupt"),
    Key("chat.help", "f1", "F1", "Help", "Keys and commands", "chat", "command('help')", "app.go('help')"),
    Key("chat.context", "f2", "F2", "Context", "What the window holds", "chat", "command('context')"),
    Key("chat.state", "ctrl+s", "^S", "State", "Show or hide the session state", "chat", "command('state')"),
    Key(
        "chat.archive",
        "ctrl+f",
        "^F",
        "Archive",
        "Search everything that was ever said",
        "chat",
        "command('recall')",
        "app.go('archive')",
    ),
    Key(
        "chat.sessions",
        "ctrl+o",
        "^O",
        "Sessions",
        "Other sessions of this workspace",
        "chat",
        "command('sessions')",
        "app.go('sessions')",
    ),
    Key("chat.retry", "ctrl+r", "^R", "Retry save", "Write again what could not be written", "chat", "retry_save"),
    Key(
        "chat.ask_again",
        "ctrl+r",
        "^R",
        "Ask again",
        "Ask for the answer that a message or a result did not get",
        "chat",
        "command('retry')",
    ),
    Key("chat.decide", "ctrl+t", "^T", "Decide", "Answer what stands above the composer", "chat", "decide"),
    Key("chat.quit", "ctrl+q", "^Q", "Quit", "Leave loom; everything is kept", "chat"),
    Key(
        "chat.stop",
        "ctrl+c",
        "^C",
        "",
        "Copy what is selected; else clear the composer; else interrupt; else, pressed twice, leave loom. "
        "Anywhere else: go back, as Esc does",
        "chat",
    ),
    Key("chat.palette", "ctrl+p", "^P", "", "Every command, key and session, found by its words", "chat"),
    Key(
        "chat.compose",
        "escape,ctrl+l",
        "Esc, ^L",
        "",
        "When nothing runs: back to the composer and the newest turn",
        "chat",
        "compose",
    ),
    Key(
        "composer.send",
        "enter",
        "Enter",
        "",
        "Send; while an exchange runs, queue; nothing written: send what is held",
        "composer",
    ),
    Key("composer.newline", "shift+enter,ctrl+j,alt+enter", "Shift+Enter, ^J", "", "New line", "composer"),
    Key("composer.previous", "up", "Up", "", "On the first line: queued message back, then history", "composer"),
    Key("composer.next", "down", "Down", "", "On the last line: newer history", "composer"),
    Key("composer.complete", "tab", "Tab", "", "Complete; else to a waiting approval, or the state", "composer"),
    Key("composer.files", "@", "@", "", "Name a file; what it holds goes along with the message", "composer"),
    Key(
        "composer.shell",
        "!",
        "!",
        "",
        "In front: a shell command that you run; Backspace leaves",
        "composer",
    ),
    Key("composer.leave", "ctrl+d", "^D", "", "Nothing written: pressed twice, leave loom", "composer"),
    Key("composer.page_up", "pageup", "PgUp", "", "Scroll the transcript up", "composer"),
    Key("composer.page_down", "pagedown", "PgDn", "", "Scroll the transcript down", "composer"),
    Key("message.whole", "enter,o", "Enter, o", "Whole text", "The whole text, however long", "message", "whole"),
    Key("message.pin", "p", "p", "Pin", "Keep it in the window", "message", "pin"),
    Key("message.unpin", "p", "p", "Unpin", "Where it is pinned: let it leave the window again", "message", "unpin"),
    Key(
        "message.rewind",
        "z",
        "z",
        "Rewind",
        "On a message of yours: go back to before it; it comes back to be changed",
        "message",
        "rewind",
    ),
    Key("card.toggle", "enter,space", "Enter", "Open", "Open or fold the result", "card", "fold"),
    Key("card.whole", "o", "o", "Whole text", "The whole text, however long", "card", "whole"),
    Key("card.pin", "p", "p", "Pin", "Keep it in the window", "card", "pin"),
    Key("card.unpin", "p", "p", "Unpin", "Where it is pinned: let it leave the window again", "card", "unpin"),
    Key(
        "receipt.view",
        "enter,o,v",
        "Enter",
        "View, pin",
        "The turns that left, to read and to pin",
        "receipt",
        "view_left",
    ),
    Key("receipt.back", "b", "b", "Bring back", "Put their exchanges into the window again", "receipt", "bring_back"),
    Key("approval.yes", "y", "y", "", "Yes, this once", "approval"),
    Key("approval.always", "a", "a", "", "Yes, and always this session, until you leave it", "approval"),
    Key("approval.wider", "p", "p", "", "Yes, and always this prefix, where that is offered", "approval"),
    Key("approval.no", "n", "n", "", "No, with a reason for the model", "approval"),
)


def bindings(where: Place) -> list[BindingType]:
    """The bindings of one place, in the order of the list."""
    return [
        Binding(
            key.keys,
            key.at_once or key.action,
            key.label or key.help,
            show=bool(key.label),
            key_display=key.shown,
            tooltip=key.help,
            priority=bool(key.at_once),
            id=key.id,
        )
        for key in KEYS
        if key.where == where and key.action
    ]
