"""Keys pressed, and screens closed, while a search is still out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from textual.events import Key
from textual.widgets import Input, Static

from loom.archive.records import SearchPage
from loom.tui.choices import AttachTurn, ForkAt, JumpTo
from loom.tui.widgets.facet_bar import Scope
from loom.tui.widgets.hit_list import HitList
from tests.support.browsing import HERE, Fixed, alone, id_of, until
from tests.tui.archive_browser import browser, found, said, typed


@dataclass
class Held(Fixed):
    """The archive, whose searches (for `only`, if that is given) are out until they may go on."""

    only: str | None = None
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    """One of them is out."""
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def search(self, query: str, **options: Any) -> SearchPage:
        if self.only in (None, query):
            self.asked.set()
            await self.go_on.wait()
        return await super().search(query, **options)


async def test_a_search_that_ends_while_the_screen_goes_does_no_harm(
    shelf: Fixed, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asyncio.Event()
    real = shelf.search

    async def search(query: str, **options: Any) -> SearchPage:
        page = await real(query, **options)
        asked.set()
        while screen.query(HitList):
            await asyncio.sleep(0)
        return page

    monkeypatch.setattr(shelf, "search", search)
    screen = browser(shelf, query="timeout")
    async with alone(screen).run_test():
        await asked.wait()


async def test_a_later_search_replaces_a_slower_earlier_one(shelf: Fixed) -> None:
    held = Held(shelf.store, shelf.made, "build")
    screen = browser(held, scope=Scope.WORKSPACE, query="build")
    async with alone(screen).run_test() as pilot:
        await held.asked.wait()
        # The keyboard is free while the first one is still out.
        await pilot.press("ctrl+u", *"refreshToken")
        await until(pilot, lambda: found(screen)[:2] == ["a1b2", "T4"])
        held.go_on.set()
        await pilot.pause()
        assert "k3f9" not in found(screen)


async def test_enter_means_the_first_hit_of_what_stands_in_the_box(shelf: Fixed) -> None:
    held = Held(shelf.store, shelf.made, "timeout build")
    screen = browser(held, scope=Scope.WORKSPACE, query="timeout")
    app = alone(screen)
    async with app.run_test() as pilot:
        await until(pilot, lambda: found(screen))
        await pilot.press(*" build")
        await held.asked.wait()
        await pilot.press("enter")
        await pilot.pause()
        assert not app.left, "the list is still that of the query before"
        held.go_on.set()
        await until(pilot, lambda: app.left)
        best = (await shelf.search("timeout build", workspace=HERE)).hits[0]
    assert app.result == JumpTo(best.session_id, best.turn_number)


async def test_a_burst_of_keys_goes_where_it_was_meant_to(shelf: Fixed) -> None:
    screen = browser(shelf)
    app = alone(screen)
    async with app.run_test() as pilot:
        await until(pilot, lambda: screen.is_mounted and screen.query("#query"))
        for key in (*"refreshToken", "down", "a"):
            # All of them are there before the first is looked at, as when a slow machine catches up.
            app.post_message(Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: app.left)
    assert app.result == AttachTurn(id_of(shelf, "a1b2"), 4)


@pytest.mark.parametrize(("key", "kind"), [("a", AttachTurn), ("f", ForkAt), ("enter", JumpTo)])
async def test_keys_pressed_while_it_searches_are_meant_for_the_first_hit(shelf: Fixed, key: str, kind: type) -> None:
    held = Held(shelf.store, shelf.made)
    screen = browser(held, query="refreshToken")
    app = alone(screen)
    async with app.run_test() as pilot:
        await held.asked.wait()
        await pilot.press("down", key)
        assert not app.left and screen.query_one("#query", Input).value == "refreshToken"
        held.go_on.set()
        await until(pilot, lambda: app.left)
    assert app.result == kind(id_of(shelf, "a1b2"), 4)


async def test_down_to_hits_that_never_come_leads_back_to_the_query(shelf: Fixed) -> None:
    held = Held(shelf.store, shelf.made)
    screen = browser(held, query="zebra crossing")
    app = alone(screen)
    async with app.run_test() as pilot:
        await held.asked.wait()
        await pilot.press("down", "a", "e", "y", "f", "v", "enter")
        held.go_on.set()
        await until(pilot, lambda: "Nothing found" in said(screen) and isinstance(screen.focused, Input))
        await pilot.press("down", "s")
        assert screen.query_one("#query", Input).value == "zebra crossings"
        assert not app.left and not app.messages


async def test_typing_after_enter_takes_the_jump_back(shelf: Fixed) -> None:
    held = Held(shelf.store, shelf.made)
    screen = browser(held, query="timeou")
    app = alone(screen)
    async with app.run_test() as pilot:
        await until(pilot, lambda: screen.query("#query"))
        await pilot.press("enter", "t")
        held.go_on.set()
        await until(pilot, lambda: found(screen))
        await pilot.pause()
        assert not app.left


class Lingers(Static):
    """The last widget of its screen to go; `gone` is called when the hits have gone already."""

    def __init__(self, gone: Callable[[], Awaitable[None]]) -> None:
        super().__init__()
        self._gone = gone

    async def on_unmount(self) -> None:
        screen = self.screen
        while screen.query(HitList):
            await asyncio.sleep(0)
        await self._gone()


async def test_a_search_that_ends_while_the_browser_closes_ends_nothing_else(shelf: Fixed) -> None:
    held = Held(shelf.store, shelf.made)
    screen = browser(held, query="refreshToken")
    app = alone(screen)
    async with app.run_test() as pilot:
        await held.asked.wait()
        (search,) = [worker for worker in app.workers if worker.group == "search"]

        async def finish() -> None:
            held.go_on.set()
            while not search.is_finished:
                await asyncio.sleep(0)

        await screen.mount(Lingers(finish))
        await pilot.press("escape")
        await until(pilot, lambda: app.left and search.is_finished)
    assert search.is_cancelled


async def test_where_a_filter_is_to_blame_no_spelling_is(shelf: Fixed) -> None:
    screen = browser(shelf, scope=Scope.WORKSPACE, query="tokio role:user")
    async with alone(screen).run_test() as pilot:
        await until(pilot, lambda: "Without role:user something is found." in said(screen))
        assert "Nearly so" not in said(screen)


async def test_nothing_is_said_of_a_filter_while_it_is_being_written(shelf: Fixed) -> None:
    screen = browser(shelf)
    app = alone(screen)
    async with app.run_test() as pilot:
        await typed(pilot, screen, "timeout")
        await pilot.press(*" role:us")
        await app.workers.wait_for_complete()
        assert said(screen) == ""
        await pilot.press("x", "space")
        await until(pilot, lambda: "There is no role usx" in said(screen))
