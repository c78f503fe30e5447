"""Moments in the time of whoever reads them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from loom.times import iso_time, local_now, local_time
from tests.support.zone import reading_in

MOMENT = "2026-03-04T20:15:42.123456Z"


@pytest.mark.parametrize(
    ("zone", "shown", "iso"),
    [
        ("UTC", "2026-03-04 20:15 +00:00", "2026-03-04T20:15:42+00:00"),
        ("Asia/Kathmandu", "2026-03-05 02:00 +05:45", "2026-03-05T02:00:42+05:45"),
        ("America/New_York", "2026-03-04 15:15 -05:00", "2026-03-04T15:15:42-05:00"),
    ],
)
def test_a_moment_is_the_readers_own_and_says_which_zone(zone: str, shown: str, iso: str) -> None:
    with reading_in(zone):
        assert (local_time(MOMENT), iso_time(MOMENT)) == (shown, iso)


def test_a_moment_without_an_offset_is_utc_as_in_the_archive() -> None:
    with reading_in("Asia/Kathmandu"):
        assert local_time("2026-03-04T20:15:42") == "2026-03-05 02:00 +05:45"


@pytest.mark.parametrize("moment", ["", "yesterday", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"])
def test_what_is_no_moment_stays_as_it_is(moment: str) -> None:
    with reading_in("America/New_York"):
        assert (local_time(moment), iso_time(moment)) == (moment, moment)


def test_the_hour_that_comes_twice_is_told_apart() -> None:
    with reading_in("Europe/Berlin"):
        zone = local_now().tzinfo
        for hour in range(24):
            moment = datetime(2026, 10, 25, tzinfo=UTC) + timedelta(hours=hour)
            local = datetime.fromtimestamp(moment.timestamp(), zone)
            assert local.timestamp() == moment.timestamp(), hour
