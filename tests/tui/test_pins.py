"""Pinning from the screen: the command, the key on a message, the list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from loom.locations import Locations
from loom.tui.screens.pins import PinList, PinsScreen
from loom.tui.screens.whole import WholeTextScreen
from loom.tui.widgets.composer import Composer
from loom.tui.widgets.line import ErrorBlock, turn_label
from loom.tui.widgets.message import AssistantMessage, UserMessage
from loom.tui.widgets.tool_card import ToolCard
from loom.tui.widgets.transcript import Transcript
from tests.support.seat import seated
from tests.support.turns import call_turn, result_turn, session_record, turn
from tests.tui.conftest import ChatApp

TURNS = [
    turn(1, "user", "The port is 8123."),
    call_turn(2, "c1", "read_file", {"path": "a.py"}),
    result_turn(3, "c1", "read_file", "print()"),
    turn(4, "assistant", "Noted."),
]


@pytest.fixture
def app() -> ChatApp:
    return ChatApp(turns=TURNS, session=session_record())


async def settled(pilot: Pilot[Any], app: ChatApp) -> None:
    """Every command and key has done its work (the worker that draws events never ends)."""
    while [worker for worker in app.workers if worker.name != "draw events" and not worker.is_finished]:
        await pilot.pause()
    await app.chat.drawn()
    await pilot.pause()


async def command(pilot: Pilot[Any], app: ChatApp, text: str) -> None:
    app.chat.query_one(Composer).put(text)
    await pilot.press("enter")
    await settled(pilot, app)


def pinned(app: ChatApp) -> list[tuple[int, str]]:
    return [(pin.turn, pin.text) for pin in app.service.state.pins]


async def test_pin_takes_words_a_turn_or_the_last_answer(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        await command(pilot, app, "/pin metric units, please")
        await command(pilot, app, "/pin t1")
        await command(pilot, app, "/pin")
        assert pinned(app) == [(1_000, "metric units, please"), (1, "turn 1"), (4, "turn 4")]
        await command(pilot, app, "/unpin T1")
        assert [turn for turn, _ in pinned(app)] == [1_000, 4]
        await command(pilot, app, "/unpin T99")
        assert "T99 is not pinned" in str(app.chat.query(ErrorBlock).last().render())
        assert app.chat.draft == "/unpin T99", "what was typed comes back"


async def test_several_turns_are_pinned_one_by_one_and_not_as_words(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        await command(pilot, app, "/pin T1 t3, T4")
        assert pinned(app) == [(1, "turn 1"), (3, "turn 3"), (4, "turn 4")]
        await command(pilot, app, "/pin T1 is wrong")
        assert pinned(app)[-1] == (1_003, "T1 is wrong")
        await command(pilot, app, "/unpin T4 T1")
        assert [turn for turn, _ in pinned(app)] == [3, 1_003]


async def test_a_key_on_a_message_pins_it_and_lets_it_go(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        await pilot.press("shift+tab")
        answer = app.chat.query_one(AssistantMessage)
        assert answer.has_focus
        await pilot.press("p")
        await settled(pilot, app)
        assert pinned(app) == [(4, "turn 4")] and answer.pinned
        await pilot.press("p")
        await settled(pilot, app)
        assert pinned(app) == [] and not answer.pinned
        await pilot.press("shift+tab", "p")
        await settled(pilot, app)
        assert pinned(app) == [(3, "turn 3")], "the result, not the call"
        assert app.chat.query_one(ToolCard).pinned
        await pilot.press("o")
        assert isinstance(app.screen, WholeTextScreen)


def pin_label(app: ChatApp) -> str:
    """What the footer says of `p`."""
    return next(found.binding.description for found in app.screen.active_bindings.values() if found.binding.key == "p")


async def test_the_footer_says_what_the_key_does_now(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        await pilot.press("shift+tab")
        assert pin_label(app) == "Pin"
        await pilot.press("p")
        await settled(pilot, app)
        assert pinned(app) and pin_label(app) == "Unpin"
        await pilot.press("p")
        await settled(pilot, app)
        assert not pinned(app) and pin_label(app) == "Pin"


async def test_a_click_on_a_message_leaves_the_keyboard_where_it_is(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        await pilot.click(UserMessage)
        await pilot.press("p", "i", "n")
        assert app.chat.draft == "pin" and pinned(app) == []


async def test_a_page_that_is_loaded_shows_what_is_pinned(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        await command(pilot, app, "/pin T1")
        await app.chat.query_one(Transcript).show_page(TURNS, has_older=False)
        await pilot.pause()
        message = app.chat.query_one(UserMessage)
        assert message.pinned
        assert str(message.query_one(".turn-number").render()) == turn_label(1, pinned=True) == "◆T1"


async def test_the_list_reads_and_unpins(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        await command(pilot, app, "/pin T4")
        await command(pilot, app, "/pin words")
        await command(pilot, app, "/pins")
        assert isinstance(app.screen, PinsScreen)
        await pilot.press("enter")
        await settled(pilot, app)
        assert isinstance(app.screen, WholeTextScreen)
        await pilot.press("escape", "u")
        await settled(pilot, app)
        assert [turn for turn, _ in pinned(app)] == [1_001]
        await pilot.press("u")
        await settled(pilot, app)
        assert not app.screen.query_one(PinList).display
        assert "Nothing is pinned." in str(app.screen.query_one(".empty").render())
        await pilot.press("u", "enter", "escape")
        assert app.screen is app.chat


async def test_pins_of_the_whole_program_outlast_a_cleared_window(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read src/auth.py")
        await seat.say("/pin T1")
        await seat.until(lambda: [p.turn for p in seat.chat.service.state.pins] == [1])  # type: ignore[union-attr]
        await seat.say("/clear")
        await seat.talk("list .")
        service = seat.chat.service
        assert service is not None and service.session is not None
        store = seat.app._bench.store  # type: ignore[union-attr]
        last = (await store.list_requests(service.session.id))[-1].request
        manifest = await store.get_manifest(service.session.id, last)
        assert manifest is not None and '<pin turn="T1"' in manifest.texts["pins"]
        assert manifest.turns[0] == (1, 1)
        await seat.say("/pin " + "x" * 2_001)
        await seat.until(lambda: any("at most 2,000" in str(e.render()) for e in seat.chat.query(ErrorBlock)))


async def test_keys_that_would_do_nothing_are_not_offered(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        await command(pilot, app, "/pins")
        assert {"Unpin", "Open"}.isdisjoint(footer(app))
        await pilot.press("escape")
        await command(pilot, app, "/pin T1")
        await command(pilot, app, "/pins")
        assert {"Unpin", "Open"} <= footer(app)
        await pilot.press("u")
        await settled(pilot, app)
        assert {"Unpin", "Open"}.isdisjoint(footer(app)), "the last one is gone"
        assert "Back" in footer(app)


def footer(app: ChatApp) -> set[str]:
    return {
        binding.description
        for _, binding, enabled, _ in app.screen.active_bindings.values()
        if binding.show and enabled
    }
