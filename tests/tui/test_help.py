"""The help screen."""

from __future__ import annotations

from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.widgets import Input, Static

from loom.tui.commands import COMMANDS
from loom.tui.screens.help import HelpGroup, HelpScreen, group_of_bindings, help_content, key_text, matching
from tests.support.browsing import HOSTILE, alone, until

GROUPS = (
    HelpGroup("Commands", tuple((command.usage, command.help) for command in COMMANDS)),
    HelpGroup("Keys", tuple((f"F{n}", f"Does the thing number {n}") for n in range(1, 40)), "Some keys."),
)


def page_of(screen: HelpScreen) -> str:
    return str(screen.query_one(".page", Static).content)


def test_keys_are_named_as_people_name_them() -> None:
    assert key_text(Binding("down,j", "x", "Down")) == "↓, j"
    assert key_text(Binding("ctrl+t", "x", "Scope")) == "Ctrl+T"
    assert key_text(Binding("escape", "x", "Back")) == "Esc"
    assert key_text(Binding("G", "x", "Last")) == "G"


def test_a_group_is_made_of_bindings_and_says_the_longer_text() -> None:
    group = group_of_bindings(
        "Here", [Binding("d", "delete", "Delete", tooltip="Take it off the list"), ("x", "y", "z")]
    )
    assert group.entries == (("d", "Take it off the list"),)


def test_searching_keeps_entries_that_hold_every_word() -> None:
    found = matching(GROUPS, "commands export")
    assert [entry[0] for group in found for entry in group.entries] == ["/export [file]"]


def test_a_narrow_page_has_no_line_too_long() -> None:
    for width in (20, 40, 60, 200):
        lines = help_content(GROUPS, width).plain.split("\n")
        assert max(map(len, lines)) <= max(width, 30)


def test_hostile_entries_are_drawn_literally() -> None:
    page = help_content((HelpGroup(HOSTILE, ((HOSTILE, HOSTILE),)),), 200).plain
    assert "[/foo]" in page and "\x1b" not in page and "\u202e" not in page


async def test_it_scrolls_with_the_keyboard() -> None:
    screen = HelpScreen(GROUPS)
    async with alone(screen).run_test(size=(60, 16)) as pilot:
        scroller = screen.query_one(VerticalScroll)
        await pilot.press("j", "j", "down", "pagedown")
        await until(pilot, lambda: scroller.scroll_y > 3)
        await pilot.press("end")
        await until(pilot, lambda: scroller.scroll_y == scroller.max_scroll_y)


async def test_slash_searches_and_escape_first_clears_then_leaves() -> None:
    screen = HelpScreen(GROUPS)
    app = alone(screen)
    async with app.run_test() as pilot:
        await pilot.press("slash", *"number 17")
        await until(pilot, lambda: "F17" in page_of(screen) and "F16" not in page_of(screen))
        await pilot.press("escape")
        await until(pilot, lambda: "F16" in page_of(screen))
        assert not screen.query_one(Input).has_class("-shown")
        await pilot.press("escape")
        await until(pilot, lambda: app.left)


async def test_a_search_for_nothing_there_says_so() -> None:
    screen = HelpScreen(GROUPS)
    async with alone(screen).run_test() as pilot:
        await pilot.press("slash", *"zzz")
        await until(pilot, lambda: "Nothing about “zzz”" in page_of(screen))
