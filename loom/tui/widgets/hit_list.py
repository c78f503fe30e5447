"""Search hits as rows, under a heading for each session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from textual.content import Content
from textual.events import Key

from loom.archive.records import SearchHit, TurnKind
from loom.archive.references import named_references
from loom.text import plural, show_line
from loom.tui.age import age, utc_now
from loom.tui.highlight import marked_line
from loom.tui.widgets.key_order import passed_on
from loom.tui.widgets.line import split_line, turn_label
from loom.tui.widgets.row_list import RowList


@dataclass(frozen=True, slots=True)
class SessionHeading:
    """The session that the hits below it come from."""

    session_id: str
    reference: str
    title: str
    hits: int


HitRow = SearchHit | SessionHeading


def grouped(hits: Sequence[SearchHit]) -> list[HitRow]:
    """The hits by session, the session with the best hit first; in each, what holds the words, or is near in meaning,
    before what was only said beside them, best first."""
    sessions: dict[str, list[SearchHit]] = {}
    for hit in hits:
        sessions.setdefault(hit.session_id, []).append(hit)
    rows: list[HitRow] = []
    for session_id, own in sessions.items():
        rows.append(SessionHeading(session_id, own[0].session_reference, own[0].session_title, len(own)))
        rows.extend(_matches_first(own))
    return rows


def _matches_first(hits: Sequence[SearchHit]) -> list[SearchHit]:
    return sorted(hits, key=lambda hit: not (hit.highlights or hit.by_meaning))


def speaker(hit: SearchHit) -> str:
    """`user`, `assistant`, `assistant thinking`, `tool read_file`, `pin`; safe to draw."""
    if hit.is_pin:
        return "pin"
    if hit.tool_name:
        return f"tool {show_line(hit.tool_name, 40)}"
    if hit.kind in (TurnKind.THINKING, TurnKind.TOOL_CALL, TurnKind.SUMMARY):
        return f"{hit.role} {hit.kind.value.replace('_', ' ')}"
    return hit.role


class HitList(RowList[HitRow]):
    """A heading takes one line; a hit two: who said it when, and the words around the match."""

    DEFAULT_CSS = """
    HitList { padding: 0 1; }
    """

    def __init__(self, *, clock: Callable[[], datetime] = utc_now, id: str | None = None) -> None:
        super().__init__(id=id)
        self._clock = clock
        self.mark_related = True
        """Whether hits without a match are called related: they are not where nothing was to be matched."""

    @property
    def hit(self) -> SearchHit | None:
        """The hit under the cursor."""
        current = self.current
        return current if isinstance(current, SearchHit) else None

    async def on_key(self, event: Key) -> None:
        if not passed_on(self, event) and event.key == "slash":
            # At once: as a binding it would be the turn of the letters behind it first.
            event.stop()
            event.prevent_default()
            await self.run_action("screen.to_query")

    def action_choose(self) -> None:
        # Without a hit, too: the first one may still be searched for.
        self.post_message(self.Chosen(self, self._cursor))

    def selectable(self, item: HitRow) -> bool:
        return isinstance(item, SearchHit)

    def height_of(self, item: HitRow, width: int) -> int:
        return 2 if isinstance(item, SearchHit) else 1

    def draw_row(self, item: HitRow, width: int) -> list[Content]:
        if isinstance(item, SessionHeading):
            title = Content.styled(show_line(item.title, 200) or "untitled", "$text-primary bold")
            count = plural(item.hits, "hit")
            right = Content.styled(f"{show_line(item.reference, 12)} · {count}", "$foreground-muted")
            return [split_line(title, right, width)]
        who = Content.assemble((f" {turn_label(item.turn_number)}", "bold"), (f" {speaker(item)}", "$foreground-muted"))
        if item.by_meaning:
            who = who.append(Content.styled(" · near in meaning", "$foreground-muted italic"))
        elif self.mark_related and not item.highlights:
            who = who.append(Content.styled(" · related", "$foreground-muted italic"))
        if item.also_in:
            who = who.append(Content.styled(f" · also in {named_references(item.also_in, 1)}", "$foreground-muted"))
        when = Content.styled(age(item.created_at, self._clock()), "$foreground-muted")
        snippet = marked_line(item.snippet, item.highlights, max(8, width - 3))
        return [split_line(who, when, width), Content("   ").append(snippet)]
