"""A session that another loom has open: two stores on one archive."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from loom.archive import ConversationStore
from loom.archive.errors import LeaseLost
from loom.archive.leases import Holder
from loom.locations import Locations
from loom.tui.screens.chat import ChatScreen
from loom.tui.screens.held import Held, HeldScreen
from loom.tui.screens.picker import PickerScreen
from loom.tui.widgets.message import UserMessage
from tests.support.browsing import HOSTILE, alone, until
from tests.support.clock import Clock
from tests.support.seat import Seat, seated

WORDS = "read README.md"


@pytest.fixture
async def other(locations: Locations, workspace: Path) -> AsyncIterator[ConversationStore]:
    """Another loom, with the newest session open."""
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk(WORDS)
        session_id = seat.session_id
    store = await ConversationStore.open(locations.archive)
    await store.acquire_lease(session_id)
    yield store
    await store.close()


async def held_id(store: ConversationStore) -> str:
    (session,) = await store.list_sessions()
    return session.id


async def asked(seat: Seat, key: str) -> None:
    """Wait for the question and answer it."""
    await seat.until(lambda: isinstance(seat.app.screen, HeldScreen) and seat.app.screen.is_mounted)
    seat.clock.advance(1)
    await seat.pilot.press(key)


async def test_reading_it_writes_nothing_and_takes_nothing(
    locations: Locations, workspace: Path, other: ConversationStore
) -> None:
    session_id = await held_id(other)
    async with seated(locations, workspace, resume="0") as seat:
        await asked(seat, "r")
        await seat.ready()
        assert seat.chat.service is not None and seat.chat.service.read_only
        assert [m.text for m in seat.chat.query(UserMessage)] == [WORDS]
        await seat.say("more")
        assert seat.chat.draft == "more"
    await other.append_turn(session_id, "user", "still mine")


async def test_a_fork_goes_on_and_leaves_the_other_as_it_is(
    locations: Locations, workspace: Path, other: ConversationStore
) -> None:
    session_id = await held_id(other)
    before = await other.get_turn_count(session_id)
    async with seated(locations, workspace, resume="0") as seat:
        await asked(seat, "f")
        await seat.ready()
        assert seat.session_id != session_id
        await seat.talk("list the files")
        assert [m.text for m in seat.chat.query(UserMessage)] == [WORDS, "list the files"]
    assert await other.get_turn_count(session_id) == before


async def test_taking_over_goes_on_here_and_the_other_stores_nothing_more(
    locations: Locations, workspace: Path, other: ConversationStore
) -> None:
    session_id = await held_id(other)
    async with seated(locations, workspace, resume="0") as seat:
        await asked(seat, "t")
        await seat.ready()
        assert seat.session_id == session_id
        await seat.talk("list the files")
        with pytest.raises(LeaseLost):
            await other.append_turn(session_id, "user", "too late")


async def test_going_back_at_the_start_offers_the_sessions(
    locations: Locations, workspace: Path, other: ConversationStore
) -> None:
    async with seated(locations, workspace, resume="0") as seat:
        await asked(seat, "escape")
        await seat.until(lambda: isinstance(seat.app.screen, PickerScreen))
        await seat.pilot.pause()
        await seat.pilot.press("n")
        await seat.ready()
        assert seat.chat.service is not None and seat.chat.service.session is None


async def test_going_back_later_stays_in_the_session_that_is_open(
    locations: Locations, workspace: Path, other: ConversationStore
) -> None:
    async with seated(locations, workspace, fresh=True) as seat:
        await seat.ready()
        await seat.talk("list the files")
        here, chat = seat.session_id, seat.chat
        await seat.pilot.press("ctrl+o")
        await seat.until(lambda: isinstance(seat.app.screen, PickerScreen) and len(seat.rows) == 3)
        await seat.pilot.press("down", "down", "enter")
        await asked(seat, "escape")
        await seat.until(lambda: isinstance(seat.app.screen, ChatScreen))
        assert (seat.session_id, seat.chat) == (here, chat)
        await seat.talk(WORDS)


HOLDER = Holder(4711, HOSTILE, "2026-03-04T10:00:00.000000Z")


async def test_a_key_that_was_on_its_way_is_no_answer() -> None:
    clock = Clock()
    app = alone(HeldScreen("Fix the login", HOLDER, clock=clock))
    async with app.run_test() as pilot:
        await until(pilot, lambda: isinstance(app.screen, HeldScreen) and app.screen.is_mounted)
        await pilot.press("t")
        assert not app.left
        clock.advance(1)
        await pilot.press("t")
        await until(pilot, lambda: app.left)
    assert app.result is Held.TAKE_OVER
