"""The window as tables: by segment, exchange by exchange, and what left it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

from loom.archive.records import RequestLine, TurnKind
from loom.context.course import spans_in
from loom.context.usage import Segment, WindowUsage
from loom.text import plural, show_line
from loom.tui.widgets.gauge import PUT_BACK, Cell
from loom.tui.widgets.usage_grid import look_of

if TYPE_CHECKING:
    # The conversation's side is not needed to paint.
    from loom.context.outlook import Outlook
    from loom.cowork.contents import ExchangeInWindow, WindowContents

NAMES: dict[Segment, str] = {
    Segment.TOOLS: "Tool schemas",
    Segment.INSTRUCTIONS: "Instructions",
    Segment.MEMORY: "Memory",
    Segment.PROJECT: "Project instructions",
    Segment.STATE: "Session state",
    Segment.RECEIPT: "Receipt",
    Segment.USER: "Your messages",
    Segment.ASSISTANT: "Answers",
    Segment.TOOL: "Tool results",
    Segment.RECALLED: "Recalled",
    Segment.PINS: "Pins",
    Segment.HINT: "Hint",
}


_MARKS = {TurnKind.RECEIPT: "", TurnKind.NOTE: "", TurnKind.SUMMARY: "Summarised: "}
"""The kinds of turns that say what left, and what is put before words that do not say by themselves what they are."""


@dataclass(frozen=True, slots=True)
class LeftLine:
    """One time that something left the window."""

    turn: int
    """The turn that says so."""
    text: str


@dataclass(frozen=True, slots=True)
class UsageReport:
    """Everything that the usage view says."""

    usage: WindowUsage
    model: str
    exchanges: tuple[ExchangeInWindow, ...] = ()
    """In the window, oldest first."""
    left: tuple[LeftLine, ...] = ()
    """Newest first."""
    requests: tuple[RequestLine, ...] = ()
    """Every request so far, oldest first."""
    outlook: Outlook | None = None
    """What would leave next."""


def uncounted(has_model: bool) -> str:
    """Why there is no report."""
    waits = "The window is still being counted."
    return waits if has_model else "The window is not counted: the model cannot be used. /model chooses another."


def usage_report(usage: WindowUsage, model: str, contents: WindowContents) -> UsageReport:
    """What the usage view says of this window."""
    left = tuple(
        LeftLine(mark.turn_number, f"{_MARKS[mark.kind]}{mark.content or ''}")
        for mark in contents.marks
        if mark.kind in _MARKS
    )
    return UsageReport(usage, model, contents.exchanges, left, outlook=contents.outlook)


@dataclass(frozen=True, slots=True)
class UsageRow:
    """One line of the table by segment."""

    name: str
    tokens: int
    share: float
    """Of the whole window, 0 to 1."""
    look: Cell | None = None
    total: bool = False


def usage_rows(usage: WindowUsage) -> list[UsageRow]:
    """A row for each segment that holds anything, in the order sent, then used, free, reserve and the trigger."""

    def row(name: str, tokens: int, look: Cell | None = None, *, total: bool = False) -> UsageRow:
        return UsageRow(name, tokens, tokens / usage.window if usage.window else 0.0, look, total)

    rows = [row(NAMES[each], usage.segments[each], look_of(each)) for each in Segment if usage.segments.get(each)]
    counted = sum(usage.segments.values())
    if usage.used != counted:
        # The provider's count is the one that triggers; ours by segment is an estimate.
        rows.append(row("Model's own count differs by", usage.used - counted))
    rows.append(row("Used", usage.used, total=True))
    rows.append(row("Free", usage.free, Cell("·", "$foreground-muted")))
    rows.append(row("Reserve for the answer", usage.reserve, Cell("╱", "$foreground-muted")))
    rows.append(row("Exchanges leave at", usage.high_water, Cell("┃", "$text")))
    return rows


def table_content(usage: WindowUsage, width: int) -> Content:
    """Look, name, tokens, share, and a bar where there is room."""
    lines: list[Content] = []
    about = "~" if usage.estimated else ""
    for row in usage_rows(usage):
        style = "bold" if row.total else ""
        look: tuple[str, str] = (row.look.glyph, row.look.style) if row.look is not None else (" ", "")
        name = Content.styled(row.name, style).truncate(max(8, min(30, width - 22)), ellipsis=True, pad=True)
        tokens = f"{about if row.total else ''}{row.tokens:,}".rjust(10)
        line = Content.assemble(look, " ", name, (tokens, style), (_percent(row.share), style or "$foreground-muted"))
        room = min(24, width - line.cell_length - 2)
        if room >= 8 and row.look is not None and row.share > 0:
            line = line.append(Content.styled("  " + "━" * max(1, round(min(1.0, row.share) * room)), row.look.style))
        lines.append(line)
    if usage.put_back:
        lines += Content.styled(PUT_BACK, "$text-accent").wrap(max(20, width))
    return Content("\n").join(lines)


def _percent(share: float) -> str:
    """In a column of eight, also of a window that is far too small."""
    most = 9_999
    if abs(share * 100) <= most:
        return f"{share * 100:7.1f}%"
    return (f">{most:,}%" if share > 0 else f"<-{most:,}%").rjust(8)


def summary_content(report: UsageReport) -> Content:
    """Model, percent, tokens of the window, what was assumed, cost and cache, in one wrapped line."""
    usage = report.usage
    about = "~" if usage.estimated else ""
    parts = [
        Content.styled(show_line(report.model, 80), "bold"),
        Content(f"{about}{usage.used:,} of {usage.window:,} tokens, {usage.percent:.1f}%"),
    ]
    if usage.window_assumed:
        parts.append(Content.styled("window size assumed", "$text-warning"))
    if usage.used >= usage.high_water:
        parts.append(Content.styled("exchanges leave before the next request", "$text-error"))
    if usage.cost_usd:
        parts.append(Content(f"${usage.cost_usd:.4f} so far"))
    if usage.cache_read_share is not None:
        parts.append(Content(f"{usage.cache_read_share * 100:.0f}% of the last request from the cache"))
    return Content("  ·  ").join(parts)


def turns_label(first: int, last: int) -> str:
    """`T3`, `T3–T9`."""
    return f"T{first}" if first == last else f"T{first}–T{last}"


def exchanges_content(exchanges: Sequence[ExchangeInWindow], width: int) -> Content:
    """The exchanges in the window, newest first: turns, tokens, first words."""
    if not exchanges:
        return Content.styled("Nothing yet: the next message begins the first exchange.", "$foreground-muted")
    lines = []
    for each in reversed(exchanges):
        head = Content.assemble(
            (turns_label(each.first_turn, each.last_turn).ljust(13), "$text-primary"),
            f"{each.tokens:>9,}  ",
        )
        # An exchange that reaches over the window's beginning has left its question behind.
        said = show_line(each.text, 200)
        words = Content(said) if said else Content.styled("its beginning has left", "$foreground-muted")
        lines.append(head.append(words).truncate(width, ellipsis=True))
    return Content("\n").join(lines)


def outlook_content(outlook: Outlook | None) -> Content:
    """When something would leave, and what."""
    if outlook is None:
        return Content.styled("Not counted yet.", "$foreground-muted")
    words = f"Nothing before {outlook.high:,} tokens; that is {outlook.room:,} from here."
    if not outlook.room:
        words = f"The mark of {outlook.high:,} tokens is passed: with the next request."
    steps = []
    if outlook.shortened_to:
        freed = f"{outlook.shortened_tokens:,} tokens"
        steps.append(f"tool outputs up to T{outlook.shortened_to} are shortened ({freed})")
    if outlook.left_to:
        exchanges = plural(outlook.left_exchanges, "exchange")
        turns = turns_label(outlook.left_from, outlook.left_to)
        steps.append(f"{turns} leave ({exchanges}, {outlook.left_tokens:,} tokens)")
    if not steps:
        return Content(f"{words} There is nothing yet that could leave but the newest exchange.")
    return Content(f"{words} Then {', and '.join(steps)}.")


def left_content(left: Sequence[LeftLine]) -> Content:
    """What left the window, newest first; the archive has all of it."""
    if not left:
        return Content.styled("Nothing has left the window.", "$foreground-muted")
    return Content("\n").join(
        Content.assemble(show_line(each.text, 400), (f"  T{each.turn}", "$foreground-muted")) for each in left
    )


def requests_content(requests: Sequence[RequestLine], width: int, most: int = 20) -> Content:
    """The newest requests: what the gauge expected of each, what the provider counted and had cached, and its turns."""
    if not requests:
        return Content.styled("No request yet.", "$foreground-muted")
    head = f"{'request':>7} {'expected':>9} {'counted':>9} {'off':>7} {'cached':>6}  turns"
    lines = [Content.styled(head, "$foreground-muted")]
    for each in list(reversed(requests))[:most]:
        counted = f"{each.reported_tokens:,}" if each.reported_tokens is not None else "–"
        off = cached = ""
        if each.reported_tokens:
            off = f"{100 * (each.expected_tokens - each.reported_tokens) / each.reported_tokens:+.1f}%"
            cached = "" if each.cached_share is None else f"{each.cached_share:.0%}"
        turns = spans_in(each, "–")
        line = f"{each.request:>7} {each.expected_tokens:>9,} {counted:>9} {off:>7} {cached:>6}  {turns}"
        lines.append(Content(line).truncate(width, ellipsis=True))
    if len(requests) > most:
        lines.append(Content.styled(f"and {len(requests) - most:,} before", "$foreground-muted"))
    words = (
        "expected: what the gauge said before it was sent; counted: what came back with the answer. loom learns from "
        "each answer how this model counts, so the first request may be far off."
    )
    return Content("\n").join([*lines, Content.styled(words, "$foreground-muted")])
