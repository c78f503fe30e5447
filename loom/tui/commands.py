"""The slash commands, once: the composer's completion, the palette and the help are made from this list."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """One slash command; its handler is `command_<name>` of the chat screen."""

    name: str
    args: str
    """How its arguments are written, `[optional]`; empty when it takes none."""
    help: str

    @property
    def handler(self) -> str:
        return f"command_{self.name}"

    @property
    def usage(self) -> str:
        return f"/{self.name} {self.args}".rstrip()


COMMANDS: tuple[Command, ...] = (
    Command("help", "", "Keys and commands"),
    Command("context", "", "What the window holds, token by token"),
    Command("sessions", "", "Other sessions of this workspace"),
    Command("new", "", "Start a new session"),
    Command("fork", "[T12]", "Go on in a copy of this session, whole or up to a turn; this one stays as it is"),
    Command("state", "", "Show or hide the session state"),
    Command("recall", "[query]", "Search the archive"),
    Command("pin", "[text or T12]", "Keep words, a turn or the last answer in the window whatever leaves it"),
    Command("unpin", "[T12]", "Let a pinned turn leave the window again"),
    Command("pins", "", "What is pinned: read it, unpin it"),
    Command("memory", "", "What the model noted about this workspace: read, edit, undo"),
    Command("instructions", "", "The project's instructions (AGENTS.md): read them, trust them or not"),
    Command("retry", "", "Ask for the answer that a message or a result did not get; nothing is sent or run twice"),
    Command("compact", "[focus]", "Summarise the window; the archive keeps every turn"),
    Command("uncompact", "", "Put the window back as before the last summary"),
    Command("clear", "", "Empty the window; the archive keeps every turn"),
    Command("unclear", "", "Put the window back as before the last clearing"),
    Command("history", "", "How many turns and exchanges there are, and how many the window holds"),
    Command("model", "[name]", "Answer with another model from now on"),
    Command("export", "[file]", "Write this session to a Markdown file"),
    Command("rename", "title", "Give this session a title"),
    Command("quit", "", "Leave loom; everything is kept"),
)

_BY_NAME = {command.name: command for command in COMMANDS}


def command_named(name: str) -> Command | None:
    """The command of that name; None when there is none."""
    return _BY_NAME.get(name)


@dataclass(frozen=True, slots=True)
class Call:
    """A command line as it was typed."""

    name: str
    argument: str

    @property
    def command(self) -> Command | None:
        """The command of that name; None when there is none."""
        return command_named(self.name)


def parse(text: str) -> Call | None:
    """The command that `text` calls; None when it is a message.

    A command is one line that begins with a slash and a word: `/etc/hosts is wrong` and texts of several
    lines are messages.
    """
    line = text.strip()
    if not line.startswith("/") or "\n" in line:
        return None
    name, _, argument = line[1:].partition(" ")
    if not name or not name.replace("-", "").replace("_", "").isalnum():
        return None
    return Call(name.lower(), argument.strip())


def complete(text: str) -> tuple[Command, ...]:
    """The commands that `text`, the composer's whole content, may become; prefixes first, then inner matches."""
    if not text.startswith("/") or any(c.isspace() for c in text):
        return ()
    wanted = text[1:].lower()
    prefixed = tuple(c for c in COMMANDS if c.name.startswith(wanted))
    return prefixed + tuple(c for c in COMMANDS if wanted in c.name and c not in prefixed)
