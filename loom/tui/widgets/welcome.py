"""What an empty conversation says: what loom is, where it works, who answers, the keys worth knowing."""

from __future__ import annotations

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from loom.config import OFFLINE
from loom.text import show_block, show_line
from loom.tui.keys import KEYS

WORTH_KNOWING = ("chat.help", "chat.archive")


@dataclass(frozen=True, slots=True)
class WelcomeInfo:
    """What the welcome is about."""

    workspace: str
    model: str
    reason: str
    """Why this model: `ANTHROPIC_API_KEY is set`."""
    note: str = ""
    """What is to be said about the model; what is wrong with it if it is not usable."""
    usable: bool = True


def model_content(info: WelcomeInfo) -> Content:
    """Who answers, and what to know or do about it."""
    name, note = show_line(info.model, 100), show_block(info.note, max_chars=1_000).strip()
    if not info.usable:
        lines = [Content.styled(note, "$text-error")]
        lines.append(Content("/model chooses another. The archive can be read and searched without one."))
    elif info.model == OFFLINE:
        head = Content.styled("offline", "$text-warning bold")
        lines = [
            head.append(": no intelligence, plain requests over the real tools. Send help for what it understands.")
        ]
        lines.append(Content(note or "/model chooses a real one."))
    else:
        reason = show_line(info.reason, 100)
        lines = [Content.assemble((name, "$text-success bold"), f", {reason}" if reason else "")]
        lines += [Content(note)] if note else []
    return Content("\n").join(lines)


def keys_content() -> Content:
    """`/ commands · F1 keys …`, from the list that the bindings are made of."""
    said = {key.id: (key.shown, key.help) for key in KEYS}
    parts = [Content.assemble(("/", "$text-primary bold"), " for commands")]
    for shown, words in (said[each] for each in WORTH_KNOWING):
        parts.append(Content.assemble((shown, "$text-primary bold"), f" {words[:1].lower()}{words[1:]}"))
    return Content(" · ").join(parts)


class Welcome(Vertical):
    """Stands in an empty transcript; no turn."""

    DEFAULT_CSS = """
    Welcome {
        height: auto;
        padding: 0 2;
        color: $foreground-muted;
        & > .what { height: auto; margin-bottom: 1; }
        & > Horizontal { height: auto; margin-bottom: 1; }
        & .about { width: 11; height: auto; text-style: bold; }
        & .value { width: 1fr; height: auto; }
    }
    """

    def __init__(self, info: WelcomeInfo) -> None:
        super().__init__()
        self._info = info

    def compose(self) -> ComposeResult:
        what = Content.assemble(("loom", "$text-primary bold"), ", a terminal coworker that never forgets")
        yield Static(what, classes="what", markup=False)
        yield from self._row("Workspace", Content(show_line(self._info.workspace, 300)))
        yield from self._row("Model", model_content(self._info))
        yield from self._row("Keys", keys_content())

    def _row(self, about: str, value: Content) -> ComposeResult:
        with Horizontal():
            yield Static(Content(about), classes="about", markup=False)
            yield Static(value, classes="value", id=f"welcome-{about.lower()}", markup=False)

    def show(self, info: WelcomeInfo) -> None:
        """Say it of another model."""
        self._info = info
        for model in self.query("#welcome-model").results(Static):
            model.update(model_content(info))
