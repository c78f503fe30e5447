"""The keys of the archive browser beside those of its query and of its hits."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from loom.tui.screens.help import HelpGroup, group_of_bindings
from loom.tui.widgets.query_box import QueryBox
from loom.tui.widgets.row_list import RowList

BINDINGS: list[BindingType] = [
    Binding("v", "view", "Whole", tooltip="The whole turn, however large"),
    Binding("a", "attach", "Attach", tooltip="Send the turn along with the next message"),
    Binding("slash", "to_query", "Query", key_display="/", tooltip="Back to the query"),
    Binding("y", "copy", "Copy", tooltip="Copy the turn"),
    Binding("f", "fork", "Fork", tooltip="Fork the session after the exchange of this turn"),
    Binding("e", "export", "Export", tooltip="Write the hits to a file"),
    Binding("ctrl+t", "facet('scope')", "Scope", show=False, tooltip="This session, this workspace, everything"),
    Binding("ctrl+r", "facet('role')", "Role", show=False, tooltip="Whose turns"),
    Binding("ctrl+o", "facet('tool')", "Tool", show=False, tooltip="Which tool's results"),
    Binding("ctrl+g", "facet('time')", "Time", show=False, tooltip="How old at most"),
    Binding("f1,question_mark", "help", "Help", key_display="F1", tooltip="This page (? too, outside the query)"),
    Binding("escape", "dismiss(None)", "Back", key_display="Esc", tooltip="Back"),
]
OF_A_HIT = frozenset({"view", "attach", "copy", "fork", "export", "to_query"})
"""What the letters do on a hit; in the query they are letters."""


def archive_help() -> HelpGroup:
    """All keys of the browser."""
    keys = [*QueryBox.BINDINGS, *RowList.BINDINGS, *BINDINGS]
    return group_of_bindings("Archive", keys, "In the query, letters are letters.")
