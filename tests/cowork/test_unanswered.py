"""A message, or a tool's result, that is stored and got no answer: it is known, and asked about again without being
stored twice."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from loom.archive.records import Turn, TurnKind, TurnStatus
from loom.cowork.events import (
    ApprovalAsked,
    Decision,
    ExchangeEnded,
    Notice,
    Outcome,
    TextDelta,
    ThinkingDelta,
    TurnStored,
)
from loom.cowork.session import CoworkSession
from loom.cowork.workbench import Workbench
from loom.errors import LoomError
from tests.cowork.conftest import Start, Talk, chat
from tests.support.listening import Listening
from tests.support.provider import ScriptedProvider
from tests.support.replies import Call, Failure, Gate, Reasoning, Reply, Text

WORDS = "What is the capital of France?"


async def left(bench: Workbench, *texts: str) -> str:
    """A session as a loom leaves it that is killed right after it stored the last of these messages."""
    session_id = await bench.store.create_session(bench.locations.home, "openai-chat:test", "")
    for text in texts:
        await bench.store.append_turn(session_id, "user", text)
    return session_id


def waits(talk: Talk) -> int:
    """The turn that has no answer; 0 when there is none."""
    turn = talk.session.unanswered
    return turn.turn_number if turn is not None else 0


def said(turns: Iterable[Turn]) -> list[Turn]:
    """These turns without loom's own, which say why an exchange failed."""
    return [turn for turn in turns if turn.role != "system"]


def times_sent(provider: ScriptedProvider, words: str) -> int:
    """How often the newest request has this message."""
    return sum(message.get("content") == words for message in provider.requests[-1].messages)


async def test_it_is_known_after_a_kill_and_asking_again_stores_only_the_answer(
    start: Start, bench: Workbench, provider: ScriptedProvider
) -> None:
    provider.add(Reply(Text("Paris.")))
    talk = await start(resume=await left(bench, WORDS), choice=chat())
    assert waits(talk) == 1
    await talk.session.ask_again()
    assert (await talk.heard.ended()).outcome is Outcome.COMPLETE
    assert [(t.role, t.content, t.exchange) for t in await talk.session.transcript()] == [
        ("user", WORDS, 1),
        ("assistant", "Paris.", 1),
    ]
    assert times_sent(provider, WORDS) == 1
    assert waits(talk) == 0
    with pytest.raises(LoomError, match="No message waits"):
        await talk.session.ask_again()


async def test_notes_behind_it_change_nothing(start: Start, bench: Workbench, provider: ScriptedProvider) -> None:
    session_id = await left(bench, WORDS)
    await bench.store.append_turn(session_id, "system", "AGENTS.md changed.", kind=TurnKind.NOTE)
    talk = await start(resume=session_id, choice=chat())
    assert waits(talk) == 1


async def test_a_provider_that_fails_can_be_asked_again(start: Start, provider: ScriptedProvider) -> None:
    provider.add(Failure(500, "down"), Failure(500, "down"), Reply(Text("Paris.")))
    talk = await start(choice=chat())
    await talk.say(WORDS)
    assert (talk.heard.of(ExchangeEnded)[-1].outcome, waits(talk)) == (Outcome.FAILED, 1)
    await talk.session.ask_again()
    assert (await talk.heard.ended()).outcome is Outcome.FAILED
    assert waits(talk) == 1
    await talk.session.ask_again()
    assert (await talk.heard.ended()).outcome is Outcome.COMPLETE
    assert times_sent(provider, WORDS) == 1
    assert [turn.content for turn in said(stored.turn for stored in talk.heard.of(TurnStored))] == [WORDS, "Paris."]


TRIES = 6
"""So often a model that gives an empty answer is asked before the exchange ends."""


@pytest.mark.parametrize("empty", [Reply(Text("")), Reply(Reasoning("hm"))], ids=["nothing", "only a thought"])
async def test_an_empty_answer_is_none(start: Start, provider: ScriptedProvider, empty: Reply) -> None:
    provider.add(*[empty] * TRIES * 4, Reply(Text("Paris.")))
    talk = await start(choice=chat())
    for times in range(1, 5):
        if times == 1:
            await talk.say(WORDS)
        else:
            await talk.session.ask_again()
            await talk.heard.ended()
        ended = talk.heard.of(ExchangeEnded)[-1]
        assert (ended.outcome, "gave an empty answer" in ended.error) == (Outcome.FAILED, True)
        assert len(provider.requests) == times * TRIES
        assert waits(talk) == 1
    assert talk.session.session is not None
    await talk.session.close()
    # What the empty answers left is more than is looked at first.
    again = await start(resume=talk.session.session.id, choice=chat())
    assert waits(again) == 1
    await again.session.ask_again()
    assert (await again.heard.ended()).outcome is Outcome.COMPLETE
    assert provider.requests[-1].messages[-1]["role"] != "assistant"
    assert times_sent(provider, WORDS) == 1
    assert waits(again) == 0
    assert [t.content for t in await again.session.transcript() if t.role == "user"] == [WORDS]


async def test_an_answer_of_blanks_is_none(start: Start, provider: ScriptedProvider) -> None:
    provider.add(Reply(Text(" \n ")), Reply(Text("Paris.")))
    talk = await start(choice=chat())
    await talk.say(WORDS)
    assert waits(talk) == 1
    await talk.session.ask_again()
    await talk.heard.ended()
    assert (waits(talk), times_sent(provider, WORDS)) == (0, 1)


async def test_a_model_that_says_nothing_behind_a_result_goes_on_from_there(
    start: Start, provider: ScriptedProvider
) -> None:
    provider.add(Reply(Call("read_file", {"path": "README.md"})), *[Reply(Text(""))] * TRIES, Reply(Text("Done.")))
    talk = await start(choice=chat())
    await talk.say("read it")
    assert waits(talk) == 3
    await talk.session.ask_again()
    assert (await talk.heard.ended()).outcome is Outcome.COMPLETE
    assert [t.tool_name for t in await talk.session.transcript() if t.role == "tool"] == ["read_file"]


async def test_a_thought_that_was_cut_off_is_an_answer(start: Start, provider: ScriptedProvider) -> None:
    gate = Gate()
    provider.add(Reply(Reasoning("The person wants"), gate, Text("never this")))
    talk = await start(choice=chat())
    talk.session.submit(WORDS)
    await talk.heard.until(ThinkingDelta)
    talk.session.interrupt()
    await talk.heard.ended()
    gate.open()
    assert [turn.role for turn in await talk.session.transcript()] == ["user", "assistant"]
    assert waits(talk) == 0


async def test_one_that_was_stopped_before_the_first_word_too(start: Start, provider: ScriptedProvider) -> None:
    gate = Gate()
    provider.add(Reply(gate, Text("Paris.")))
    talk = await start(choice=chat())
    talk.session.submit(WORDS)
    await talk.heard.until(TurnStored)
    talk.session.interrupt()
    await talk.heard.ended()
    gate.open()
    assert waits(talk) == 1


async def test_one_that_was_stopped_while_the_provider_let_wait_too(start: Start, provider: ScriptedProvider) -> None:
    provider.add(Failure(429, "slower", (("Retry-After", "100"),), retry=True), Reply(Text("Paris.")))
    talk = await start(choice=chat())
    talk.session.submit(WORDS)
    await talk.heard.until(Notice)
    talk.session.interrupt()
    assert (await talk.heard.ended()).outcome is Outcome.INTERRUPTED
    assert [turn.role for turn in await talk.session.transcript()] == ["user"]
    assert waits(talk) == 1
    await talk.session.ask_again()
    assert (await talk.heard.ended()).outcome is Outcome.COMPLETE
    assert times_sent(provider, WORDS) == 1


async def test_an_answer_that_was_cut_off_is_one(start: Start, provider: ScriptedProvider) -> None:
    gate = Gate()
    provider.add(Reply(Text("The first half "), gate, Text("and never this.")))
    talk = await start(choice=chat())
    talk.session.submit(WORDS)
    await talk.heard.until(TextDelta)
    talk.session.interrupt()
    await talk.heard.ended()
    gate.open()
    assert [turn.role for turn in await talk.session.transcript()] == ["user", "assistant"]
    assert waits(talk) == 0


async def test_a_message_that_is_not_the_newest_thing_any_more_is_left_alone(
    start: Start, bench: Workbench, provider: ScriptedProvider
) -> None:
    provider.add(Reply(Text("Paris.")))
    session_id = await left(bench, WORDS)
    talk = await start(resume=session_id, choice=chat())
    talk.session.run_command("true")
    await talk.heard.ended()
    assert waits(talk) == 0
    await talk.session.close()
    again = await start(resume=session_id, choice=chat())
    assert waits(again) == 0
    await again.say("And of Italy?")
    assert (waits(again), times_sent(provider, WORDS)) == (0, 1)


async def test_one_that_was_cleared_away_is_left_alone(
    start: Start, bench: Workbench, provider: ScriptedProvider
) -> None:
    talk = await start(resume=await left(bench, WORDS), choice=chat())
    await talk.session.clear()
    assert waits(talk) == 0
    await talk.session.unclear()
    assert waits(talk) == 1


async def test_nobody_asks_in_a_session_that_is_only_read(bench: Workbench, provider: ScriptedProvider) -> None:
    session_id = await left(bench, WORDS)
    session = CoworkSession(bench, bench.locations.home, chat(), listener=Listening().take)
    try:
        await session.read(session_id)
        assert session.unanswered is None
        with pytest.raises(LoomError, match="read only"):
            await session.ask_again()
    finally:
        await session.close()


async def left_after_results(bench: Workbench, *outputs: str, **last: object) -> str:
    """A session as a loom leaves it that is killed when so many calls have their results and the model was not asked
    again; `last` goes with the newest result."""
    session_id = await left(bench, WORDS)
    append = bench.store.append_turn
    for number, output in enumerate(outputs):
        call = {"id": f"c{number}", "name": "read_file", "arguments": {"path": f"{number}.md"}}
        await append(session_id, "assistant", None, kind=TurnKind.TOOL_CALL, tool_calls=[call])
        more = last if number == len(outputs) - 1 else {}
        result = {"kind": TurnKind.TOOL_RESULT, "tool_call_id": f"c{number}", "tool_name": "read_file", **more}
        await append(session_id, "tool", output, **result)  # type: ignore[arg-type]
    return session_id


async def test_a_result_that_the_model_was_not_asked_about_is_gone_on_from(
    start: Start, bench: Workbench, provider: ScriptedProvider
) -> None:
    provider.add(Failure(500, "down"), Reply(Text("Paris.")), Reply(Text("Rome.")))
    outputs = [f"page {number}" for number in range(15)]  # the message is further back than is looked at first
    talk = await start(resume=await left_after_results(bench, *outputs), choice=chat())
    stored = await talk.session.transcript()
    assert waits(talk) == stored[-1].turn_number == 31
    await talk.session.ask_again()
    assert (await talk.heard.ended()).outcome is Outcome.FAILED
    assert waits(talk) == 31
    await talk.session.ask_again()
    assert (await talk.heard.ended()).outcome is Outcome.COMPLETE
    asked = provider.requests[-1].messages
    assert [message["content"] for message in asked if message["role"] == "tool"] == outputs
    assert asked[-1]["content"] == "page 14"
    assert times_sent(provider, WORDS) == 1
    now = said(await talk.session.transcript())
    assert now[:-1] == stored
    assert (now[-1].content, now[-1].exchange, waits(talk)) == ("Paris.", 1, 0)
    await talk.say("And of Italy?")
    assert [m["content"] for m in provider.requests[-1].messages if m["role"] == "assistant"][-1] == "Paris."


async def test_a_provider_that_fails_behind_a_result_can_be_asked_again(
    start: Start, workspace: Path, provider: ScriptedProvider
) -> None:
    made = Call("shell_execute", {"command": "echo once >> made.txt"})
    provider.add(Reply(made), Failure(500, "down"), Reply(Text("Done.")))
    talk = await start(choice=chat())
    talk.session.submit("make it")
    asked = await talk.heard.until(ApprovalAsked)
    talk.session.answer(asked.call_id, Decision(allowed=True))
    assert (await talk.heard.ended()).outcome is Outcome.FAILED
    assert waits(talk) == 3
    await talk.session.ask_again()
    assert (await talk.heard.ended()).outcome is Outcome.COMPLETE
    assert [turn.role for turn in said(await talk.session.transcript())] == ["user", "assistant", "tool", "assistant"]
    assert (workspace / "made.txt").read_text() == "once\n"
    assert times_sent(provider, "make it") == 1


async def test_a_call_that_was_stopped_is_left_to_the_person(
    start: Start, bench: Workbench, provider: ScriptedProvider
) -> None:
    session_id = await left_after_results(bench, "one", "Interrupted.", status=TurnStatus.INTERRUPTED)
    talk = await start(resume=session_id, choice=chat())
    assert waits(talk) == 0
    with pytest.raises(LoomError, match="go on with what was stopped"):
        await talk.session.ask_again()


async def test_results_of_an_exchange_without_a_message_wait_for_nobody(start: Start, bench: Workbench) -> None:
    session_id = await left(bench)
    await bench.store.append_turn(
        session_id, "tool", "text", kind=TurnKind.TOOL_RESULT, tool_call_id="c", tool_name="read_file"
    )
    assert waits(await start(resume=session_id)) == 0
