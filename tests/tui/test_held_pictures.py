"""The question about a session that another loom has open, as it looks."""

from __future__ import annotations

from collections.abc import Callable

from loom.tui.screens.held import HeldScreen
from tests.support.browsing import HOSTILE, alone
from tests.tui.test_held import HOLDER

Compare = Callable[..., bool]


def test_some(snap_compare: Compare) -> None:
    assert snap_compare(alone(HeldScreen("Fix the login timeout", HOLDER)), terminal_size=(100, 30))


def test_narrow_and_hostile(snap_compare: Compare) -> None:
    assert snap_compare(alone(HeldScreen(HOSTILE, HOLDER)), terminal_size=(60, 16))


def test_taken_over(snap_compare: Compare) -> None:
    assert snap_compare(alone(HeldScreen("Fix the login timeout", HOLDER, taken=True)), terminal_size=(100, 30))


def test_taken_over_narrow_and_low(snap_compare: Compare) -> None:
    assert snap_compare(alone(HeldScreen("Fix the login timeout", None, taken=True)), terminal_size=(60, 16))
