"""Another model answers, from the next message on, whatever is under way when it is chosen."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from loom.config import Settings
from loom.context.tokens import TokenCounter
from loom.cowork.events import Notice
from loom.cowork.session import CoworkSession
from loom.cowork.workbench import Workbench
from loom.errors import LoomError
from loom.models.choosing import choose_model
from tests.cowork.conftest import Start, chat
from tests.support.listening import Listening
from tests.support.provider import ScriptedProvider
from tests.support.replies import Gate, Reply, Text


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


class Unreadable(TokenCounter):
    """Of an installation that has lost its vocabulary."""

    def load(self) -> None:
        raise FileNotFoundError(2, "No such file or directory", "o200k.xz")


async def test_a_fault_while_it_is_made_ready_is_said_and_the_session_can_be_closed(
    start: Start, bench: Workbench
) -> None:
    talk = await start()
    await talk.say("list .")
    session_id = talk.session.session_id
    await talk.session.close()
    heard = Listening()
    broken = CoworkSession(
        replace(bench, counter=Unreadable()),
        bench.locations.home,
        choose_model("offline", Settings()),
        listener=heard.take,
    )
    await broken.resume(session_id or "")
    await broken.prepare()
    assert "FileNotFoundError" in str(broken.problem) and heard.of(Notice)[-1].severity == "error"
    assert "FileNotFoundError" in bench.locations.log.read_text()
    first, *_ = await broken.transcript()
    assert first.content == "list ."
    await broken.close()
    again = await start(resume=session_id)
    assert again.session.problem is None, "the lease was given up"
