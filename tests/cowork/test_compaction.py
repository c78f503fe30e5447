"""A summary takes the place of the window, never of the archive."""

from __future__ import annotations

import asyncio

import pytest

from loom.archive.records import TurnKind
from loom.context.compaction import CompactionFailed
from loom.errors import LoomError
from tests.cowork.conftest import Start, chat
from tests.support.provider import ScriptedProvider
from tests.support.replies import Gate, Reply, Text

LONG = "We looked at the parser. " * 200


async def test_the_summary_is_a_turn_and_the_next_request_holds_it_instead(
    start: Start, provider: ScriptedProvider
) -> None:
    provider.add(Reply(Text(LONG)), Reply(Text("Goal: mend the parser (T1).")), Reply(Text("Going on.")))
    talk = await start(choice=chat())
    await talk.say("Look at the parser.")
    await talk.session.compact("the parser")
    assert "tools" not in provider.requests[1].body, "the summariser has no tools"
    assert "the parser" in str(provider.requests[1].messages)
    await talk.say("Go on.")
    sent = str(provider.requests[2].messages)
    assert "Goal: mend the parser (T1)." in sent
    assert LONG not in sent
    turns = await talk.session.transcript()
    assert [t.kind for t in turns if t.role == "system"] == [TurnKind.SUMMARY]
    assert LONG in [t.content for t in turns], "the archive keeps every word"


async def test_a_summary_that_is_no_shorter_is_not_kept(start: Start, provider: ScriptedProvider) -> None:
    provider.add(Reply(Text("Short.")), Reply(Text(LONG)))
    talk = await start(choice=chat())
    await talk.say("Look.")
    with pytest.raises(CompactionFailed, match="no shorter"):
        await talk.session.compact()
    assert not [t for t in await talk.session.transcript() if t.role == "system"]


async def test_a_compaction_can_be_stopped(start: Start, provider: ScriptedProvider) -> None:
    gate = Gate()
    provider.add(Reply(Text(LONG)), Reply(gate, Text("Too late.")))
    talk = await start(choice=chat())
    await talk.say("Look.")
    compacting = asyncio.ensure_future(talk.session.compact())
    await asyncio.to_thread(gate.reached.wait, 30)
    with pytest.raises(LoomError, match="a summary is running"):
        await talk.session.clear()
    assert talk.session.interrupt()
    with pytest.raises(LoomError, match="stopped"):
        await compacting
    assert not talk.session.busy
    assert not [t for t in await talk.session.transcript() if t.role == "system"]


async def test_the_offline_model_says_that_it_cannot(start: Start) -> None:
    talk = await start()
    with pytest.raises(LoomError, match="Nothing has been said"):
        await talk.session.clear()
    await talk.say("list .")
    with pytest.raises(CompactionFailed, match="offline"):
        await talk.session.compact()
