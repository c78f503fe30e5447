"""What a search is limited to, each limit with its key; a click is the same as the key."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal, TypeVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from loom.archive.records import Role
from loom.text import show_line

Value = TypeVar("Value")
FacetName = Literal["scope", "role", "tool", "time"]

ROLES: tuple[Role | None, ...] = (None, "user", "assistant", "tool")
DAYS: tuple[int | None, ...] = (None, 1, 7, 30, 365)
_SINCE = {None: "any time", 1: "last 24 h", 7: "last 7 days", 30: "last 30 days", 365: "last year"}


class Scope(StrEnum):
    """Where to search."""

    SESSION = "session"
    WORKSPACE = "workspace"
    ALL = "all"


_SCOPE_WORDS = {Scope.SESSION: "this session", Scope.WORKSPACE: "this workspace", Scope.ALL: "everything"}


@dataclass(frozen=True, slots=True)
class Facets:
    """The limits of one search."""

    scope: Scope
    role: Role | None = None
    tool: str | None = None
    days: int | None = None

    @property
    def is_limited(self) -> bool:
        """Whether anything but the scope is."""
        return self.role is not None or self.tool is not None or self.days is not None

    def after(self, now: datetime) -> str | None:
        """The time that hits must be newer than, as the archive writes times."""
        if self.days is None:
            return None
        return (now - timedelta(days=self.days)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def words(self) -> str:
        """The limits as a person says them: `this session, role tool, last 7 days`; safe to draw."""
        parts = [_SCOPE_WORDS[self.scope]]
        if self.role is not None:
            parts.append(f"role {self.role}")
        if self.tool is not None:
            parts.append(f"tool {show_line(self.tool, 40)}")
        if self.days is not None:
            parts.append(_SINCE[self.days])
        return ", ".join(parts)


def next_facet(facets: Facets, name: FacetName, *, scopes: tuple[Scope, ...], tools: tuple[str, ...]) -> Facets:
    """The facets with one limit switched to its next value; after the last comes the first."""
    match name:
        case "scope":
            return replace(facets, scope=_after(facets.scope, scopes))
        case "role":
            return replace(facets, role=_after(facets.role, ROLES))
        case "tool":
            return replace(facets, tool=_after(facets.tool, (None, *tools)))
        case "time":
            return replace(facets, days=_after(facets.days, DAYS))


def _after(value: Value, values: tuple[Value, ...]) -> Value:
    return values[(values.index(value) + 1) % len(values)] if value in values else values[0]


class Facet(Static):
    """One limit."""

    DEFAULT_CSS = """
    Facet { width: auto; height: 1; margin-right: 2; color: $text-muted; }
    Facet:hover { background: $primary 20%; }
    """

    class Pressed(Message):
        def __init__(self, name: FacetName) -> None:
            super().__init__()
            self.name = name

    def __init__(self, name: FacetName, key: str) -> None:
        super().__init__(markup=False)
        self._facet: FacetName = name
        self._key = key

    def say(self, text: str, *, chosen: bool) -> None:
        style = "$text-accent bold" if chosen else "$foreground-muted"
        self.update(Content.assemble((self._key, "$text-primary"), (f" {text}", style)))

    def on_click(self) -> None:
        self.post_message(self.Pressed(self._facet))


class FacetBar(Horizontal):
    """Scope, role, tool and time in one line."""

    DEFAULT_CSS = """
    FacetBar { height: 1; padding: 0 1; }
    """

    def __init__(self, facets: Facets, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._facets = facets
        self._parts: dict[FacetName, Facet] = {
            "scope": Facet("scope", "^T"),
            "role": Facet("role", "^R"),
            "tool": Facet("tool", "^O"),
            "time": Facet("time", "^G"),
        }

    def compose(self) -> ComposeResult:
        yield from self._parts.values()

    def on_mount(self) -> None:
        self.show(self._facets)

    def on_resize(self) -> None:
        self.show(self._facets)

    def show(self, facets: Facets) -> None:
        """Draw these limits, where there is too little room in fewer words."""
        self._facets = facets
        words = _words(facets, 24)
        if sum(cell_len(each) + len("^T   ") for each in words.values()) > self.content_size.width + len("  "):
            words = {
                name: each.removeprefix("this ").removeprefix("last ") for name, each in _words(facets, 15).items()
            }
        chosen = {"role": facets.role, "tool": facets.tool, "time": facets.days}
        for name, part in self._parts.items():
            part.say(words[name], chosen=name == "scope" or chosen[name] is not None)


def _words(facets: Facets, tool_cells: int) -> dict[FacetName, str]:
    return {
        "scope": _SCOPE_WORDS[facets.scope],
        "role": facets.role or "any role",
        "tool": show_line(facets.tool, tool_cells) if facets.tool is not None else "any tool",
        "time": _SINCE[facets.days],
    }
