"""Pins are notes of the archive: they outlast everything that empties the window, and both sides can take them back."""

from __future__ import annotations

import asyncio
import sqlite3

import pytest

from loom.archive.records import TurnKind, TurnStatus
from loom.config import Settings
from loom.context.usage import Segment
from loom.cowork.events import StateChanged, ToolFinished
from loom.cowork.pinning import CannotPin
from loom.cowork.record import NothingSaid
from loom.cowork.recorder import NotSaved
from loom.cowork.session import ReadOnly
from loom.cowork.workbench import Workbench
from loom.state import rebuild
from tests.cowork.conftest import Start, chat
from tests.support.provider import ScriptedProvider
from tests.support.replies import Call, Gate, Reply, Text


def sent(provider: ScriptedProvider, request: int = -1) -> str:
    return str(provider.requests[request].messages)


async def test_a_pinned_turn_outlasts_the_window(start: Start, provider: ScriptedProvider) -> None:
    provider.add(Reply(Text("Noted.")), Reply(Text("Going on.")), Reply(Text("Still.")))
    talk = await start(choice=chat())
    await talk.say("The port is 8123.")
    pin = await talk.session.pin_turn(1)
    assert (pin.text, pin.turn, pin.by) == ("The port is 8123.", 1, "person")
    await talk.session.clear()
    await talk.say("Go on.")
    assert '<pin turn="T1" by="user">\\nThe port is 8123.\\n</pin>' in sent(provider)
    assert talk.session.usage is not None and talk.session.usage.segments[Segment.PINS] > 0
    assert talk.session.session is not None

    await talk.session.unpin(pin)
    await talk.say("And on.")
    assert "<loom-pins>" not in sent(provider)
    assert talk.session.state.pins == ()


async def test_pins_are_there_after_a_resume_and_in_a_fork(start: Start, provider: ScriptedProvider) -> None:
    provider.add(*(Reply(Text("Yes.")) for _ in range(3)))
    talk = await start(choice=chat())
    await talk.say("The port is 8123.")
    await talk.session.pin_turn(1)
    await talk.session.pin_text("Metric units.")
    await talk.session.clear()
    before = talk.session
    assert before.session is not None and before.usage is not None
    copy = await before.fork()
    await before.close()

    again = await start(resume=before.session.id, choice=chat())
    assert again.session.state.pins == before.state.pins
    assert again.session.usage is not None
    assert again.session.usage.segments == before.usage.segments
    await again.say("Go on.")
    assert "The port is 8123." in sent(provider) and "Metric units." in sent(provider)
    forked = await start(resume=copy, choice=chat())
    assert forked.session.state.pins == before.state.pins
    await forked.say("Go on.")
    assert "The port is 8123." in sent(provider)


async def test_pins_outlast_a_compaction(start: Start, provider: ScriptedProvider) -> None:
    provider.add(Reply(Text("words " * 400)), Reply(Text("Goal: none (T1).")), Reply(Text("Going on.")))
    talk = await start(choice=chat())
    await talk.say("The port is 8123.")
    await talk.session.pin_turn(1)
    await talk.session.compact("")
    await talk.say("Go on.")
    assert "Goal: none (T1)." in sent(provider)
    assert '<pin turn="T1" by="user">\\nThe port is 8123.\\n</pin>' in sent(provider)


async def test_a_pin_that_could_not_be_saved_stands_after_a_retry(
    start: Start, bench: Workbench, provider: ScriptedProvider
) -> None:
    provider.add(Reply(Text("Yes.")), Reply(Text("Yes.")))
    talk = await start(choice=chat())
    await talk.say("Hello.")

    def full(connection: sqlite3.Connection) -> None:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}").fetchone()

    await bench.store._access.write(full)
    pinned = 0
    with pytest.raises(NotSaved):
        for number in range(20):
            await talk.session.pin_text(f"fact {number} " + "x" * 1_900)
            pinned += 1
    assert len(talk.session.state.pins) == pinned < 20, "what is not stored is not pinned"
    await bench.store._access.write(lambda c: c.execute("PRAGMA max_page_count = 1000000").fetchone())
    await talk.session.retry_save()
    assert len(talk.session.state.pins) == pinned + 1
    await talk.say("Which facts?")
    assert f"fact {pinned} " in sent(provider)


async def test_a_pinned_answer_is_named_by_its_words_and_sent_as_it_was_written(
    start: Start, provider: ScriptedProvider
) -> None:
    provider.add(Reply(Text("## Plan\n\n- **never** touch `src/auth.py`")), Reply(Text("Yes.")))
    talk = await start(choice=chat())
    await talk.say("What is the plan?")
    pin = await talk.session.pin_turn(2)
    assert pin.text == "Plan never touch src/auth.py"
    assert (await talk.session.transcript())[-1].content == "Pinned T2: Plan never touch src/auth.py"
    await talk.session.clear()
    await talk.say("And?")
    assert "- **never** touch `src/auth.py`" in sent(provider)


async def test_the_state_rebuilt_from_the_turns_has_the_same_pins(start: Start) -> None:
    talk = await start()
    await talk.say("list .")
    await talk.session.pin_turn(1)
    pin = await talk.session.pin_text("Metric units.")
    await talk.session.pin_text("Plain English.")
    await talk.session.unpin(pin)
    assert rebuild(await talk.session.transcript()) == talk.session.state
    assert [p.text for p in talk.session.state.pins] == ["list .", "Plain English."]
    notes = [t.content for t in await talk.session.transcript() if t.kind is TurnKind.NOTE]
    assert notes == [
        "Pinned T1: list .",
        "Pinned: Metric units.",
        "Pinned: Plain English.",
        f"Unpinned T{pin.turn}: Metric units.",
    ]


async def test_a_pin_in_the_middle_of_an_exchange_loses_nothing_of_the_state(
    start: Start, provider: ScriptedProvider
) -> None:
    gate = Gate()
    provider.add(
        Reply(Call("read_file", {"path": "README.md"}), Call("pin", {"text": "The README is short."})),
        Reply(gate, Text("Read.")),
    )
    talk = await start(choice=chat())
    talk.session.submit("Never touch the README. Read it.")
    await asyncio.to_thread(gate.reached.wait, 30)
    await talk.session.pin_turn(1)
    gate.open()
    await talk.heard.ended()
    turns = await talk.session.transcript()
    assert rebuild(turns) == talk.session.state
    assert {(p.text, p.by) for p in talk.session.state.pins} == {
        ("The README is short.", "model"),
        ("Never touch the README. Read it.", "person"),
    }
    assert talk.session.state.constraints[0].text == "Never touch the README."


async def test_the_model_pins_without_asking_and_unpins_only_its_own(start: Start, provider: ScriptedProvider) -> None:
    provider.add(
        Reply(Call("pin", {"text": "The port is 8123."})),
        Reply(Call("pin", {"turn": 1, "remove": True})),
        Reply(Call("pin", {"turn": 99})),
        Reply(Text("Done.")),
    )
    talk = await start(choice=chat())
    await talk.say("Remember the port: 8123.")
    results = [e.turn for e in talk.heard.of(ToolFinished)]
    assert results[0].status is TurnStatus.COMPLETE and "Pinned as T" in (results[0].content or "")
    assert results[1].status is TurnStatus.FAILED and "T1 is not pinned" in (results[1].content or "")
    assert "There is no T99" in (results[2].content or "")
    (pin,) = talk.session.state.pins
    assert (pin.text, pin.by) == ("The port is 8123.", "model")
    assert "Pinned by the model: The port is 8123." in [t.content for t in await talk.session.transcript()]
    await talk.session.unpin(pin)
    assert talk.heard.of(StateChanged)[-1].state.pins == ()

    mine = await talk.session.pin_turn(1)
    provider.add(Reply(Call("pin", {"turn": 1, "remove": True})), Reply(Text("No.")))
    await talk.say("Unpin T1.")
    assert "who alone may unpin it" in (talk.heard.of(ToolFinished)[-1].turn.content or "")
    assert talk.session.state.pins == (mine,)


async def test_pins_have_a_limit_of_number_and_of_size_and_say_so(start: Start, provider: ScriptedProvider) -> None:
    provider.add(Reply(Text("word " * 900)))
    talk = await start(choice=chat(Settings(context_window=10_000)))
    await talk.say("Say a lot.")
    with pytest.raises(CannotPin, match=r"Pins may take 750 tokens.*they would take 956"):
        await talk.session.pin_turn(2)
    with pytest.raises(CannotPin, match="at most 2,000 characters; these have 2,001"):
        await talk.session.pin_text("x" * 2_001)
    for number in range(20):
        await talk.session.pin_text(f"fact {number}")
    with pytest.raises(CannotPin, match="20 pins stand already"):
        await talk.session.pin_text("one more")
    assert len(talk.session.state.pins) == 20


async def test_what_cannot_be_pinned_is_refused_in_words(start: Start, bench: Workbench) -> None:
    talk = await start()
    with pytest.raises(NothingSaid):
        await talk.session.pin_text("early")
    await talk.say("list .")
    units = await talk.session.pin_text("Metric units.")
    gone = await talk.session.pin_text("Plain English.")
    await talk.session.unpin(gone)
    for words, attempt in (
        ("There is no T0", talk.session.pin_turn(0)),
        ("There is no T999", talk.session.pin_turn(999)),
        (f"T{gone.turn} is a note", talk.session.pin_turn(gone.turn)),
        ("nothing to pin", talk.session.pin_text("  \n")),
        ("pinned already", talk.session.pin_text("Metric units.")),
        (f"T{units.turn} is pinned already", talk.session.pin_turn(units.turn)),
        (f"T{gone.turn} is not pinned", talk.session.unpin(gone)),
    ):
        with pytest.raises(CannotPin, match=words):
            await attempt
    assert talk.session.session is not None
    session_id = talk.session.session.id
    await talk.session.close()
    reader = await start()
    await reader.session.read(session_id)
    with pytest.raises(ReadOnly):
        await reader.session.pin_turn(1)


async def test_a_pin_is_nothing_that_left_the_window(start: Start) -> None:
    talk = await start()
    await talk.say("list .")
    await talk.session.unpin(await talk.session.pin_turn(1))
    assert (await talk.session.window_contents()).marks == ()
    await talk.session.clear()
    assert len((await talk.session.window_contents()).marks) == 1


async def test_two_pins_at_once_are_both_kept(start: Start) -> None:
    talk = await start()
    await talk.say("list .")
    await asyncio.gather(*(talk.session.pin_text(f"fact {n}") for n in range(10)))
    assert sorted(p.text for p in talk.session.state.pins) == [f"fact {n}" for n in range(10)]


async def test_pinned_words_are_found_again_as_a_pin_when_they_are_pinned_no_more(
    start: Start, bench: Workbench, provider: ScriptedProvider
) -> None:
    provider.add(
        Reply(Text("Yes.")),
        Reply(Call("conversation_recall", {"action": "search", "query": "furlongs"})),
        Reply(Call("pin", {"text": "Weights in stones."})),
        Reply(Text("I see.")),
    )
    talk = await start(choice=chat())
    await talk.say("Hello.")
    pin = await talk.session.pin_text("Lengths in furlongs.")
    await talk.session.pin_turn(1)
    await talk.session.unpin(pin)
    await talk.say("Which units?")
    recalled = talk.heard.of(ToolFinished)[0].turn.content or ""
    assert f"[Turn {pin.turn}] pin: (" in recalled and "match 1\n  Pinned: Lengths in furlongs." in recalled
    for words, times in (("furlongs", 1), ("stones", 1), ("hello", 1)):
        hits = (await bench.store.search(words)).hits
        assert len(hits) == times, (words, hits)
