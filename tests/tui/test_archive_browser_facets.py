"""What limits the search beside the query: scope, role, tool and time."""

from __future__ import annotations

import pytest

from loom.tui.widgets.facet_bar import Facet, FacetBar, Facets, Scope, next_facet
from tests.support.browsing import NOW, Fixed, alone, id_of, until
from tests.tui.archive_browser import browser, found, said


async def test_the_scope_widens_from_session_to_workspace_to_everything(shelf: Fixed) -> None:
    screen = browser(shelf, session="k3f9", query="アーカイブ")
    async with alone(screen).run_test() as pilot:
        await until(pilot, lambda: "Nothing found" in said(screen) and "this session" in said(screen))
        await pilot.press("ctrl+t")
        await until(pilot, lambda: "Nothing found" in said(screen) and "this workspace" in said(screen))
        await pilot.press("ctrl+t")
        await until(pilot, lambda: "z9y8" in found(screen))
        await pilot.click("#query")
        await pilot.click("Facet")
        await until(pilot, lambda: "this session" in said(screen))


async def test_without_a_session_it_begins_with_the_workspace(shelf: Fixed) -> None:
    screen = browser(shelf, session=None, query="timeout")
    async with alone(screen).run_test() as pilot:
        await until(pilot, lambda: "k3f9" in found(screen))


async def test_role_tool_and_time_limit_what_is_found(shelf: Fixed) -> None:
    screen = browser(shelf, scope=Scope.WORKSPACE, query="login timeout seconds")
    async with alone(screen).run_test() as pilot:
        await until(pilot, lambda: "T3" in found(screen))
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "T3" not in found(screen) and "T1" in found(screen))
        await pilot.press("ctrl+r", "ctrl+r", "ctrl+r", "ctrl+o")
        await until(pilot, lambda: found(screen) == ["a1b2", "T3"])
        await pilot.press("ctrl+g")
        await until(pilot, lambda: found(screen) == ["a1b2", "T3"])


async def test_every_tool_of_the_scope_can_be_chosen_whatever_the_words_find(shelf: Fixed) -> None:
    screen = browser(shelf, session="a1b2", query="zebra crossing")
    async with alone(screen).run_test() as pilot:
        await until(pilot, lambda: "Nothing found" in said(screen) and "tool" not in said(screen))
        tools = await shelf.store.find_tools(session_id=id_of(shelf, "a1b2"))
        assert tools
        for tool in tools:
            await pilot.press("ctrl+o")
            await until(pilot, lambda tool=tool: f"tool {tool}" in said(screen))
        await pilot.press("ctrl+o")
        await until(pilot, lambda: "Nothing found" in said(screen) and ", tool " not in said(screen))


@pytest.mark.parametrize("width", [60, 80])
async def test_every_limit_can_be_read_in_a_narrow_window(shelf: Fixed, width: int) -> None:
    screen = browser(shelf, scope=Scope.WORKSPACE)
    async with alone(screen).run_test(size=(width, 20)) as pilot:
        await until(pilot, lambda: screen.is_mounted and screen.query(FacetBar))
        bar = screen.query_one(FacetBar)
        bar.show(Facets(Scope.WORKSPACE, "assistant", "conversation_recall_of_all", 365))
        await pilot.pause()
        parts = list(bar.query(Facet))
        assert len(parts) == 4 and all(bar.region.contains_region(part.region) for part in parts)
        words = " ".join(str(part.render()) for part in parts)
        assert "workspace" in words and "assistant" in words and "conversation_r" in words and "year" in words


def test_facets_go_round() -> None:
    scopes = (Scope.WORKSPACE, Scope.ALL)
    facets = Facets(Scope.WORKSPACE)
    assert next_facet(facets, "scope", scopes=scopes, tools=()).scope is Scope.ALL
    assert next_facet(Facets(Scope.ALL), "scope", scopes=scopes, tools=()).scope is Scope.WORKSPACE
    assert next_facet(facets, "tool", scopes=scopes, tools=()).tool is None
    assert next_facet(facets, "tool", scopes=scopes, tools=("a",)).tool == "a"
    assert Facets(Scope.ALL, "tool", "read_file", 7).words() == "everything, role tool, tool read_file, last 7 days"
    assert Facets(Scope.ALL, days=1).after(NOW) == "2026-03-03T12:00:00.000000Z"
    assert Facets(Scope.ALL).after(NOW) is None


async def test_a_session_that_the_query_names_is_searched_wherever_it_is(shelf: Fixed) -> None:
    named = await shelf.store.get_session(id_of(shelf, "k3f9"))
    assert named is not None
    screen = browser(shelf, session="a1b2", query=f"tokio session:{named.reference}")
    async with alone(screen).run_test() as pilot:
        await until(pilot, lambda: "k3f9" in found(screen))
