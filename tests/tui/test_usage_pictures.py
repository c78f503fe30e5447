"""The usage view as it looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from loom.context.usage import WindowUsage
from loom.cowork.contents import ExchangeInWindow
from loom.tui.screens.usage import UsageScreen
from loom.tui.widgets.usage_table import LeftLine, UsageReport
from tests.support.browsing import HOSTILE, alone
from tests.tui.test_usage import REPORT, USAGE

Compare = Callable[..., bool]

EMPTY = UsageReport(
    WindowUsage({}, window=200_000, window_assumed=True, reserve=16_000, high_water=150_000, used=0, estimated=True),
    "offline",
)
HOSTILE_REPORT = replace(
    REPORT, model=HOSTILE, exchanges=(ExchangeInWindow(1, 1, 2, 30, HOSTILE),), left=(LeftLine(3, HOSTILE),)
)


def test_some(snap_compare: Compare) -> None:
    assert snap_compare(alone(UsageScreen(REPORT)), terminal_size=(80, 50))


def test_narrow(snap_compare: Compare) -> None:
    assert snap_compare(alone(UsageScreen(REPORT)), terminal_size=(60, 16))


def test_narrow_and_high(snap_compare: Compare) -> None:
    assert snap_compare(alone(UsageScreen(REPORT)), terminal_size=(60, 60))


def test_wide(snap_compare: Compare) -> None:
    assert snap_compare(alone(UsageScreen(REPORT)), terminal_size=(160, 45))


def test_empty(snap_compare: Compare) -> None:
    assert snap_compare(alone(UsageScreen(EMPTY)), terminal_size=(80, 40))


def test_hostile(snap_compare: Compare) -> None:
    assert snap_compare(alone(UsageScreen(HOSTILE_REPORT)), terminal_size=(80, 50))


def test_over_the_mark(snap_compare: Compare) -> None:
    full = replace(REPORT, usage=replace(USAGE, used=210_000, window_assumed=False))
    assert snap_compare(alone(UsageScreen(full)), terminal_size=(120, 40))
