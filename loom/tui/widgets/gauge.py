"""The gauge: how full the window is, drawn from the numbers that trigger what leaves it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from loom.context.usage import Segment, WindowUsage, short_tokens

WARN_AT = 70.0
CRITICAL_AT = 90.0
ROOMY = 30
"""Cells of the bar that go before what may be left out."""
HYSTERESIS = 5.0
"""Percent points below a threshold at which its colour goes away again, so that it does not flicker."""

_GROUPS: tuple[tuple[tuple[Segment, ...], str, str], ...] = (
    # Each group has a glyph of its own: sixteen colours, or none, still tell them apart.
    ((Segment.TOOLS, Segment.INSTRUCTIONS, Segment.MEMORY, Segment.PROJECT), "▓", "$secondary"),
    ((Segment.STATE, Segment.RECEIPT), "▒", "$accent"),
    ((Segment.USER,), "█", "$primary"),
    ((Segment.ASSISTANT,), "▆", "$success"),
    ((Segment.TOOL,), "▄", "$warning"),
    ((Segment.RECALLED, Segment.PINS, Segment.HINT), "░", "$accent"),
)

NO_WINDOW = "no window: the model cannot be used · /model"
PUT_BACK = (
    "The mark ┃ has moved to the full window: you put something back, and nothing leaves because of that. It returns "
    "to its place when so much is new that something would leave anyway."
)


class Level(StrEnum):
    OK = "ok"
    WARN = "warn"
    CRITICAL = "critical"


_LEVEL_STYLE = {Level.OK: "$foreground-muted", Level.WARN: "$text-warning bold", Level.CRITICAL: "$text-error bold"}

_SIGNS = {Level.OK: "", Level.WARN: "! ", Level.CRITICAL: "!! "}
"""The same without a colour."""
_RANK = {Level.OK: 0, Level.WARN: 1, Level.CRITICAL: 2}


@dataclass(frozen=True, slots=True)
class Cell:
    glyph: str
    style: str


def next_level(level: Level, percent: float) -> Level:
    """The level after a reading: up at 70 and 90 percent, down again 5 points below."""
    if percent >= CRITICAL_AT or (level is Level.CRITICAL and percent > CRITICAL_AT - HYSTERESIS):
        return Level.CRITICAL
    if percent >= WARN_AT or (level is not Level.OK and percent > WARN_AT - HYSTERESIS):
        return Level.WARN
    return Level.OK


def gauge_cells(usage: WindowUsage, width: int) -> list[Cell]:
    """The bar in exactly `width` cells: segments in the order they are sent, free, reserve, and the high-water
    mark where it stands. Every segment that holds anything gets a cell while there is room."""
    if width <= 0:
        return []
    per_token = width / usage.window if usage.window else 0.0
    sizes = [sum(usage.segments.get(segment, 0) for segment in group) for group, _, _ in _GROUPS]
    total = sum(sizes)
    wanted = min(width, max(round(usage.used * per_token), sum(1 for size in sizes if size) if usage.used else 0))
    cells: list[Cell] = []
    for (_, glyph, style), count in zip(_GROUPS, _share(sizes, total, wanted), strict=True):
        cells += [Cell(glyph, style)] * count
    if not total and usage.used:
        cells = [Cell("█", "$primary")] * wanted
    reserve = min(width - len(cells), round(usage.reserve * per_token))
    free = width - len(cells) - reserve
    cells += [Cell("·", "$foreground-muted")] * free + [Cell("╱", "$foreground-muted")] * reserve
    mark = min(width - 1, int(usage.high_water * per_token))
    cells[mark] = Cell("┃", "$text-error" if usage.used >= usage.high_water else "$text")
    return cells


def _share(sizes: list[int], total: int, cells: int) -> list[int]:
    """`cells` shared out in proportion to `sizes` (largest remainder), at least one each where there is room."""
    if not total or cells <= 0:
        return [0] * len(sizes)
    exact = [size * cells / total for size in sizes]
    counts = [max(1, int(share)) if size else 0 for share, size in zip(exact, sizes, strict=True)]
    while sum(counts) > cells:
        counts[max(range(len(counts)), key=lambda i: (counts[i] > 1, counts[i] - exact[i], -sizes[i]))] -= 1
    while sum(counts) < cells:
        counts[max(range(len(counts)), key=lambda i: exact[i] - counts[i])] += 1
    return counts


def gauge_text(usage: WindowUsage) -> str:
    """`42% ~84k/200k assumed`."""
    about = "~" if usage.estimated else ""
    percent = f"{usage.percent:.0f}%" if usage.percent >= 10 or not usage.used else f"{usage.percent:.1f}%"
    assumed = " assumed" if usage.window_assumed else ""
    return f"{percent} {about}{short_tokens(usage.used)}/{short_tokens(usage.window)}{assumed}"


def gauge_words(usage: WindowUsage) -> str:
    """What the bar shows, in a sentence or two."""
    about = "about " if usage.estimated else ""
    words = (
        f"The next request takes {about}{usage.used:,} of {usage.window:,} tokens. ┃ At {usage.high_water:,} the "
        "oldest exchanges leave the window; the archive keeps them. F2 shows what it holds."
    )
    return f"{words}\n{PUT_BACK}" if usage.put_back else words


def gauge_line(usage: WindowUsage | None, level: Level, width: int, *, has_model: bool = True) -> Content:
    """The whole line: bar, numbers, and, where there is room, the cost and how much came from the provider's cache."""
    if usage is None:
        return Content.styled("counting the window…" if has_model else NO_WINDOW, "$foreground-muted")
    numbers = Content.styled(f"{_SIGNS[level]}{gauge_text(usage)}", _LEVEL_STYLE[level])
    extra = f"  ${usage.cost_usd:.2f}" if usage.cost_usd >= 0.005 else ""
    cached = f"  {usage.cache_read_share * 100:.0f}% cached" if usage.cache_read_share is not None else ""
    bar = width - numbers.cell_length - len(extra) - 1
    if bar - len(cached) >= ROOMY:
        extra, bar = extra + cached, bar - len(cached)
    if bar < 8:
        return numbers
    cells = gauge_cells(usage, min(bar, 60))
    return Content.assemble(*[(cell.glyph, cell.style) for cell in cells], " ", numbers, (extra, "$foreground-muted"))


class Gauge(Widget):
    """One line, always in view. Posts Filled once for each time that the window gets so full."""

    DEFAULT_CSS = "Gauge { height: 1; padding: 0 1; }"

    class Filled(Message):
        """A threshold was crossed upwards; it counts again once the reading has been clearly below it."""

        def __init__(self, usage: WindowUsage) -> None:
            super().__init__()
            self.usage = usage

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.usage: WindowUsage | None = None
        self._has_model = True
        self.level = Level.OK

    def show_usage(self, usage: WindowUsage | None, *, has_model: bool = True) -> None:
        """Draw this reading; None while nothing has been counted yet, or, without a model, ever will be."""
        self.usage, self._has_model = usage, has_model
        self.tooltip = Content(gauge_words(usage)) if usage is not None else None
        before, self.level = self.level, next_level(self.level, usage.percent) if usage is not None else Level.OK
        if usage is not None and _RANK[self.level] > _RANK[before]:
            self.post_message(self.Filled(usage))
        self.refresh()

    def render(self) -> Content:
        return gauge_line(self.usage, self.level, self.content_size.width, has_model=self._has_model)
