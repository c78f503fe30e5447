"""Answers that no well-behaved provider gives: whatever was shown is kept."""

from __future__ import annotations

from loom.archive.records import TurnKind, TurnStatus
from loom.cowork.events import Event, ExchangeEnded, Outcome, TextDelta, ToolFinished
from loom.cowork.session import CoworkSession
from loom.cowork.workbench import Workbench
from tests.cowork.conftest import Start, chat
from tests.support.listening import Listening
from tests.support.provider import ScriptedProvider
from tests.support.replies import Call, Reply, Text


async def test_absurd_usage_costs_no_answer(start: Start, provider: ScriptedProvider) -> None:
    provider.add(Reply(Text("Here it is."), usage=(10**16, 1)))
    talk = await start(choice=chat())
    await talk.say("Go.")
    assert "Here it is." in [t.content for t in await talk.session.transcript()]


async def test_arguments_nested_without_end_cost_no_answer(start: Start, provider: ScriptedProvider) -> None:
    deep = '{"path": "README.md", "x": ' + "[" * 900 + "]" * 900 + "}"
    provider.add(Reply(Text("Looking."), Call("read_file", deep, chunk=2000)), Reply(Text("Done.")))
    talk = await start(choice=chat())
    await talk.say("Go.")
    assert "Looking." in [t.content for t in await talk.session.transcript()]


async def test_one_id_for_two_calls_gives_two_results(start: Start, provider: ScriptedProvider) -> None:
    provider.add(
        Reply(Call("read_file", {"path": "README.md"}, "same"), Call("list_directory", {}, "same")),
        Reply(Text("Both.")),
    )
    talk = await start(choice=chat())
    await talk.say("Go.")
    assert talk.heard.of(ExchangeEnded)[-1].outcome is Outcome.COMPLETE
    assert sorted(e.turn.tool_name or "" for e in talk.heard.of(ToolFinished)) == ["list_directory", "read_file"]


async def test_an_answer_without_an_end_is_partial(start: Start, provider: ScriptedProvider) -> None:
    provider.add(Reply(Text("And then"), finish=None))
    talk = await start(choice=chat())
    await talk.say("Go.")
    assert talk.heard.of(ExchangeEnded)[-1].outcome is Outcome.PARTIAL
    assert (await talk.session.transcript())[-1].status is TurnStatus.PARTIAL


async def test_call_ids_that_begin_anew_in_every_answer_lose_no_result(
    start: Start, provider: ScriptedProvider
) -> None:
    provider.add(
        Reply(Call("read_file", {"path": "README.md"}, "call_0")),
        Reply(Call("list_directory", {}, "call_0")),
        Reply(Text("Both.")),
    )
    talk = await start(choice=chat())
    await talk.say("Go.")
    results = [t for t in await talk.session.transcript() if t.kind is TurnKind.TOOL_RESULT]
    assert [(t.tool_name, t.status.value) for t in results] == [
        ("read_file", "complete"),
        ("list_directory", "complete"),
    ]


async def test_a_listener_that_breaks_costs_no_turn(bench: Workbench, provider: ScriptedProvider) -> None:
    heard = Listening()

    def take(event: Event) -> None:
        heard.take(event)
        if isinstance(event, TextDelta):
            raise BrokenPipeError

    provider.add(Reply(Text("All of it is kept.")))
    session = CoworkSession(bench, bench.locations.home, chat(), listener=take)
    await session.prepare()
    session.submit("Go.")
    assert (await heard.ended()).outcome is Outcome.COMPLETE
    assert [t.content for t in await session.transcript()] == ["Go.", "All of it is kept."]
    await session.close()
