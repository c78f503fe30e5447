"""Going back in a session: what came after a point leaves the window and the state, and nothing leaves the archive."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from loom.archive import ConversationStore
from loom.archive.records import TurnKind
from loom.config import Settings
from loom.context.course import spans_in
from loom.context.seen import Standing
from loom.cowork import elsewhere
from loom.cowork.events import Notice, StateChanged
from loom.cowork.past_requests import PastRequests
from loom.cowork.rewinding import CannotRewind
from loom.cowork.session import CoworkSession
from loom.cowork.window_moves import NothingToTakeBack
from loom.cowork.workbench import Workbench
from loom.errors import LoomError
from loom.interchange.document_reading import read_document
from loom.interchange.source import opened
from loom.locations import Locations
from loom.state import read_state, rebuild
from tests.cowork.conftest import Start, Talk, chat
from tests.cowork.test_session import allow
from tests.support.listening import Listening
from tests.support.provider import ScriptedProvider
from tests.support.replies import Call, Failure, Gate, Reply, Text


async def shown(talk: Talk) -> list[str]:
    """The person's messages that the model sees."""
    return [each.text for each in (await talk.session.window_contents()).exchanges]


async def last_note(talk: Talk) -> str:
    return [turn.content or "" for turn in await talk.session.transcript() if turn.kind is TurnKind.NOTE][-1]


async def three(start: Start) -> Talk:
    talk = await start()
    allow(talk)
    await talk.say('replace "small" with "tiny" in README.md')
    await talk.say("Never use Redis.")
    await talk.say('write later.txt with "x"')
    return talk


async def first_turn(talk: Talk, exchange: int) -> int:
    return next(turn.turn_number for turn in await talk.session.transcript() if turn.exchange == exchange)


async def test_what_follows_leaves_window_and_state_and_the_message_comes_back(start: Start, workspace: Path) -> None:
    talk = await three(start)
    turns, cut = await talk.session.transcript(), await first_turn(talk, 2)
    assert "Redis" in str(talk.session.state) and "later.txt" in str(talk.session.state)
    assert await talk.session.rewind(cut) == "Never use Redis."
    assert await shown(talk) == ['replace "small" with "tiny" in README.md']
    state = talk.session.state
    assert "Redis" not in str(state) and "later.txt" not in str(state)
    assert state.files_touched and state.current_focus == 'replace "small" with "tiny" in README.md'
    assert talk.heard.of(StateChanged)[-1].state == state
    after = await talk.session.transcript()
    assert after[: len(turns)] == turns and len(after) == len(turns) + 1, "nothing stored was touched"
    assert state == rebuild(after)
    assert (workspace / "later.txt").read_text() == "x"
    said = await last_note(talk)
    left = f"T{cut}–T{len(turns)} are out of the window, kept in the archive; /unrewind puts them back."
    assert said == f"Rewound to before T{cut}: {left} Not undone in the workspace: later.txt."


async def test_it_says_how_many_files_stay_changed_however_many_there_are(start: Start) -> None:
    talk = await start()
    allow(talk)
    for number in range(23):
        await talk.say(f'write file{number}.txt with "x"')
    await talk.session.rewind(1)
    named = ", ".join(f"file{number}.txt" for number in range(5))
    assert (await last_note(talk)).endswith(f"Not undone in the workspace: {named} and 18 more files.")


async def test_it_says_that_the_memory_stays(start: Start, provider: ScriptedProvider) -> None:
    noted = Call("write_memory", {"content": "The port is 8123."})
    provider.add(Reply(noted), Reply(Text("Noted.")), Reply(Text("Two.")), Reply(Text("Three.")))
    talk = await start(choice=chat())
    allow(talk)
    await talk.say("Remember that the port is 8123.")
    await talk.say("Hello.")
    await talk.session.rewind()
    assert "memory" not in await last_note(talk)
    await talk.session.rewind()
    assert (await last_note(talk)).endswith("What was noted in the memory since stays there; /memory shows it.")
    await talk.say("Go on.")
    assert "8123" in str(provider.requests[-1].messages)


async def test_it_goes_back_step_by_step_and_to_a_turn(start: Start) -> None:
    talk = await three(start)
    await talk.session.rewind()
    assert await talk.session.rewind() == "Never use Redis."
    assert len(await shown(talk)) == 1
    assert "Redis" not in str(talk.session.state)
    await talk.session.rewind()
    assert await shown(talk) == [] and talk.session.state.files_touched == ()
    with pytest.raises(CannotRewind, match="nothing left"):
        await talk.session.rewind()
    for _ in range(3):
        await talk.session.unrewind()
    assert len(await shown(talk)) == 3 and "Redis" in str(talk.session.state)
    with pytest.raises(NothingToTakeBack):
        await talk.session.unrewind()
    answer = await first_turn(talk, 2) + 1
    assert await talk.session.rewind(answer) == "Never use Redis."
    assert len(await shown(talk)) == 1
    with pytest.raises(CannotRewind, match="rewound past already"):
        await talk.session.rewind(answer)
    with pytest.raises(CannotRewind, match="no turn T999"):
        await talk.session.rewind(999)


async def test_the_model_goes_on_as_if_it_had_not_been_said(start: Start, provider: ScriptedProvider) -> None:
    provider.add(*(Reply(Text(f"Answer {number}.")) for number in range(6)))
    talk = await start(choice=chat())
    await talk.say("The port is 8123.")
    before = await talk.session.transcript()
    await talk.say("We decided to use Redis.")
    await talk.session.rewind()
    await talk.say("What now?")
    seen = str(provider.requests[-1].messages)
    assert "8123" in seen and "Redis" not in seen and "They are in the archive, word for word" not in seen
    await talk.session.rewind(before[-1].turn_number)
    await talk.say("Hello again.")
    seen = str(provider.requests[-1].messages)
    assert "8123" not in seen and "What now?" not in seen
    await talk.session.unrewind()
    await talk.say("And now?")
    seen = str(provider.requests[-1].messages)
    assert "8123" in seen and "What now?" in seen and "Hello again." in seen and "Redis" not in seen


async def test_it_undoes_what_was_cleared_behind_the_point(start: Start) -> None:
    talk = await three(start)
    await talk.session.clear()
    await talk.say("list .")
    await talk.session.rewind(await first_turn(talk, 3))
    assert [text[:5] for text in await shown(talk)] == ["repla", "Never"]
    await talk.session.unrewind()
    assert await shown(talk) == ["list ."]
    await talk.session.unclear()
    assert len(await shown(talk)) == 4


async def test_a_clearing_keeps_out_what_was_rewound_past(start: Start) -> None:
    talk = await three(start)
    await talk.session.rewind()
    await talk.session.clear()
    assert await shown(talk) == [] and "later.txt" not in str(talk.session.state)
    await talk.session.unclear()
    assert len(await shown(talk)) == 2 and "later.txt" not in str(talk.session.state)
    await talk.session.clear()
    await talk.session.unrewind()
    assert (await last_note(talk)).startswith("The clearing of ") and "and the rewinding of" in await last_note(talk)
    assert len(await shown(talk)) == 3 and "later.txt" in str(talk.session.state)


async def test_it_is_the_same_after_a_resume_and_in_a_fork(start: Start) -> None:
    talk = await three(start)
    cut = await first_turn(talk, 2)
    await talk.session.rewind(cut)
    await talk.say("list .")
    state, window, session_id = talk.session.state, await shown(talk), talk.session.session_id
    whole, early = await talk.session.fork(), await talk.session.fork(cut + 1)
    await talk.session.close()
    for again in [await start(resume=session_id), await start(resume=whole)]:
        assert await shown(again) == window and again.session.state == state
        with pytest.raises(LoomError, match="rewound past"):
            await again.session.bring_back(((cut, cut),))
        await again.session.unrewind()
        assert len(await shown(again)) == 4 and "Redis" in str(again.session.state)
    forked = await start(resume=early)
    assert len(await shown(forked)) == 2, "a fork of what was rewound past is that again"


async def test_its_state_is_kept_at_once(start: Start, bench: Workbench) -> None:
    """To make it of all turns again at each opening would take seconds in a long session."""
    talk = await three(start)
    for move in (talk.session.rewind, talk.session.unrewind):
        await move()
        assert talk.session.session_id is not None
        stored = await bench.store.get_session(talk.session.session_id)
        assert stored is not None and read_state(stored.session_state) == talk.session.state


async def test_pins_stay_pinned(start: Start, provider: ScriptedProvider) -> None:
    provider.add(Reply(Text("One.")), Reply(Text("Two.")), Reply(Text("Three.")))
    talk = await start(choice=chat())
    await talk.say("Hello.")
    await talk.say("The port is 8123.")
    await talk.session.pin_turn(3)
    await talk.session.rewind()
    assert [pin.turn for pin in talk.session.state.pins] == [3]
    await talk.say("Go on.")
    assert "The port is 8123." in str(provider.requests[-1].messages)
    assert talk.session.state == rebuild(await talk.session.transcript())


async def test_every_request_can_be_looked_at_as_it_was_sent(start: Start, bench: Workbench) -> None:
    talk = await three(start)
    await talk.session.rewind()
    await talk.say("list .")
    await talk.session.unrewind()
    await talk.say("read README.md")
    assert talk.session.session_id is not None
    past = PastRequests(bench.store, bench.counter, talk.session.session_id)
    for line in await past.lines():
        seen = await past.seen(line.request)
        assert (seen.standing, seen.missing) == (Standing.SAME, ()), line
    marks = (await talk.session.window_contents()).marks
    assert [(mark.content or "")[:7] for mark in marks] == ["The rew", "Rewound"]


async def test_the_list_of_requests_names_no_turn_that_was_rewound_past(start: Start, bench: Workbench) -> None:
    talk = await three(start)
    await talk.session.rewind(await first_turn(talk, 2))
    mark = (await talk.session.transcript())[-1].turn_number
    await talk.say("Never use tabs.")
    assert talk.session.session_id is not None
    lines = await PastRequests(bench.store, bench.counter, talk.session.session_id).lines()
    assert lines[-1].rewound == ((6, mark),)
    assert spans_in(lines[-1], "–") == f"T1–T5, T{mark + 1}"
    assert spans_in(lines[0], "–") == "T1"
    many = replace(lines[-1], rewound=((2, 3), (5, 6), (8, 9)))
    assert spans_in(many, "-") == f"…, T4, T7, T10-T{mark + 1}"


async def test_not_while_an_exchange_runs_nor_before_the_first(start: Start, provider: ScriptedProvider) -> None:
    gate = Gate()
    provider.add(Reply(Text("One.")), Reply(gate, Text("Two.")))
    talk = await start(choice=chat())
    with pytest.raises(LoomError, match="Nothing has been said"):
        await talk.session.rewind()
    await talk.say("Hello.")
    talk.session.submit("And?")
    with pytest.raises(LoomError, match="is running"):
        await talk.session.rewind()
    gate.open()
    await talk.heard.ended()
    assert await talk.session.rewind() == "And?"


async def test_a_message_without_an_answer_that_is_rewound_past_waits_for_none(
    start: Start, provider: ScriptedProvider
) -> None:
    provider.add(Reply(Text("One.")), Failure(400, {}))
    talk = await start(choice=chat())
    await talk.say("Hello.")
    await talk.say("And?")
    assert talk.session.unanswered is not None
    await talk.session.rewind()
    assert talk.session.unanswered is None
    session_id = talk.session.session_id
    await talk.session.close()
    again = await start(choice=chat(), resume=session_id)
    assert again.session.unanswered is None
    await again.session.unrewind()
    assert again.session.unanswered is not None
    assert not [notice for notice in again.heard.of(Notice) if notice.severity == "error"]


async def test_a_command_of_the_persons_is_given_back_as_one(start: Start) -> None:
    talk = await start()
    await talk.say("list .")
    talk.session.run_command("echo one")
    await talk.heard.ended()
    assert await talk.session.rewind() == "!echo one"
    assert talk.session.state.commands == ()


async def test_it_is_the_same_after_an_export_and_an_import(
    start: Start, workspace: Path, tmp_path: Path, locations: Locations
) -> None:
    talk = await three(start)
    await talk.session.rewind()
    state, window = talk.session.state, await shown(talk)
    file = await talk.session.export(str(tmp_path / "talk.json"))
    await talk.session.close()
    elsewhere = Locations(home=tmp_path / "there", config=locations.config)
    store = await ConversationStore.open(elsewhere.archive)
    with opened(file) as source:
        document = read_document(source)
        await store.adopt_session(document.session)
        await store.acquire_lease(document.session.id)
        for batch in document.batches():
            await store.append_turns(document.session.id, [each.turn for each in batch])
    await store.close()
    there = await Workbench.open(elsewhere, Settings())
    try:
        again = await start(resume=document.session.id, on=there)
        assert await shown(again) == window and again.session.state == state
        await again.session.close()
    finally:
        await there.close()


async def test_who_only_reads_the_session_sees_it_rewound(
    start: Start, bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elsewhere, "LOOK_SECONDS", 0.01)
    talk = await three(start)
    assert talk.session.session_id is not None
    heard = Listening()
    other = await Workbench.open(bench.locations, Settings())
    reader = CoworkSession(other, bench.locations.home, talk.session.choice, listener=heard.take)
    try:
        await reader.read(talk.session.session_id)
        await talk.session.rewind()
        seen = await heard.until(StateChanged, lambda event: "later.txt" not in str(event.state))
        assert seen.state == reader.state == talk.session.state
        with pytest.raises(LoomError, match="read only"):
            await reader.rewind()
    finally:
        await reader.close()
        await other.close()
