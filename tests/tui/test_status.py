"""The line at the top: what tells a session from its fork stays in view."""

from __future__ import annotations

import pytest

from loom.tui.widgets.status import StatusInfo, status_line

LONG = "Replace the hand-written token refresh in src/auth.py with the library and keep the tests green"


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_long_title_hides_neither_reference_nor_what_is_special(width: int) -> None:
    fork = StatusInfo(LONG, "k3f9", "fork of a1b2 at T12", "~/src/shop", "offline", read_only=True)
    line = status_line(fork, "", width)
    assert line.cell_length == width
    assert "Replace the " in line.plain[:20] and "…" in line.plain
    assert "  k3f9  read-only" in line.plain
    assert "offline" in line.plain


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_fork_says_where_it_comes_from_beside_a_long_title(width: int) -> None:
    fork = StatusInfo(LONG, "k3f9", "fork of a1b2 at T12", "~/src/shop", "offline")
    assert "k3f9  fork of a1b2 at T12" in status_line(fork, "", width).plain


def test_a_short_title_is_whole_and_leaves_room_for_the_folder() -> None:
    line = status_line(StatusInfo("Fix it", "k3f9", "", "~/src/shop", "offline"), "", 80).plain
    assert line.startswith("loom  Fix it  k3f9  ~/src/shop ")
