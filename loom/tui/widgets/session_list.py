"""Sessions as rows: two lines each, or one line of columns where there is room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from textual.content import Content
from textual.events import Key
from textual.message import Message

from loom.archive.records import Session
from loom.text import plural, show_line
from loom.tui.age import age, utc_now
from loom.tui.origin import origin_in_words
from loom.tui.places import path_end
from loom.tui.tag_words import tags_in_words
from loom.tui.widgets.line import split_line
from loom.tui.widgets.row_list import RowList

COLUMNS_FROM = 110
"""Cells from which a session is one line of columns."""


@dataclass(frozen=True, slots=True)
class NewSessionRow:
    """The first row: start from nothing."""


SessionRow = Session | NewSessionRow

Mark = Literal["here", "elsewhere", "closed"]
"""Whether a session is open, and where: behind this screen, or in another loom."""
_MARKS: dict[Mark, tuple[str, str]] = {
    "here": ("●", "$text-success"),
    "elsewhere": ("○", "$text-warning"),
    "closed": (" ", "$text-success"),
}
ELSEWHERE = "open in another loom"


def turns_text(count: int) -> str:
    """`1 turn`, `1,204 turns`."""
    return plural(count, "turn")


def wide_row(session: Session, width: int, now: datetime, *, place: str | None, mark: Mark, about: str = "") -> Content:
    """One line: title, reference, turns, age, folder, model, what is to be known `about` it, tags, focus. `place` is
    the folder; None where no row has one, empty where only this one has not."""
    rest = width - 2 - (10 + 13 + 9 + (18 if place is not None else 0))
    title_width = min(60, rest * 2 // 5)
    model_width = min(34, rest // 4)
    focus_width = rest - title_width - model_width - 2
    parts: list[Content] = [
        _mark(mark),
        _cell(_title_line(session), title_width),
        _cell(Content.styled(f" {show_line(session.reference, 12)}", "$text-primary"), 10),
        _cell(Content(turns_text(session.turn_count)).right(12), 13),
        _cell(Content(age(session.last_active_at, now)).right(7), 9),
    ]
    if place is not None:
        parts.append(_cell(Content.styled(path_end(place, 17), "$text-accent"), 18))
    parts.append(_cell(Content.styled(show_line(session.model_name, 60), "$foreground-muted"), model_width))
    parts.append(Content.styled(_with_focus(session, about), "$foreground-muted").truncate(focus_width, ellipsis=True))
    return Content("").join(parts)


def narrow_rows(
    session: Session, width: int, now: datetime, *, place: str | None, mark: Mark, about: str = ""
) -> tuple[Content, Content]:
    """Two lines: title with reference, turns and age; what is to be known `about` it, tags and focus with model."""
    first = split_line(
        _mark(mark).append(_title_line(session)),
        Content.assemble(
            (show_line(session.reference, 12), "$text-primary"),
            (f" {turns_text(session.turn_count).rjust(9)}", ""),
            (f" {age(session.last_active_at, now).rjust(6)} ", ""),
        ),
        width,
    )
    right = show_line(session.model_name, max(12, width // 3))
    if place:
        right = f"{path_end(place, max(12, width // 3))} · {right}"
    second = split_line(Content(f"  {_with_focus(session, about)}"), Content(f"{right} "), width).stylize(
        "$foreground-muted"
    )
    return first, second


def _mark(mark: Mark) -> Content:
    sign, colour = _MARKS[mark]
    return Content.styled(f"{sign} ", colour)


def _title(session: Session) -> str:
    return show_line(session.title, 200) or "untitled"


def _title_line(session: Session) -> Content:
    """A fork is called as what it was made of: the sign in front tells the two apart."""
    fork = ("↳ ", "$text-accent") if session.fork_turn is not None else ""
    return Content.assemble(fork, (_title(session), "bold"))


def _focus(session: Session) -> str:
    """The newest message, unless it is the first one, which is the title."""
    focus = show_line(session.focus, 110)
    return "" if focus == show_line(session.title, 110) else focus


def _with_focus(session: Session, about: str) -> str:
    return " · ".join(part for part in (about, tags_in_words(session.tags), _focus(session)) if part)


def _cell(content: Content, width: int) -> Content:
    return content.truncate(max(1, width - 1), ellipsis=True, pad=True).append(" ")


class SessionList(RowList[SessionRow]):
    """`New session`, then the sessions.

    A printable key that is no command is a word begun: it is given away (Typed), and so is every one that follows,
    until the keyboard comes back. The focus moves later than a burst of keys.
    """

    class Typed(Message):
        """Printable keys that belong into a text."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(
        self,
        *,
        clock: Callable[[], datetime] = utc_now,
        open_id: str | None = None,
        id: str | None = None,
    ) -> None:
        super().__init__((NewSessionRow(),), id=id)
        self._clock = clock
        self._open_id = open_id
        self.with_place = False
        """Whether rows say which folder they belong to."""
        self.here = ""
        """The folder whose sessions do not say where they belong; empty when all do."""
        self.gone: frozenset[str] = frozenset()
        """Folders that are not there any more."""
        self.elsewhere: frozenset[str] = frozenset()
        """The ids of sessions that another loom has open."""
        self.command_keys: frozenset[str] = frozenset()
        """Printable keys that begin no word."""
        self.filter_key = ""
        """The command behind which a text begins."""
        self._gives_away = False
        self.references: dict[str, str] = {}
        """The references of the sessions that are known, by id: a fork says which one it comes from."""

    def set_sessions(self, sessions: Sequence[Session], *, to_first: bool) -> None:
        """Show other sessions behind `New session`. The cursor stays on its session, else where it was; `to_first`
        puts it on the first of them."""
        before = self.current
        rows: list[SessionRow] = [NewSessionRow(), *sessions]
        cursor = 0
        if to_first and sessions:
            cursor = 1
        elif isinstance(before, Session):
            same = (at for at, session in enumerate(sessions, 1) if session.id == before.id)
            cursor = next(same, min(self.cursor, len(sessions)))
        self.set_items(rows, cursor)

    def move_to_session(self, session_id: str) -> bool:
        """Put the cursor on a session; False where it is not listed."""
        here = (at for at, row in enumerate(self.items) if isinstance(row, Session) and row.id == session_id)
        at = next(here, None)
        if at is not None:
            self.move_to(at)
        return at is not None

    def on_focus(self) -> None:
        self._gives_away = False

    def on_key(self, event: Key) -> None:
        if not event.is_printable or event.character is None:
            return
        begins = bool(event.character.strip()) and event.key not in self.command_keys
        if event.key == self.filter_key and not self._gives_away:
            self._gives_away = True  # the key itself is the screen's
        elif begins or self._gives_away:
            event.prevent_default()
            event.stop()
            self._gives_away = True
            self.post_message(self.Typed(event.character))

    def height_of(self, item: SessionRow, width: int) -> int:
        return 1 if isinstance(item, NewSessionRow) or width >= COLUMNS_FROM else 2

    def draw_row(self, item: SessionRow, width: int) -> list[Content]:
        if isinstance(item, NewSessionRow):
            return [Content.styled("+ New session", "$text-success bold")]
        now, place, mark, about = self._clock(), self._place(item), self._mark(item), self._about(item)
        if width >= COLUMNS_FROM:
            return [wide_row(item, width, now, place=place, mark=mark, about=about)]
        return list(narrow_rows(item, width, now, place=place, mark=mark, about=about))

    def _mark(self, session: Session) -> Mark:
        if session.id == self._open_id:
            return "here"
        return "elsewhere" if session.id in self.elsewhere else "closed"

    def _about(self, session: Session) -> str:
        """What is to be known of it before it is chosen."""
        elsewhere = ELSEWHERE if self._mark(session) == "elsewhere" else ""
        origin = "" if session.fork_turn is None else self._origin(session.parent_id, session.fork_turn)
        return " · ".join(words for words in (elsewhere, origin) if words)

    def _place(self, session: Session) -> str | None:
        if not self.with_place:
            return None
        path = session.workspace_path
        if path == self.here:
            return ""
        return f"{path} (gone)" if path in self.gone else path

    def _origin(self, parent_id: str | None, turn: int) -> str:
        return origin_in_words(self.references.get(parent_id or "", ""), turn)
