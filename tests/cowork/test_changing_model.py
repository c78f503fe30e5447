"""Another model answers, from the next message on, whatever is under way when it is chosen."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from loom.cowork.session import CoworkSession
from loom.cowork.workbench import Workbench
from loom.errors import LoomError
from tests.cowork.conftest import Start, chat
from tests.support.listening import Listening
from tests.support.provider import Gate, Reply, ScriptedProvider, Text


async def test_a_model_chosen_while_the_first_is_made_ready_answers_all_that_waits(
    bench: Workbench, workspace: Path, provider: ScriptedProvider
) -> None:
    provider.add(Reply(Text("One.")), Reply(Text("Two.")))
    heard = Listening()
    session = CoworkSession(bench, workspace, chat(), listener=heard.take)
    first = asyncio.ensure_future(session.prepare())
    session.submit("Hello?")
    await asyncio.sleep(0)
    await session.set_model("openai-chat:other")
    await first
    await heard.ended()
    session.submit("And now?")
    await heard.ended()
    assert [request.body["model"] for request in provider.requests] == ["other", "other"]
    assert session.choice.name == "openai-chat:other"
    assert "Hello?" in str(provider.requests[1].messages), "the window has what was said before"
    await session.close()


async def test_who_waits_for_the_first_model_waits_for_the_one_that_took_its_place(
    bench: Workbench, workspace: Path, provider: ScriptedProvider
) -> None:
    heard = Listening()
    session = CoworkSession(bench, workspace, chat(), listener=heard.take)
    first = asyncio.ensure_future(session.prepare())
    await asyncio.sleep(0)
    change = asyncio.ensure_future(session.set_model("openai-chat:other"))
    await first
    assert session.usage is not None
    await change
    await session.close()


async def test_it_stays_while_an_exchange_runs(start: Start, provider: ScriptedProvider) -> None:
    gate = Gate()
    provider.add(Reply(gate, Text("Done.")))
    talk = await start(choice=chat())
    talk.session.submit("Go.")
    await asyncio.to_thread(gate.reached.wait, 30)
    with pytest.raises(LoomError, match="exchange is running"):
        await talk.session.set_model("offline")
    gate.opened.set()
    await talk.heard.ended()
    assert talk.session.choice.name == "openai-chat:test"


async def test_the_session_is_listed_under_the_new_one(
    start: Start, bench: Workbench, provider: ScriptedProvider
) -> None:
    provider.add(Reply(Text("Hello.")))
    talk = await start(choice=chat())
    await talk.say("Hello?")
    await talk.session.set_model("offline")
    [listed] = await bench.store.list_sessions()
    assert listed.model_name == "offline"
