"""A session that is read here while another loom writes it: two programs on one archive, each with its own store."""

from __future__ import annotations

from pathlib import Path

import pytest

from loom.archive import ConversationStore, NewTurn
from loom.archive.records import TurnKind
from loom.cowork import elsewhere
from loom.locations import Locations
from loom.tui.widgets.approval import Approval
from loom.tui.widgets.card_title import CardState, CardTitle
from loom.tui.widgets.tool_card import ToolCard
from tests.support.seat import Seat, seated
from tests.tui.test_held import asked

COMMAND = "echo begun; until [ -e more ]; do sleep 0.05; done; echo more; until [ -e end ]; do sleep 0.05; done"
"""Runs until the test lets it go on, and then until it lets it end."""


@pytest.fixture(autouse=True)
def looking_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "LOOK_SECONDS", 0.05)


async def read_along(seat: Seat) -> None:
    """Open the session, which another loom has, to read it only."""
    await asked(seat, "r")
    await seat.ready()
    assert seat.chat.service is not None and seat.chat.service.read_only


def card(seat: Seat) -> ToolCard:
    """The newest call."""
    return seat.chat.query(ToolCard).last()


def text(seat: Seat) -> str:
    """What is drawn of the newest call, as it is on the screen."""
    region = card(seat).region
    lines = seat.app.screen._compositor.render_strips()[region.y : region.bottom]
    return "\n".join(line.text[region.x : region.right].rstrip() for line in lines)


async def test_a_command_that_the_other_loom_runs_is_running_here_too(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as one:
        await one.ready()
        await one.say(f"!{COMMAND}")
        await one.until(lambda: one.chat.query(ToolCard) and "begun" in text(one))
        async with seated(locations, workspace, resume="0") as other:
            await read_along(other)
            assert card(other).open_ended
            await other.until(lambda: card(other).state is CardState.RUNNING and "begun" in text(other))
            # How long it has run is not known here.
            other.clock.advance(5)
            assert "running" in text(other) and "5 s" not in str(card(other).query_one(CardTitle).render())
            (workspace / "more").touch()
            await other.until(lambda: "more" in text(other).splitlines()[-1])
            assert card(other).state is CardState.RUNNING
            (workspace / "end").touch()
            await other.until(lambda: card(other).state is CardState.DONE)
            await one.idle()
            assert other.cards() == one.cards()


async def test_a_call_that_waits_for_a_yes_in_the_other_loom_waits_here_and_then_runs(
    locations: Locations, workspace: Path
) -> None:
    async with seated(locations, workspace) as one:
        await one.ready()
        await one.say(f"run {COMMAND}")
        await one.until(lambda: any(question.has_focus for question in one.chat.query(Approval)))
        async with seated(locations, workspace, resume="0") as other:
            await read_along(other)
            assert other.cards() == [("shell_execute", CardState.WAITING)]
            one.clock.advance(1)
            await one.pilot.press("y")
            await other.until(lambda: card(other).state is CardState.RUNNING and "begun" in text(other))
            other.clock.advance(5)
            assert "5 s" in str(card(other).query_one(CardTitle).render())
            for name in ("more", "end"):
                (workspace / name).touch()
            await other.until(lambda: card(other).state is CardState.DONE)
            await one.idle()


async def _left_open(locations: Locations, workspace: Path) -> None:
    """A session whose loom ended while a call waited, without a word about it."""
    store = await ConversationStore.open(locations.archive)
    session_id = await store.create_session(str(workspace), "offline", "")
    await store.append_turn(session_id, "user", "run make")
    await store.append_turns(session_id, [_call("c1")])
    await store.close()


def _call(call_id: str) -> NewTurn:
    call = {"id": call_id, "name": "shell_execute", "arguments": {"command": "make"}}
    return NewTurn(role="assistant", content=None, kind=TurnKind.TOOL_CALL, tool_calls=[call])


async def test_a_call_of_a_loom_that_is_gone_was_interrupted_whoever_has_the_session_now(
    locations: Locations, workspace: Path
) -> None:
    await _left_open(locations, workspace)
    async with seated(locations, workspace, resume="0") as one:
        await one.ready()
        async with seated(locations, workspace, resume="0") as other:
            await read_along(other)
            assert other.cards() == [("shell_execute", CardState.INTERRUPTED)]


async def test_a_call_is_interrupted_as_soon_as_the_loom_that_made_it_is_gone(
    locations: Locations, workspace: Path
) -> None:
    await _left_open(locations, workspace)
    store = await ConversationStore.open(locations.archive)
    (session,) = await store.list_sessions()
    await store.acquire_lease(session.id)
    await store.append_turn(session.id, "user", "run it again")
    await store.append_turns(session.id, [_call("c2")])
    async with seated(locations, workspace, resume="0") as other:
        await read_along(other)
        assert [state for _, state in other.cards()] == [CardState.INTERRUPTED, CardState.WAITING]
        await store.append_turns(session.id, [_call("c3")])
        await other.until(lambda: len(other.cards()) == 3)
        assert card(other).state is CardState.WAITING
        await store.close()
        await other.until(lambda: {state for _, state in other.cards()} == {CardState.INTERRUPTED})
