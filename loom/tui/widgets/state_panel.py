"""The session state beside the conversation, as the model sees it."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from loom.text import show_block

WIDE_ENOUGH = 120
"""Columns of the terminal from which the panel is shown unless the person said otherwise: below, the conversation
would have less than 80 left."""


class StatePanel(VerticalScroll):
    """YAML, drawn literally."""

    DEFAULT_CSS = """
    StatePanel {
        width: 36;
        height: 1fr;
        padding: 0 1;
        border-left: vkey $panel;
        scrollbar-size-vertical: 1;
        & > .panel-title { color: $text-muted; text-style: bold; margin-bottom: 1; }
        & > .yaml { height: auto; color: $foreground 85%; }
    }
    """
    can_focus = False

    def compose(self) -> ComposeResult:
        yield Static(Content("Session state"), classes="panel-title", markup=False)
        yield Static("", classes="yaml", markup=False)

    def show_yaml(self, yaml: str) -> None:
        self.query_one(".yaml", Static).update(yaml_content(yaml))


def yaml_content(yaml: str) -> Content:
    """The YAML with its keys picked out; safe to draw."""
    lines: list[Content] = []
    for line in show_block(yaml.rstrip("\n"), max_chars=16_000).split("\n"):
        key, colon, value = line.partition(":")
        bare = key.strip().removeprefix("- ")
        if colon and bare.isidentifier():
            lines.append(Content.assemble((key + colon, "$text-primary"), value))
        else:
            lines.append(Content(line))
    return Content("\n").join(lines)
