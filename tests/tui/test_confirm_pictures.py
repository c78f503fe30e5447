"""The small questions as they look."""

from __future__ import annotations

from collections.abc import Callable

from loom.tui.screens.ask import AskScreen
from loom.tui.screens.confirm import ConfirmScreen
from tests.support.browsing import HOSTILE, alone, steady

Compare = Callable[..., bool]


def test_narrow_and_hostile(snap_compare: Compare) -> None:
    screen = ConfirmScreen(f"Delete “{HOSTILE}”?", f"{HOSTILE}\n\n" * 10, yes="delete it", no="keep it")
    assert snap_compare(alone(screen), terminal_size=(60, 16))


def test_a_line_asked_for(snap_compare: Compare) -> None:
    screen = AskScreen("A title for this session", "Fix the login timeout")
    assert snap_compare(alone(screen), run_before=steady, terminal_size=(80, 16))
