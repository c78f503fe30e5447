"""The slash commands, once: the composer's completion, the palette and the help are made from this list."""

from __future__ import annotations

from dataclasses import dataclass

LEAST_ELSEWHERE = 3
"""Letters by which a command is found under the name that it has in another program."""


@dataclass(frozen=True, slots=True)
class Command:
    """One slash command; its handler is `command_<name>` of the chat screen."""

    name: str
    args: str
    """How its arguments are written, `[optional]`; empty when it takes none."""
    help: str
    elsewhere: tuple[str, ...] = ()
    """What other programs call it: it is found by these, and not called so."""

    @property
    def handler(self) -> str:
        return f"command_{self.name}"

    @property
    def needs_words(self) -> bool:
        """Whether it does nothing without an argument."""
        return bool(self.args) and not self.args.startswith("[")

    @property
    def usage(self) -> str:
        return f"/{self.name} {self.args}".rstrip()


COMMANDS: tuple[Command, ...] = (
    Command("help", "", "Keys and commands", ("commands", "keys")),
    Command("context", "", "What the window holds, token by token", ("cost", "status", "stats", "tokens", "usage")),
    Command("sessions", "", "Other sessions of this workspace", ("continue", "load", "resume", "threads")),
    Command("new", "", "Start a new session", ("reset", "start")),
    Command(
        "fork",
        "[T12]",
        "Go on in a copy of this session, whole or up to a turn; this one stays as it is",
        ("branch", "duplicate"),
    ),
    Command("state", "", "Show or hide the session state"),
    Command("recall", "[query]", "Search the archive", ("find", "search")),
    Command(
        "pin", "[text or T12]", "Keep words, a turn or the last answer in the window whatever leaves it", ("keep",)
    ),
    Command("unpin", "[T12]", "Let a pinned turn leave the window again"),
    Command("pins", "", "What is pinned: read it, unpin it"),
    Command("memory", "", "What the model noted about this workspace: read, edit, undo", ("notes", "remember")),
    Command(
        "instructions",
        "",
        "The project's instructions (AGENTS.md): read them, trust them or not",
        ("agents", "init", "rules", "trust"),
    ),
    Command("retry", "", "Ask for the answer that a message or a result did not get; nothing is sent or run twice"),
    Command("compact", "[focus]", "Summarise the window; the archive keeps every turn", ("summarise", "summarize")),
    Command("uncompact", "", "Put the window back as before the last summary"),
    Command("clear", "", "Empty the window; the archive keeps every turn"),
    Command("unclear", "", "Put the window back as before the last clearing"),
    Command(
        "rewind",
        "[T12]",
        "Go back to before the last exchange, or that of a turn; the archive keeps every turn",
        ("back", "undo"),
    ),
    Command("unrewind", "", "Put back what was rewound past last", ("redo",)),
    Command("history", "", "How many turns and exchanges there are, and how many the window holds"),
    Command("model", "[name]", "Answer with another model from now on", ("models", "provider")),
    Command("copy", "[T12]", "Copy the last answer, or a turn, to the clipboard", ("yank",)),
    Command("export", "[file]", "Write this session to a Markdown file", ("download", "save", "share")),
    Command("rename", "title", "Give this session a title", ("name", "title")),
    Command("tag", "[words]", "Put tags on this session, to find it in the list by them", ("label",)),
    Command("untag", "words", "Take tags off this session", ("unlabel",)),
    Command("quit", "", "Leave loom; everything is kept", ("exit", "bye", "logout")),
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


def likely(name: str) -> Command | None:
    """The command that may be meant by a name that is none; None when that is anybody's guess."""
    elsewhere = {other: command for command in COMMANDS for other in command.elsewhere}
    if name in elsewhere:
        return elsewhere[name]
    from difflib import get_close_matches  # not needed to paint

    close = get_close_matches(name, _BY_NAME, 1, 0.7)
    return _BY_NAME[close[0]] if close else None


def complete(text: str) -> tuple[Command, ...]:
    """The commands that `text`, the composer's whole content, may become; prefixes first, then inner matches, then what
    other programs call so."""
    if not text.startswith("/") or any(c.isspace() for c in text):
        return ()
    wanted = text[1:].lower()
    prefixed = tuple(c for c in COMMANDS if c.name.startswith(wanted))
    found = prefixed + tuple(c for c in COMMANDS if wanted in c.name and c not in prefixed)
    if len(wanted) < LEAST_ELSEWHERE:
        return found
    called = (c for c in COMMANDS if any(name.startswith(wanted) for name in c.elsewhere))
    return found + tuple(c for c in called if c not in found)
