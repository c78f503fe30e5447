"""The help as it looks."""

from __future__ import annotations

from collections.abc import Callable

from loom.tui.commands import COMMANDS
from loom.tui.screens.archive import ArchiveScreen
from loom.tui.screens.help import HelpGroup, HelpScreen, group_of_bindings
from loom.tui.screens.picker import PickerScreen
from loom.tui.widgets.row_list import RowList
from tests.support.browsing import HOSTILE, Alone, alone

Compare = Callable[..., bool]


def app_of() -> Alone:
    groups = (
        HelpGroup("Commands", tuple((command.usage, command.help) for command in COMMANDS)),
        group_of_bindings("Sessions", [*RowList.BINDINGS, *PickerScreen.BINDINGS]),
        group_of_bindings("Archive", ArchiveScreen.BINDINGS, "In the query, letters are letters."),
    )
    return alone(HelpScreen(groups))


def test_some(snap_compare: Compare) -> None:
    assert snap_compare(app_of(), terminal_size=(80, 50))


def test_narrow(snap_compare: Compare) -> None:
    assert snap_compare(app_of(), terminal_size=(60, 16))


def test_hostile(snap_compare: Compare) -> None:
    group = HelpGroup(HOSTILE, (("/x", HOSTILE), (HOSTILE, "an entry")))
    assert snap_compare(alone(HelpScreen((group,))), terminal_size=(80, 16))
