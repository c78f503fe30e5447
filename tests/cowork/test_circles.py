"""A model that repeats itself is told so, and stopped when it does not listen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from loom.archive.records import TurnKind, TurnStatus
from loom.cowork.events import ExchangeEnded, Outcome
from loom.cowork.workbench import Workbench
from tests.cowork.conftest import Start, Talk, chat
from tests.support.provider import ScriptedProvider
from tests.support.replies import Call, Reply, Text

READ = Call("read_file", {"path": "README.md"})
LIST = Call("list_directory", {})


async def results(talk: Talk) -> list[tuple[str, bool]]:
    """Each result: its tool, and whether it was run."""
    turns = await talk.session.transcript()
    return [
        (t.tool_name or "", not (t.content or "").startswith("Not run:"))
        for t in turns
        if t.kind is TurnKind.TOOL_RESULT
    ]


async def test_the_sixth_time_in_a_row_is_refused_and_the_model_told_why(
    start: Start, provider: ScriptedProvider
) -> None:
    provider.add(*[Reply(READ)] * 6, Reply(Text("I stop.")))
    talk = await start(choice=chat())
    await talk.say("Go.")
    assert await results(talk) == [("read_file", True)] * 5 + [("read_file", False)]
    refused = [t for t in await talk.session.transcript() if t.kind is TurnKind.TOOL_RESULT][-1]
    assert refused.status is TurnStatus.FAILED
    assert "5 times in a row with the same result (T3, T5, T7, T9, T11)" in (refused.content or "")
    assert talk.heard.of(ExchangeEnded)[-1].outcome is Outcome.COMPLETE


async def test_who_does_not_listen_is_stopped(start: Start, provider: ScriptedProvider) -> None:
    provider.add(*[Reply(READ)] * 9)
    talk = await start(choice=chat())
    await talk.say("Go.")
    ended = talk.heard.of(ExchangeEnded)[-1]
    assert ended.outcome is Outcome.FAILED
    assert "goes in circles" in ended.error
    assert "repeat_limit" in ended.error
    assert [ran for _, ran in await results(talk)][:8] == [True] * 5 + [False] * 3
    # The call that was not answered any more has a word, so that the next request is valid.
    provider.add(Reply(Text("Fine.")))
    await talk.say("Do something else.")
    assert talk.heard.of(ExchangeEnded)[-1].outcome is Outcome.COMPLETE


async def test_a_round_of_two_calls_is_a_circle_too(start: Start, provider: ScriptedProvider) -> None:
    provider.add(*[Reply(READ), Reply(LIST)] * 5, Reply(READ), Reply(Text("I stop.")))
    talk = await start(choice=chat())
    await talk.say("Go.")
    assert [ran for _, ran in await results(talk)] == [True] * 10 + [False]


async def test_another_result_is_no_circle(start: Start, provider: ScriptedProvider, workspace: Path) -> None:
    provider.add(*[Reply(READ)] * 4, Reply(Text("One.")))
    talk = await start(choice=chat())
    await talk.say("Go.")
    # A new exchange counts anew: the person asked for it.
    provider.add(*[Reply(READ)] * 4, Reply(Text("Two.")))
    await talk.say("Again.")
    assert all(ran for _, ran in await results(talk))


async def test_the_same_test_after_different_edits_is_no_circle(start: Start, provider: ScriptedProvider) -> None:
    steps = [Reply(Call("read_file", {"path": "README.md", "offset": n})) for n in range(7)]
    provider.add(*[reply for step in steps for reply in (step, Reply(LIST))], Reply(Text("Done.")))
    talk = await start(choice=chat())
    await talk.say("Go.")
    assert all(ran for _, ran in await results(talk))


async def test_another_call_in_between_begins_anew(start: Start, provider: ScriptedProvider) -> None:
    provider.add(*[Reply(READ)] * 6, Reply(LIST), *[Reply(READ)] * 5, Reply(Text("Done.")))
    talk = await start(choice=chat())
    await talk.say("Go.")
    assert [ran for _, ran in await results(talk)] == [True] * 5 + [False] + [True] * 6


async def test_zero_watches_nothing(start: Start, bench: Workbench, provider: ScriptedProvider) -> None:
    provider.add(*[Reply(READ)] * 12, Reply(Text("Done.")))
    talk = await start(choice=chat(), on=replace(bench, settings=replace(bench.settings, repeat_limit=0)))
    await talk.say("Go.")
    assert all(ran for _, ran in await results(talk))
