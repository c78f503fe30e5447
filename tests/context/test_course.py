"""The picture of the window over a session."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loom.archive.records import RequestLine
from loom.context.course import Ink, cache_shares, compactions, course, evictions, sparkline
from loom.context.usage import WindowUsage


def line(request: int, tokens: int, **given: object) -> RequestLine:
    values: dict[str, object] = {
        "exchange": request,
        "created_at": "2026-03-04T10:00:00.000000Z",
        "model_name": "offline",
        "window_tokens": 200_000,
        "high_water": 150_000,
        "estimated_tokens": tokens,
        "reported_tokens": None,
        "cache_read_tokens": None,
        "last_turn": 4 * request,
        "left_to": 0,
        "summary": 0,
    }
    return RequestLine(**{"request": request, "expected_tokens": tokens, **values, **given})  # type: ignore[arg-type]


def drawn(lines: list[RequestLine], width: int = 60, height: int = 10, chosen: int | None = None) -> list[str]:
    return ["".join(stroke.text for stroke in row) for row in course(lines, width, height, chosen).rows]


@given(st.lists(st.integers(0, 2_000_000), max_size=400), st.integers(1, 140), st.integers(1, 30))
def test_it_fits_whatever_the_numbers(tokens: list[int], width: int, height: int) -> None:
    lines = [line(at, each, left_to=at // 7) for at, each in enumerate(tokens, 1)]
    rows = drawn(lines, width, height, chosen=len(tokens) // 2)
    assert len(rows) == max(3, height)
    assert max(map(len, rows)) <= max(width, 9 + len(f"{len(tokens):,}"))


def test_fuller_requests_stand_higher_and_the_mark_is_drawn() -> None:
    rows = drawn([line(1, 20_000), line(2, 140_000), line(3, 60_000)])
    heights = ["".join(row[8:][column] for row in rows[:-2]) for column in (0, 4, 8)]
    filled = [sum(cell in "▁▂▃▄▅▆▇█" for cell in column) for column in heights]
    assert filled[1] > filled[2] > filled[0] > 0
    assert any("┄" in row for row in rows)


def test_a_nearly_empty_window_is_no_flat_line_and_the_legend_says_where_the_mark_is() -> None:
    lines = [line(1, 1_000), line(2, 4_000)]
    assert not any("┄" in row for row in drawn(lines))
    assert "150k, far above" in course(lines, 60, 10).legend
    assert sum("█" in row for row in drawn(lines)) > 4


def after_another_window() -> list[RequestLine]:
    """Four requests in a large window, then four in a small one."""
    large = [line(n, 5_000 + n, last_turn=n * 4) for n in range(1, 5)]
    small = {"window_tokens": 10_000, "high_water": 7_400}
    return [*large, *(line(n, 5_000 + n, last_turn=n * 4, **small) for n in range(5, 9))]


def test_each_request_stands_under_the_mark_that_it_had_and_the_legend_names_the_present_one() -> None:
    lines = after_another_window()
    legend = course(lines, 60, 10).legend
    assert "exchanges leave at 7.4k since T20 (150k before)" in legend and "far above" not in legend
    marks = [at for row in drawn(lines) for at, cell in enumerate(row) if cell == "┄"]
    assert min(marks) >= 8 + 16, "the large window's mark is above the picture"


def test_marks_that_are_both_in_the_picture_make_a_step() -> None:
    lines = [line(1, 6_000, high_water=12_000), line(2, 6_000, high_water=7_400, window_tokens=10_000)]
    rows = [at for at, row in enumerate(drawn(lines, height=20)) if "┄" in row]
    assert len(rows) == 2


def test_a_window_that_changed_since_the_last_request_has_the_mark_of_the_next() -> None:
    now = WindowUsage({}, window=10_000, window_assumed=False, reserve=1_000, high_water=7_400, used=0, estimated=True)
    legend = course([line(1, 20_000)], 60, 10, now=now).legend
    assert "exchanges leave at 7.4k from the next request on (150k before)" in legend


def test_what_left_and_what_was_summed_up_is_marked() -> None:
    lines = [line(1, 100_000), line(2, 90_000, left_to=8), line(3, 20_000, left_to=12, summary=13)]
    assert (evictions(lines), compactions(lines)) == ([2, 3], [3])
    events = drawn(lines)[-2]
    assert "▾" in events and "◆" in events
    legend = course(lines, 60, 10).legend
    assert "left 2 times" in legend and "summed up 1 time" in legend


def test_the_chosen_request_is_pointed_at_in_a_long_session_too() -> None:
    lines = [line(n, 1_000 + n) for n in range(1, 10_001)]
    row = course(lines, 80, 10, chosen=5_000).rows[-2]
    before = sum(len(stroke.text) for stroke in row[: [stroke.ink for stroke in row].index(Ink.CHOSEN)])
    assert before in range(8 + 34, 8 + 38)


def test_a_session_without_requests_says_so() -> None:
    assert course([], 60, 10).legend == "No request yet."


def test_cache_shares_are_those_that_the_provider_told() -> None:
    lines = [line(1, 10, reported_tokens=10, cache_read_tokens=0), line(2, 10), line(3, 9, reported_tokens=8)]
    lines.append(line(4, 10, reported_tokens=100, cache_read_tokens=75))
    assert cache_shares(lines) == [0.0, 0.75]
    assert sparkline([0.0, 0.5, 1.0], 10) == "▁▅█" and len(sparkline([0.5] * 500, 40)) == 40
