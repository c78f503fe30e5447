"""The usage view: what it says is what the gauge's numbers say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from textual.containers import VerticalScroll
from textual.widgets import Static

from loom.archive.records import RequestLine, TurnKind
from loom.context.outlook import Outlook
from loom.context.usage import Segment, WindowUsage
from loom.cowork.contents import ExchangeInWindow, WindowContents
from loom.text import UNSAFE
from loom.tui.screens.usage import UsageScreen
from loom.tui.widgets.usage_grid import grid_content, grid_rows, look_of
from loom.tui.widgets.usage_table import (
    NAMES,
    LeftLine,
    UsageReport,
    exchanges_content,
    left_content,
    outlook_content,
    requests_content,
    summary_content,
    table_content,
    usage_report,
    usage_rows,
)
from tests.support.browsing import HOSTILE, alone, until
from tests.support.turns import turn

USAGE = WindowUsage(
    segments={
        Segment.TOOLS: 3_200,
        Segment.INSTRUCTIONS: 1_100,
        Segment.STATE: 640,
        Segment.RECEIPT: 40,
        Segment.USER: 8_300,
        Segment.ASSISTANT: 14_900,
        Segment.TOOL: 52_000,
    },
    window=200_000,
    window_assumed=True,
    reserve=16_000,
    high_water=150_000,
    used=80_180,
    estimated=True,
    cost_usd=0.4213,
    cache_read_share=0.84,
)


def line(request: int, expected: int, reported: int | None, **more: int) -> RequestLine:
    given: dict[str, Any] = {
        "exchange": request,
        "created_at": "2026-03-04T10:00:00.000000Z",
        "model_name": "anthropic:claude-sonnet-4-5",
        "window_tokens": 200_000,
        "high_water": 150_000,
        "estimated_tokens": expected,
        "cache_read_tokens": None,
        "last_turn": 40 + request,
        "left_to": 40,
        "summary": 0,
    }
    return RequestLine(request=request, expected_tokens=expected, reported_tokens=reported, **(given | more))


REPORT = UsageReport(
    usage=USAGE,
    model="anthropic:claude-sonnet-4-5",
    exchanges=(
        ExchangeInWindow(9, 41, 57, 61_200, "Make the timeout configurable, and never use an ORM here."),
        ExchangeInWindow(10, 58, 58, 14_000, "Now the tests."),
    ),
    left=(LeftLine(41, "T1–T40 left the window: 3 files, 5 commands, kept in the archive"),),
    requests=(line(1, 4_300, 4_412, cache_read_tokens=2_206), line(2, 80_180, None)),
    outlook=Outlook(69_820, 150_000, 38, 12_000, left_to=30, left_from=1, left_exchanges=4, left_tokens=31_000),
)


def usages() -> st.SearchStrategy[WindowUsage]:
    tokens = st.integers(0, 300_000)
    return st.builds(
        WindowUsage,
        segments=st.dictionaries(st.sampled_from(Segment), tokens),
        window=tokens,
        window_assumed=st.booleans(),
        reserve=tokens,
        high_water=tokens,
        used=tokens,
        estimated=st.booleans(),
    )


@given(usages(), st.integers(1, 80))
def test_the_grid_has_full_rows_whatever_the_numbers(usage: WindowUsage, columns: int) -> None:
    rows = grid_rows(usage, columns)
    assert {len(row) for row in rows} == {columns}
    assert sum(cell.glyph == "┃" for row in rows for cell in row) == 1


@given(usages(), st.integers(20, 200))
@example(replace(USAGE, window=1, used=0, segments={Segment.TOOLS: 10_000}), 45)
def test_tables_and_summary_never_fail(usage: WindowUsage, width: int) -> None:
    lines = table_content(usage, width).plain.split("\n")
    assert max(map(len, lines)) <= max(width, 45)
    summary_content(replace(REPORT, usage=usage))
    grid_content(usage, width)


@given(usages())
def test_the_parts_of_the_table_come_to_what_is_used(usage: WindowUsage) -> None:
    rows = usage_rows(usage)
    total = next(at for at, row in enumerate(rows) if row.total)
    assert sum(row.tokens for row in rows[:total]) == rows[total].tokens == usage.used


def test_every_segment_has_a_name_and_the_gauges_look() -> None:
    assert set(NAMES) == set(Segment)
    assert look_of(Segment.TOOL) != look_of(Segment.USER)
    assert look_of(Segment.TOOL) in [cell for row in grid_rows(USAGE, 20) for cell in row]


def test_the_table_names_segment_tokens_and_share() -> None:
    table = table_content(USAGE, 100).plain
    assert "Tool results" in table and "52,000" in table and "26.0%" in table
    assert "Exchanges leave at" in table and "150,000" in table
    assert "Memory" not in table


def test_the_summary_says_what_was_assumed_estimated_paid_and_cached() -> None:
    said = summary_content(REPORT).plain
    for part in ("~80,180 of 200,000", "40.1%", "assumed", "$0.4213", "84%"):
        assert part in said
    known = replace(USAGE, window_assumed=False, estimated=False, cost_usd=0.0, cache_read_share=None)
    said = summary_content(replace(REPORT, usage=known)).plain
    assert "assumed" not in said and "~" not in said and "$" not in said and "cache" not in said


def test_past_the_mark_it_says_that_exchanges_leave() -> None:
    assert "leave before the next request" in summary_content(replace(REPORT, usage=replace(USAGE, used=150_000))).plain


def test_exchanges_come_newest_first_with_turns_and_tokens() -> None:
    lines = exchanges_content(REPORT.exchanges, 80).plain.split("\n")
    assert lines[0].startswith("T58 ") and "14,000" in lines[0]
    assert lines[1].startswith("T41–T57") and "never use an ORM" in lines[1]


def test_an_exchange_whose_question_has_left_says_so() -> None:
    assert "its beginning has left" in exchanges_content((ExchangeInWindow(2, 8, 9, 40, ""),), 80).plain


def test_what_left_is_said_newest_first_with_the_turn_that_says_it() -> None:
    contents = WindowContents(
        (),
        (
            turn(9, "system", "The window was cleared.", TurnKind.NOTE),
            turn(7, "system", "We spoke of the login.", TurnKind.SUMMARY),
            turn(4, "system", "T1–T3 left the window: 1 file, kept in the archive", TurnKind.RECEIPT),
            turn(2, "system", "something else"),
        ),
    )
    assert left_content(usage_report(USAGE, "offline", contents).left).plain.split("\n") == [
        "The window was cleared.  T9",
        "Summarised: We spoke of the login.  T7",
        "T1–T3 left the window: 1 file, kept in the archive  T4",
    ]


def test_requests_say_how_far_off_the_estimate_was() -> None:
    lines = requests_content(REPORT.requests, 100).plain.split("\n")
    assert "80,180" in lines[1] and "–" in lines[1]
    assert "4,412" in lines[2] and "-2.5%" in lines[2] and "T41" in lines[2] and "50%" in lines[2]


def test_what_would_leave_next_is_said_in_order() -> None:
    said = outlook_content(REPORT.outlook).plain
    assert said.startswith("Nothing before 150,000 tokens; that is 69,820 from here. Then tool outputs up to T38")
    assert "T1–T30 leave (4 exchanges, 31,000 tokens)" in said
    assert "is passed" in outlook_content(Outlook(0, 8_100, left_to=3, left_from=3, left_exchanges=1)).plain
    assert "newest exchange" in outlook_content(Outlook(8_100, 8_100)).plain
    assert "Not counted" in outlook_content(None).plain


def test_hostile_texts_are_drawn_literally() -> None:
    drawn = [
        summary_content(replace(REPORT, model=HOSTILE)).plain,
        exchanges_content((ExchangeInWindow(1, 1, 2, 3, HOSTILE * 20),), 60).plain,
        left_content((LeftLine(3, HOSTILE),)).plain,
    ]
    assert all("[/foo]" in text and not UNSAFE.search(text) for text in drawn)


async def test_it_scrolls_shows_another_report_and_leaves() -> None:
    screen = UsageScreen(REPORT)
    app = alone(screen)
    async with app.run_test(size=(60, 16)) as pilot:
        await pilot.press("j", "pagedown")
        await until(pilot, lambda: screen.query_one(VerticalScroll).scroll_y > 1)
        screen.show(replace(REPORT, model="other"))
        await until(pilot, lambda: "other" in str(screen.query_one("#summary", Static).content))
        await pilot.press("escape")
        await until(pilot, lambda: app.left)
