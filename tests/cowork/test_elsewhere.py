"""What another loom does with a session that is open here: it takes it over, or writes what is read here."""

from __future__ import annotations

import asyncio

import pytest

from loom.archive import ConversationStore, NewTurn
from loom.archive.records import TurnStatus
from loom.config import Settings
from loom.cowork import elsewhere
from loom.cowork.elsewhere import Claim
from loom.cowork.events import (
    ExchangeEnded,
    Outcome,
    SaveFailed,
    StateChanged,
    TakenOver,
    TextDelta,
    ToolFinished,
    TurnStored,
)
from loom.cowork.recorder import Recorder
from loom.cowork.session import CoworkSession, LostSession
from loom.cowork.workbench import Workbench
from loom.models.choosing import choose_model
from tests.cowork.conftest import Start
from tests.support.listening import Listening
from tests.support.provider import ScriptedProvider
from tests.support.replies import Gate, Reply, Text


async def other_loom(bench: Workbench) -> ConversationStore:
    return await ConversationStore.open(bench.locations.archive)


async def test_an_answer_on_its_way_is_stopped_and_goes_along_with_a_fork(
    start: Start, bench: Workbench, provider: ScriptedProvider
) -> None:
    gate = Gate()
    provider.add(Reply(Text("The first half "), gate, Text("and never this.")))
    talk = await start(choice=choose_model("openai-chat:test", Settings()))
    session, heard = talk.session, talk.heard
    session.submit("tell me")
    await heard.until(TextDelta)
    lost = session.session_id
    assert lost is not None
    other = await other_loom(bench)
    try:
        await other.acquire_lease(lost, take_over=True)
        await other.append_turn(lost, "user", "mine now")
        await heard.until(TakenOver)
        ended = await heard.ended()
        gate.open()
        assert ended.outcome is Outcome.FAILED and "took this session over" in ended.error
        assert session.taken and len(heard.of(TakenOver)) == 1 and not heard.of(SaveFailed)
        with pytest.raises(LostSession):
            await session.rename("no")
        session.submit("not sent")
        assert session.waiting == ("not sent",) and not session.busy

        forked = await session.fork_here()
        kept = await bench.store.get_range(forked, 1, 9)
        assert [(turn.role, turn.content, turn.status) for turn in kept] == [
            ("user", "tell me", TurnStatus.COMPLETE),
            ("assistant", "The first half ", TurnStatus.INTERRUPTED),
        ]
        assert [turn.content for turn in await other.get_range(lost, 1, 9)] == ["tell me", "mine now"]
    finally:
        await other.close()


async def test_what_could_not_be_stored_never_gets_behind_what_the_other_wrote(
    start: Start, bench: Workbench, provider: ScriptedProvider
) -> None:
    gate = Gate()
    provider.add(Reply(Text("Too late "), gate))
    talk = await start(choice=choose_model("openai-chat:test", Settings()))
    talk.session.submit("tell me")
    await talk.heard.until(TextDelta)
    lost = talk.session.session_id
    assert lost is not None
    other = await other_loom(bench)
    await other.acquire_lease(lost, take_over=True)
    await talk.heard.ended()
    gate.open()
    await talk.session.close()
    await other.close()
    again = await start(resume=lost)
    assert "Too late " not in [turn.content for turn in await again.session.transcript()]


async def test_a_message_that_is_refused_is_held_before_those_that_waited_behind_it(
    start: Start, bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elsewhere, "LOOK_SECONDS", 3_600.0)  # the refusal alone tells of it
    talk = await start()
    await talk.say("list .")
    lost = talk.session.session_id
    assert lost is not None
    other = await other_loom(bench)
    await other.acquire_lease(lost, take_over=True)
    talk.session.submit("first")
    talk.session.submit("second")
    assert (await talk.heard.ended()).outcome is Outcome.FAILED
    assert (talk.session.waiting, talk.session.held, talk.session.sending) == (("first", "second"), 2, "")
    await other.close()


async def test_what_goes_along_with_a_fork_is_not_left_for_the_session_that_was_lost(
    bench: Workbench, start: Start
) -> None:
    talk = await start()
    await talk.say("read README.md")
    lost = talk.session.session_id
    assert lost is not None
    recorder = Recorder(bench.store, bench.spool, Listening().take, Claim(bench.store, lambda: None, bench.log_fault))
    recorder.session_id = lost
    recorder.unsaved = bench.spool.put(lost, [NewTurn(role="assistant", content="kept on the disk")])
    assert list(bench.locations.spool.iterdir())
    forked = await bench.store.fork_session(lost)
    await recorder.move(forked)
    assert not recorder.unsaved and not list(bench.locations.spool.iterdir())
    assert (await bench.store.get_range(forked, 1, 99))[-1].content == "kept on the disk"


async def test_closing_one_that_was_lost_gives_up_nothing_that_was_taken_back(start: Start, bench: Workbench) -> None:
    talk = await start()
    await talk.say("read README.md")
    lost = talk.session.session_id
    assert lost is not None
    other = await other_loom(bench)
    try:
        await other.acquire_lease(lost, take_over=True)
        await talk.heard.until(TakenOver)
        await talk.session.close()
        await bench.store.acquire_lease(lost, take_over=True)
        await talk.session.close()
        holder = await other.get_lease_holder(lost)
        assert holder is not None
        assert await other.is_lease_lost(lost) and not await bench.store.is_lease_lost(lost)
    finally:
        await other.close()


async def test_a_session_that_is_read_follows_what_is_written(start: Start, bench: Workbench) -> None:
    talk = await start()
    await talk.say("read README.md")
    session_id = talk.session.session_id
    assert session_id is not None
    heard = Listening()
    choice = choose_model("offline", bench.settings)
    reader = CoworkSession(bench, bench.locations.home, choice, listener=heard.take)
    await reader.read(session_id)
    try:
        seen = len(await reader.transcript())
        await talk.say("list the files")
        written = (await bench.store.get_range(session_id, 1, 99))[seen:]
        while len(heard.of(TurnStored)) < len(written):
            await heard.until(TurnStored)
        assert [event.turn for event in heard.of(TurnStored)] == written
        assert [event.turn for event in heard.of(ToolFinished)] == [turn for turn in written if turn.role == "tool"]
        await heard.until(StateChanged)
        assert reader.state == talk.session.state
        assert reader.session is not None and reader.session.turn_count == seen + len(written)
    finally:
        await reader.close()
    assert not heard.of(ExchangeEnded)


async def test_a_fault_while_looking_is_said_once_and_is_not_the_last_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "LOOK_SECONDS", 0.0)
    faults: list[Exception] = []
    looks, done = 0, asyncio.Event()

    async def look() -> None:
        nonlocal looks
        looks += 1
        if looks in (1, 2, 4):
            raise ValueError(f"look {looks}")
        if looks == 5:
            done.set()

    lookout = elsewhere.Lookout(look, faults.append)
    lookout.start()
    await done.wait()
    await lookout.stop()
    assert [str(fault) for fault in faults] == ["look 1", "look 4"]
