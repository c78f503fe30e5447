"""The gauge's numbers and cells."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom.context.usage import Segment, WindowUsage, short_tokens
from loom.cowork.events import UsageChanged
from loom.tui.widgets.gauge import Level, gauge_cells, gauge_line, gauge_text, next_level
from tests.tui.conftest import ChatApp


def usage(used: int, window: int = 200_000, *, assumed: bool = False, estimated: bool = False) -> WindowUsage:
    segments = {Segment.TOOLS: used // 4, Segment.USER: used // 4, Segment.TOOL: used - 2 * (used // 4)}
    return WindowUsage(segments, window, assumed, 8_000, int((window - 8_000) * 0.9), used, estimated)


def test_it_says_percent_tokens_and_window() -> None:
    assert gauge_text(usage(84_000)) == "42% 84k/200k"
    assert gauge_text(usage(84_000, assumed=True, estimated=True)) == "42% ~84k/200k assumed"
    assert gauge_text(usage(1_830)) == "0.9% 1.8k/200k"
    assert gauge_text(usage(0)) == "0% 0/200k"


@pytest.mark.parametrize(
    ("tokens", "text"),
    [(0, "0"), (999, "999"), (1_000, "1k"), (8_400, "8.4k"), (9_960, "10k"), (84_444, "84k"), (1_050_000, "1.1M")],
)
def test_tokens_are_short(tokens: int, text: str) -> None:
    assert short_tokens(tokens) == text


def test_colours_do_not_flicker_around_a_threshold() -> None:
    level, seen = Level.OK, []
    for percent in (69, 70, 69, 66, 65, 89.9, 90, 88, 86, 85, 71, 64):
        level = next_level(level, percent)
        seen.append(level.value)
    assert seen == [
        "ok",
        "warn",
        "warn",
        "warn",
        "ok",
        "warn",
        "critical",
        "critical",
        "critical",
        "warn",
        "warn",
        "ok",
    ]


def test_the_mark_stands_where_exchanges_leave() -> None:
    cells = gauge_cells(usage(10_000), 50)
    assert [i for i, cell in enumerate(cells) if cell.glyph == "┃"] == [43]
    assert "".join(cell.glyph for cell in cells).endswith("╱╱")


def test_each_segment_that_holds_anything_is_seen() -> None:
    glyphs = {cell.glyph for cell in gauge_cells(usage(300), 40)}
    assert {"▓", "█", "▄"} <= glyphs


@given(
    st.dictionaries(st.sampled_from(list(Segment)), st.integers(0, 10**6)),
    st.integers(0, 10**6),
    st.integers(1, 10**6),
    st.integers(0, 10**6),
    st.integers(0, 10**6),
    st.integers(0, 200),
)
def test_any_reading_fills_exactly_the_width(
    segments: dict[Segment, int], used: int, window: int, reserve: int, high: int, width: int
) -> None:
    reading = WindowUsage(segments, window, False, reserve, high, used, True)
    assert len(gauge_cells(reading, width)) == width
    assert gauge_line(reading, Level.OK, max(30, width)).cell_length <= max(30, width)


def test_it_fits_sixty_columns() -> None:
    line = gauge_line(usage(150_000, assumed=True, estimated=True), Level.WARN, 58)
    assert line.cell_length == 58
    assert line.plain.endswith("75% ~150k/200k assumed")


def test_what_came_from_the_cache_is_said_where_there_is_room() -> None:
    reading = replace(usage(84_000), cost_usd=1.25, cache_read_share=0.83)
    assert gauge_line(reading, Level.OK, 100).plain.endswith("42% 84k/200k  $1.25  83% cached")
    narrow = gauge_line(reading, Level.OK, 58)
    assert narrow.plain.endswith("42% 84k/200k  $1.25") and narrow.cell_length == 58


def test_pins_memory_and_instructions_are_seen() -> None:
    reading = WindowUsage({Segment.PROJECT: 400, Segment.PINS: 300}, 10_000, False, 800, 8_000, 700, False)
    bar = "".join(cell.glyph for cell in gauge_cells(reading, 60))
    assert bar.startswith("▓▓░░") and "┃" in bar


def test_without_colours_every_group_and_level_is_told_from_the_others() -> None:
    groups = ({Segment.TOOLS}, {Segment.STATE}, {Segment.USER}, {Segment.ASSISTANT}, {Segment.TOOL}, {Segment.HINT})
    glyphs = ["▓", "▒", "█", "▆", "▄", "░"]
    full = {segment: 1_000 for group in groups for segment in group}
    bar = gauge_cells(WindowUsage(full, 10_000, False, 1_000, 8_500, 6_000, False), 100)
    seen = [cell.glyph for at, cell in enumerate(bar) if at == 0 or bar[at - 1].glyph != cell.glyph]
    assert seen == [*glyphs, "·", "┃", "·", "╱"]
    said = [gauge_line(usage(150_000), level, 70).plain for level in Level]
    assert ["!! 75%" in said[2], " ! 75%" in said[1], "!" in said[0]] == [True, True, False]


async def test_a_window_that_fills_is_said_once_at_each_threshold() -> None:
    app = ChatApp()
    async with app.run_test() as pilot:
        for tokens in (100_000, 141_000, 139_000, 141_000, 181_000, 185_000, 120_000, 141_000):
            app.service.tell(UsageChanged(usage(tokens)))
            await app.chat.drawn()
            await pilot.pause()
        said = app.said
        assert [(each.text.split(".")[0], each.count) for each in app._passing.everything] == [
            ("The window is 70% full", 2),
            ("The window is 90% full", 1),
        ], "up, further up, and up again after it had been down"
        assert "At 86% the oldest of it leaves; the archive keeps every turn." in said[0]
        assert "oldest" not in said[1]
