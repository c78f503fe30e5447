"""The keys at the foot of each screen, in a narrow terminal."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.widgets._footer import FooterKey

from loom.cowork.events import ExchangeEnded, ExchangeStarted, Outcome
from loom.locations import Locations
from loom.tui.screens.archive import ArchiveScreen
from loom.tui.screens.help import HelpScreen
from loom.tui.screens.memory import MemoryScreen
from loom.tui.screens.past_request import PastRequestScreen
from loom.tui.screens.picker import PickerScreen
from loom.tui.screens.pins import PinsScreen
from loom.tui.screens.turn_view import TurnViewScreen
from loom.tui.screens.usage import UsageScreen
from loom.tui.widgets.key_bar import KeyBar
from tests.support.browsing import HERE, alone, fill, until
from tests.support.seat import PATIENCE, Seat, seated
from tests.support.turns import session_record, turn
from tests.tui.conftest import ChatApp


async def see(seat: Seat, screen: type) -> None:
    await seat.until(lambda: isinstance(seat.app.screen, screen))
    await seat.until(lambda: seat.app.screen.query(FooterKey))
    await seat.pilot.pause()


async def chat(seat: Seat) -> None:
    return None


def command(name: str, screen: type) -> Callable[[Seat], Awaitable[None]]:
    async def go(seat: Seat) -> None:
        await seat.say(f"/{name}")
        await see(seat, screen)

    go.__name__ = name
    return go


async def time_travel(seat: Seat) -> None:
    await command("context", UsageScreen)(seat)
    await seat.pilot.press("left")
    await see(seat, PastRequestScreen)


async def filtered(seat: Seat) -> None:
    await command("sessions", PickerScreen)(seat)
    await seat.pilot.press("slash")
    await seat.until(lambda: "Clear filter" in names(seat))


async def queried(seat: Seat) -> None:
    await command("recall hello", ArchiveScreen)(seat)
    await seat.until(lambda: "Hits" in names(seat))


async def hits(seat: Seat) -> None:
    await command("recall hello", ArchiveScreen)(seat)
    await seat.until(lambda: seat.app.screen.query("HitList") and seat.app.screen.query_one("HitList").items)  # type: ignore[attr-defined]
    await seat.pilot.press("down")
    await seat.until(lambda: "Open" in names(seat))


async def whole_turn(seat: Seat) -> None:
    await hits(seat)
    await seat.pilot.press("v")
    await see(seat, TurnViewScreen)


SCREENS = [
    chat,
    command("context", UsageScreen),
    command("sessions", PickerScreen),
    filtered,
    command("recall", ArchiveScreen),
    command("help", HelpScreen),
    command("pins", PinsScreen),
    command("memory", MemoryScreen),
    time_travel,
    queried,
    hits,
    whole_turn,
]
WANTED = {
    "chat": {"Help", "Context", "Archive"},
    "context": {"Earlier requests"},
    "sessions": {"Open", "Filter", "Search"},
    "filtered": {"Open", "Search", "Clear filter"},
    "help": {"Search"},
    "memory": {"Edit", "Undo"},
    "time_travel": {"Before", "After", "Open", "Compare"},
    "queried": {"Open first", "Hits"},
    "hits": {"Open", "Whole", "Attach"},
    "whole_turn": {"Before", "After", "Copy"},
}
"""What each screen is for: its keys are there however narrow the terminal."""


def names(seat: Seat) -> set[str]:
    return {key.description for key in seat.app.screen.query_one(KeyBar).query(FooterKey)}


@pytest.mark.parametrize("way", SCREENS, ids=lambda way: way.__name__)
async def test_no_key_is_cut_and_the_way_back_is_there(
    way: Callable[[Seat], Awaitable[None]], locations: Locations, workspace: Path
) -> None:
    async with seated(locations, workspace, fresh=True, size=(60, 24)) as seat:
        await seat.ready()
        await seat.talk("hello")
        await way(seat)
        bar = seat.app.screen.query_one(KeyBar)
        keys = list(bar.query(FooterKey))
        assert keys
        assert all(bar.region.contains_region(key.region) for key in keys), [key.description for key in keys]
        assert all(len(str(key.render())) == key.region.width for key in keys)
        shown = {binding.description for _, binding, _, _ in seat.app.screen.active_bindings.values() if binding.show}
        assert (shown & {"Back", "Leave", "Help"}) | {"Quit"} | WANTED.get(way.__name__, set()) <= names(seat)


async def test_more_room_shows_more_keys(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace, fresh=True, size=(40, 24)) as seat:
        await seat.ready()
        bar = seat.chat.query_one(KeyBar)
        few = len(bar.query(FooterKey))
        await seat.pilot.resize_terminal(160, 24)
        await seat.until(lambda: len(bar.query(FooterKey)) > few)
        assert {"Help", "Quit"} <= {key.description for key in bar.query(FooterKey)}


async def test_keys_that_stay_the_same_are_not_drawn_anew() -> None:
    app = ChatApp(turns=[turn(1, "user", "Hello")], session=session_record())
    async with app.run_test() as pilot:
        bar = app.chat.query_one(KeyBar)
        await until(pilot, lambda: bar.query(FooterKey))
        before = list(bar.query(FooterKey))
        app.chat.refresh_bindings()
        await pilot.resize_terminal(app.size.width, app.size.height - 1)
        assert list(bar.query(FooterKey)) == before


async def test_a_key_that_does_something_now_appears_and_goes_again() -> None:
    app = ChatApp(turns=[turn(1, "user", "Hello")], session=session_record())
    async with app.run_test(size=(160, 30)) as pilot:

        def words() -> list[str]:
            return [key.description for key in app.chat.query_one(KeyBar).query(FooterKey)]

        await until(pilot, words)
        quiet = words()
        app.service.busy = True
        app.service.tell(ExchangeStarted(2))
        await until(pilot, lambda: set(words()) - set(quiet) == {"Interrupt"})
        app.service.busy = False
        app.service.tell(ExchangeEnded(2, Outcome.COMPLETE))
        await until(pilot, lambda: words() == quiet)


async def test_a_screen_that_is_being_closed_is_asked_for_no_keys(tmp_path: Path) -> None:
    fixed = await fill(tmp_path / "archive.db")
    app = alone(PickerScreen(fixed, HERE))
    async with app.run_test() as pilot:
        await pilot.pause()
        bar = app.screen.query_one(KeyBar)
        app.pop_screen()
        async with asyncio.timeout(PATIENCE):
            while bar.is_attached:
                await bar.recompose()
                await asyncio.sleep(0)
    await fixed.store.close()


async def test_keys_that_are_shown_no_more_are_let_go(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace, fresh=True, size=(100, 24)) as seat:
        await seat.ready()

        async def alive_after_a_look() -> int:
            await seat.pilot.press("f2")
            await see(seat, UsageScreen)
            await seat.pilot.press("escape")
            await seat.until(lambda: seat.app.screen is seat.app.screen_stack[-1] and len(seat.app.screen_stack) == 2)
            await seat.idle()
            gc.collect()
            return sum(isinstance(each, FooterKey) for each in gc.get_objects())

        first = await alive_after_a_look()
        assert [await alive_after_a_look() for _ in range(2)] == [first] * 2
