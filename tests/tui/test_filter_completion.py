"""Filters are completed as they are typed, with keys only, and no key is taken that means something else."""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from loom.tui.choices import JumpTo
from loom.tui.filter_completion import Typed, typed_at
from loom.tui.screens.archive import ArchiveScreen
from loom.tui.widgets.completion import CompletionPopup
from loom.tui.widgets.facet_bar import Scope
from loom.tui.widgets.hit_list import HitList
from tests.support.browsing import HERE, HOSTILE, Fixed, alone, until
from tests.tui.archive_browser import browser, said


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("ro", Typed(0, None, "ro")),
        ("timeout ROL", Typed(8, None, "ROL")),
        ("-ro", None),
        ("-role:us", None),
        ("role:", Typed(5, "role", "")),
        ("x tool:rea", Typed(7, "tool", "rea")),
        ("tool:read_file,she", Typed(15, "tool", "she")),
        ('session:"fix lo', Typed(8, "session", "fix lo")),
        ("Before:2026-0", Typed(7, "before", "2026-0")),
        ("file:a,b", Typed(5, "file", "a,b")),
        ("r", None),
        ("how to", None),
        ("let it be", None),
        ("zebra", None),
        ("role:user ", None),
        ("a/ro", None),
        ("", None),
    ],
)
def test_what_is_being_typed(text: str, typed: Typed | None) -> None:
    assert typed_at(text, len(text)) == typed


def test_in_the_middle_of_a_word_nothing_is_completed() -> None:
    assert typed_at("roller", 2) is None
    assert typed_at("ro x", 2) == Typed(0, None, "ro")


def offered(screen: ArchiveScreen) -> list[str]:
    return [entry.usage for entry in screen.query_one(CompletionPopup)._entries]


def text(screen: ArchiveScreen) -> str:
    return screen.query_one("#query", Input).value


async def opened(pilot: Pilot[Any], screen: ArchiveScreen) -> None:
    await until(pilot, lambda: screen.is_mounted and screen.query("#query"))


async def test_a_name_is_offered_and_tab_writes_it_then_its_values_are_offered(shelf: Fixed) -> None:
    screen = browser(shelf)
    async with alone(screen).run_test() as pilot:
        await opened(pilot, screen)
        await pilot.press(*"ro")
        await until(pilot, lambda: offered(screen) == ["role:"])
        await pilot.press("tab")
        await until(pilot, lambda: offered(screen) == ["user", "assistant", "tool", "system"])
        await pilot.press("down", "enter")
        await until(pilot, lambda: text(screen) == "role:assistant " and not offered(screen))
        await until(pilot, lambda: [hit for hit in screen.query_one(HitList).items if hasattr(hit, "role")])
        hits = [hit for hit in screen.query_one(HitList).items if hasattr(hit, "role")]
        assert {hit.role for hit in hits} == {"assistant"}


async def test_a_filter_without_a_value_is_not_told_to_be_too_short(shelf: Fixed) -> None:
    screen = browser(shelf, scope=Scope.WORKSPACE)
    async with alone(screen).run_test() as pilot:
        await opened(pilot, screen)
        await until(pilot, lambda: "Type at least 2 characters" in said(screen))
        await pilot.press(*"tool:")
        await until(pilot, lambda: said(screen).startswith("tool: wants a value. Searching this workspace."))


@pytest.mark.parametrize(
    ("typed", "scope", "values", "keys", "written"),
    [
        ("tool:", Scope.WORKSPACE, ["search_text", "shell_execute"], ["tab"], "tool:search_text "),
        ("tool:sh", Scope.WORKSPACE, ["shell_execute"], ["enter"], "tool:shell_execute "),
        ("file:auth", Scope.SESSION, ["auth.py", "src/auth.py"], ["down", "enter"], "file:src/auth.py "),
        ("session:login", Scope.ALL, ["a1b2"], ["enter"], "session:a1b2 "),
        ("session:k3", Scope.ALL, ["k3f9"], ["tab"], "session:k3f9 "),
        ("after:y", Scope.ALL, ["yesterday"], ["tab"], "after:yesterday "),
        ("before:3", Scope.ALL, ["3h", "3d", "3w"], ["down", "tab"], "before:3d "),
        ("role:user,as", Scope.ALL, ["assistant"], ["tab"], "role:user,assistant "),
    ],
)
async def test_values_are_those_that_there_are(
    shelf: Fixed, typed: str, scope: Scope, values: list[str], keys: list[str], written: str
) -> None:
    screen = browser(shelf, scope=scope)
    async with alone(screen).run_test() as pilot:
        await opened(pilot, screen)
        await pilot.press(*typed)
        await until(pilot, lambda: sorted(offered(screen)) == sorted(values))
        await pilot.press(*keys)
        await until(pilot, lambda: text(screen) == written)


async def test_a_word_that_looks_like_a_filter_takes_neither_enter_nor_the_arrows(shelf: Fixed) -> None:
    for keys in (["enter"], ["down", "enter"]):
        screen = browser(shelf, scope=Scope.WORKSPACE)
        app = alone(screen)
        async with app.run_test() as pilot:
            await opened(pilot, screen)
            await pilot.press(*"refreshToken af")
            await until(pilot, lambda screen=screen: offered(screen) == ["after:"])  # type: ignore[misc]
            await until(pilot, lambda screen=screen: screen.query_one(HitList).hit)  # type: ignore[misc]
            await pilot.press(*keys)
            await until(pilot, lambda app=app: app.left)  # type: ignore[misc]
        assert isinstance(app.result, JumpTo)


async def test_a_value_that_may_be_anything_leaves_enter_alone(shelf: Fixed) -> None:
    screen = browser(shelf)
    app = alone(screen)
    async with app.run_test() as pilot:
        await opened(pilot, screen)
        await pilot.press(*"file:auth")
        await until(pilot, lambda: offered(screen) and screen.query_one(HitList).hit)
        await pilot.press("enter")
        await until(pilot, lambda: app.left)
    assert isinstance(app.result, JumpTo)


async def test_escape_closes_the_list_and_then_the_browser(shelf: Fixed) -> None:
    screen = browser(shelf)
    app = alone(screen)
    async with app.run_test() as pilot:
        await opened(pilot, screen)
        await pilot.press(*"role:")
        await until(pilot, lambda: offered(screen))
        await pilot.press("escape")
        await until(pilot, lambda: not offered(screen))
        assert not app.left and text(screen) == "role:"
        await pilot.press("escape")
        await until(pilot, lambda: app.left)


async def test_tab_without_a_list_goes_to_the_hits(shelf: Fixed) -> None:
    screen = browser(shelf, query="refreshToken")
    async with alone(screen).run_test() as pilot:
        await until(pilot, lambda: screen.query_one(HitList).hit)
        await pilot.press("tab")
        await until(pilot, lambda: isinstance(screen.focused, HitList))


async def test_a_date_that_is_none_is_said_once_it_is_written(shelf: Fixed) -> None:
    screen = browser(shelf)
    async with alone(screen).run_test() as pilot:
        await opened(pilot, screen)
        await pilot.press(*"timeout before:noon")
        await until(pilot, lambda: screen.query_one(HitList).hit)
        assert "no date" not in str(screen.query_one("#said", Static).content)
        await pilot.press("space", "r")
        await until(pilot, lambda: "before:noon is no date" in str(screen.query_one("#said", Static).content))


async def test_a_filter_without_a_value_yet_is_not_searched_for(shelf: Fixed) -> None:
    screen = browser(shelf)
    async with alone(screen).run_test() as pilot:
        await opened(pilot, screen)
        await pilot.press(*"refreshToken tool:")
        await until(pilot, lambda: offered(screen))
        await until(pilot, lambda: screen.query_one(HitList).hit)
        await pilot.press(*"search_text", "space")
        await until(pilot, lambda: (hit := screen.query_one(HitList).hit) and hit.tool_name == "search_text")


async def test_what_merely_passes_a_filter_is_not_called_related(shelf: Fixed) -> None:
    screen = browser(shelf, query="tool:search_text")
    async with alone(screen).run_test() as pilot:
        await until(pilot, lambda: screen.query_one(HitList).hit)
        rows = screen.query_one(HitList)
        assert rows.hit is not None and "related" not in rows.draw_row(rows.hit, 80)[0].plain


async def test_a_click_picks(shelf: Fixed) -> None:
    screen = browser(shelf)
    async with alone(screen).run_test() as pilot:
        await opened(pilot, screen)
        await pilot.press(*"role:")
        await until(pilot, lambda: offered(screen))
        await pilot.pause()
        await pilot.click(CompletionPopup, offset=(3, 2))
        await until(pilot, lambda: text(screen) == "role:tool ")


async def test_a_session_that_the_query_names_is_looked_for_beyond_the_scope(shelf: Fixed) -> None:
    screen = browser(shelf)
    async with alone(screen).run_test() as pilot:
        await opened(pilot, screen)
        screen.query_one("#query", Input).value = "session:build tokio"
        await until(
            pilot, lambda: any(getattr(row, "reference", "") == "k3f9" for row in screen.query_one(HitList).items)
        )


async def test_hostile_titles_are_drawn_literally(shelf: Fixed) -> None:
    session = await shelf.store.create_session(HERE, "offline", "", title=HOSTILE)
    await shelf.store.append_turn(session, "user", "x")
    screen = browser(shelf)
    async with alone(screen).run_test() as pilot:
        await opened(pilot, screen)
        await pilot.press(*"session:")
        await until(pilot, lambda: len(offered(screen)) == 4)
        drawn = screen.query_one(CompletionPopup).render().plain
        assert "[/foo]" in drawn and "\x1b" not in drawn and "\u202e" not in drawn
