"""A hit where it was said: its turn verbatim, with what was said before and after, or the turns next to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from loom.archive.records import SearchHit, Turn
from loom.archive.references import named_references
from loom.text import plural, show_block
from loom.tui.highlight import excerpt, found_at, marked, occurrences, words_of
from loom.tui.turn_text import turn_heading, turn_text

BEFORE_MATCH = 2_000
AFTER_MATCH = 6_000
"""Characters of the turn that are drawn around the match; the whole is one key away."""
NEIGHBOUR_CHARS = 500
NEIGHBOUR_LINES = 6
MOST_NAMED = 8
"""Sessions that are named of those that have the turn, too."""


@dataclass(frozen=True, slots=True)
class PreviewPage:
    """What the preview draws."""

    content: Content
    to_match: Content
    """What stands above the match; its height is where to scroll to."""


def preview_page(turns: Sequence[Turn], hit: SearchHit) -> PreviewPage:
    """The page for a hit, from the turns around it, ascending."""
    if not any(turn.turn_number == hit.turn_number for turn in turns):
        gone = Content.styled("This turn is not in the archive any more.", "$text-error")
        return PreviewPage(gone, Content(""))
    lines: list[Content] = []
    to_match = Content("")
    for i, turn in enumerate(turns):
        text = turn_text(turn)
        if i and (between := turn.turn_number - turns[i - 1].turn_number - 1):
            lines += [Content.styled(f"… {plural(between, 'turn')} between", "$foreground-muted"), Content("")]
        if turn.turn_number != hit.turn_number:
            lines += [Content.styled(turn_heading(turn), "$foreground-muted"), _neighbour(text), Content("")]
            continue
        first, _ = found_at(text, hit.snippet, hit.highlights) or (0, 0)
        start, end = excerpt(text, first, BEFORE_MATCH, AFTER_MATCH)
        lines.append(Content.styled(turn_heading(turn), "$text-primary bold reverse"))
        if hit.also_in:
            lines.append(Content.styled(f"also in {named_references(hit.also_in, MOST_NAMED)}", "$foreground-muted"))
        if start:
            lines.append(
                Content.styled(f"… {plural(start, 'character')} before · v shows the whole turn", "$text-accent")
            )
        to_match = Content("\n").join([*lines, marked(text[start:first], ())])
        lines.append(marked(text[start:end], occurrences(text[start:end], words_of(hit.snippet, hit.highlights))))
        if end < len(text):
            more = len(text) - end
            lines.append(
                Content.styled(f"… {plural(more, 'character')} after · v shows the whole turn", "$text-accent")
            )
        lines.append(Content(""))
    return PreviewPage(Content("\n").join(lines), to_match)


def _neighbour(text: str) -> Content:
    head = text[:NEIGHBOUR_CHARS]
    lines = head.split("\n")
    cut = len(lines) > NEIGHBOUR_LINES or len(head) < len(text)
    shown = show_block("\n".join(lines[:NEIGHBOUR_LINES]))
    return Content.styled(f"{shown}…" if cut else shown, "$foreground-muted")


class HitPreview(VerticalScroll, can_focus=False):
    """Scrolls to the match."""

    DEFAULT_CSS = """
    HitPreview {
        padding: 0 1;
        scrollbar-size-vertical: 1;
        & > Static { height: auto; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.page: PreviewPage | None = None
        self._text = Static(markup=False)

    def compose(self) -> ComposeResult:
        yield self._text

    def show(self, page: PreviewPage | None) -> None:
        """Draw a page; None draws nothing. Before it is mounted and while it goes, too."""
        self.page = page
        self._text.update(page.content if page is not None else Content(""))
        self.call_after_refresh(self._to_match)

    def _to_match(self) -> None:
        if self.page is None:
            return
        width = self.scrollable_content_region.width
        above = self.page.to_match.get_height({}, width) if width else 0
        self.scroll_to(y=max(0, above - self.size.height // 2), animate=False)
