"""How long ago, in a word."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from loom.tui.age import age

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "now"),
        (59, "now"),
        (60, "1 min"),
        (3_599, "59 min"),
        (3_600, "1 h"),
        (3 * 3_600 + 1_800, "3 h"),
        (86_400, "1 d"),
        (13 * 86_400, "13 d"),
        (14 * 86_400, "2 wk"),
        (70 * 86_400, "2 mo"),
        (800 * 86_400, "2 y"),
        (-500, "now"),
    ],
)
def test_it_counts_down_in_the_largest_unit_that_says_enough(seconds: int, said: str) -> None:
    assert age((NOW - timedelta(seconds=seconds)).isoformat(), NOW) == said


def test_the_archives_own_form_is_read() -> None:
    assert age("2026-03-04T09:00:00.000000Z", NOW) == "3 h"


def test_a_time_without_a_zone_is_utc() -> None:
    assert age("2026-03-04T11:00:00", NOW) == "1 h"


def test_what_is_no_time_is_a_question_mark() -> None:
    assert age("yesterday", NOW) == "?"
