"""What waits while an exchange runs: one thing after the other, whatever happens to the exchange."""

from __future__ import annotations

import asyncio
from pathlib import Path

from loom.cowork.events import ExchangeEnded, Outcome, QueueChanged, TurnStored
from tests.cowork.conftest import Start, Talk, chat
from tests.support.provider import PATIENCE, ScriptedProvider
from tests.support.replies import Gate, Reply, Text


async def interrupted(start: Start, provider: ScriptedProvider) -> Talk:
    """A conversation whose first exchange was interrupted while three things waited."""
    gate = Gate()
    provider.add(Reply(gate, Text("never")))
    talk = await start(choice=chat())
    talk.session.submit("begin")
    assert await asyncio.to_thread(gate.reached.wait, PATIENCE)
    talk.session.submit("first")
    talk.session.run_command("touch second")
    talk.session.submit("third")
    talk.session.interrupt()
    await talk.heard.ended()
    gate.open()
    return talk


async def test_an_interruption_holds_what_waits_each_thing_as_it_was(
    start: Start, provider: ScriptedProvider, workspace: Path
) -> None:
    talk = await interrupted(start, provider)
    session = talk.session
    assert (session.waiting, session.held) == (("first", "!touch second", "third"), 3)
    assert talk.heard.of(QueueChanged)[-1].waiting == session.waiting
    assert not session.busy and not (workspace / "second").exists()
    assert session.take_back() == "third"
    assert session.take_back() == "!touch second"
    assert (session.waiting, session.held) == (("first",), 1)


async def test_what_is_held_goes_in_its_order_when_it_is_let_go(
    start: Start, provider: ScriptedProvider, workspace: Path
) -> None:
    talk = await interrupted(start, provider)
    provider.add(Reply(Text("One.")), Reply(Text("Three.")))
    talk.session.send_held()
    for _ in range(3):
        assert (await talk.heard.ended()).outcome is Outcome.COMPLETE
    assert (workspace / "second").exists()
    assert talk.session.waiting == ()
    said = [turn.content for turn in await talk.session.transcript() if turn.role == "user" and turn.tool_calls is None]
    assert said == ["begin", "first", "third"]


async def test_what_is_said_next_goes_first_and_the_rest_stays_held(start: Start, provider: ScriptedProvider) -> None:
    talk = await interrupted(start, provider)
    gate = Gate()
    provider.add(Reply(gate, Text("Better.")), Reply(Text("Later.")))
    talk.session.submit("no, this instead")
    assert await asyncio.to_thread(gate.reached.wait, PATIENCE)
    talk.session.submit("and after it this")
    assert talk.session.waiting == ("first", "!touch second", "third", "and after it this")
    assert talk.session.held == 3
    gate.open()
    await talk.heard.until(TurnStored, lambda e: e.turn.content == "Later.")
    await talk.heard.ended()
    assert talk.session.waiting == ("first", "!touch second", "third")
    assert not talk.session.busy


async def test_a_second_interruption_holds_the_newer_ones_behind_the_older(
    start: Start, provider: ScriptedProvider
) -> None:
    talk = await interrupted(start, provider)
    gate = Gate()
    provider.add(Reply(gate, Text("never")))
    talk.session.submit("again")
    assert await asyncio.to_thread(gate.reached.wait, PATIENCE)
    talk.session.submit("fourth")
    talk.session.interrupt()
    await talk.heard.until(ExchangeEnded)
    gate.open()
    assert (talk.session.waiting, talk.session.held) == (("first", "!touch second", "third", "fourth"), 4)


async def test_without_something_that_runs_nothing_is_held(start: Start) -> None:
    talk = await start()
    assert not talk.session.interrupt()
    talk.session.send_held()
    assert (talk.session.waiting, talk.session.held) == ((), 0)
