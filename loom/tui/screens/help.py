"""Keys and commands, scrollable and searchable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.keys import format_key
from textual.screen import Screen
from textual.widgets import Input, Static

from loom.text import show_block, show_line
from loom.tui.widgets.key_bar import KeyBar
from loom.tui.widgets.key_order import LineBox
from loom.tui.widgets.title_line import TitleLine

MARGIN = 6
"""Cells of a line that are padding and scrollbar."""


@dataclass(frozen=True, slots=True)
class HelpGroup:
    """Entries that belong together: what to press or type, and what it does."""

    title: str
    entries: tuple[tuple[str, str], ...]
    note: str = ""
    """A sentence above the entries."""


def group_of_bindings(title: str, bindings: Iterable[BindingType], note: str = "") -> HelpGroup:
    """The help of a screen from its own bindings: a binding's tooltip, or its description."""
    entries = [
        (key_text(binding), binding.tooltip or binding.description)
        for binding in bindings
        if isinstance(binding, Binding) and binding.description
    ]
    return HelpGroup(title, tuple(entries), note)


def key_text(binding: Binding) -> str:
    """The keys of a binding as a person reads them: `Up, k`."""
    if binding.key_display and not binding.key_display.startswith("^"):
        return binding.key_display
    return ", ".join(_named(key.strip()) for key in binding.key.split(","))


def _named(key: str) -> str:
    if key.startswith("ctrl+"):
        return f"Ctrl+{key[5:].upper()}"
    if key.startswith("shift+"):
        return f"Shift+{_named(key[6:])}"
    names = {"pagedown": "PgDn", "pageup": "PgUp", "escape": "Esc"}
    shown = names.get(key) or format_key(key)
    return shown if len(key) == 1 or len(shown) == 1 else shown[0].upper() + shown[1:]


def matching(groups: Sequence[HelpGroup], wanted: str) -> tuple[HelpGroup, ...]:
    """The groups with the entries that hold every word of `wanted`; all of them when it is empty."""
    words = wanted.casefold().split()
    if not words:
        return tuple(groups)
    found = []
    for group in groups:
        entries = tuple(
            entry
            for entry in group.entries
            if all(word in " ".join((group.title, *entry)).casefold() for word in words)
        )
        if entries:
            found.append(HelpGroup(group.title, entries, group.note))
    return tuple(found)


def help_content(groups: Sequence[HelpGroup], width: int) -> Content:
    """The page: keys in a column, what they do beside it; below it where the page is narrow."""
    longest = max((len(key) for group in groups for key, _ in group.entries), default=0)
    column = min(max(longest, 6), max(6, width // 3)) + 2
    lines: list[Content] = []
    for group in groups:
        lines += [Content(""), Content.styled(show_line(group.title), "$text-primary bold")]
        if group.note:
            lines += _block(Content.styled(show_block(group.note), "$foreground-muted"), 0, width)
        for key, does in group.entries:
            shown = Content.styled(show_line(key), "$text-accent")
            said = _block(Content(show_block(does)), column + 2, width)
            if shown.cell_length <= column - 1:
                said[0] = Content.assemble("  ", shown.pad_right(column - shown.cell_length), said[0].plain.lstrip())
                lines += said
            else:
                lines += [Content.assemble("  ", shown), *said]
    return Content("\n").join(lines)


def _block(text: Content, indent: int, width: int) -> list[Content]:
    return [line.pad_left(indent) for line in text.wrap(max(10, width - indent))] or [Content("")]


class HelpScreen(Screen[None]):
    """The groups it is given, in that order."""

    DEFAULT_CSS = """
    HelpScreen {
        & VerticalScroll { padding: 0 2; scrollbar-size-vertical: 1; }
        & .page { height: auto; }
        & Input { display: none; margin: 0 1; }
        & Input.-shown { display: block; }
    }
    """
    AUTO_FOCUS = "VerticalScroll"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Search", key_display="/"),
        Binding("j", "scroll(1)", "Down", show=False),
        Binding("k", "scroll(-1)", "Up", show=False),
        Binding("escape,q,question_mark,f1", "leave", "Back", key_display="Esc"),
    ]

    def __init__(self, groups: Sequence[HelpGroup]) -> None:
        super().__init__()
        self._groups = tuple(groups)

    def compose(self) -> ComposeResult:
        yield TitleLine(Content.styled("Help", "bold"), Content.styled("/ searches", "$foreground-muted"))
        yield LineBox(placeholder="a key, a command, a word", compact=True, select_on_focus=False)
        with VerticalScroll():
            yield Static(classes="page", markup=False)
        yield KeyBar()

    def on_resize(self) -> None:
        self._draw()

    def action_scroll(self, by: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=by, animate=False)

    def action_search(self) -> None:
        box = self.query_one(Input)
        box.add_class("-shown")
        box.focus()

    def action_leave(self) -> None:
        box = self.query_one(Input)
        if box.has_class("-shown"):
            box.remove_class("-shown")
            box.value = ""
            self.query_one(VerticalScroll).focus()
        else:
            self.dismiss(None)

    @on(Input.Changed)
    def _changed(self) -> None:
        self._draw()
        self.query_one(VerticalScroll).scroll_home(animate=False)

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.query_one(VerticalScroll).focus()

    def _draw(self) -> None:
        wanted = self.query_one(Input).value
        groups = matching(self._groups, wanted)
        width = max(20, self.size.width - MARGIN)
        page = help_content(groups, width) if groups else Content(f"Nothing about “{show_line(wanted, 60)}”.")
        self.query_one(".page", Static).update(page)
