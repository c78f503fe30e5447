"""The same conversation over a real wire: a loopback server that speaks streaming Chat Completions."""

from __future__ import annotations

import asyncio

import pytest

from loom.archive.records import TurnKind, TurnStatus
from loom.cowork.events import (
    ApprovalAsked,
    Decision,
    ExchangeEnded,
    Notice,
    Outcome,
    TextDelta,
    ThinkingDelta,
    UsageChanged,
)
from tests.cowork.conftest import Start, Talk, chat
from tests.support.provider import ScriptedProvider
from tests.support.replies import Call, Drop, Failure, Gate, Reasoning, Reply, Text, overflow, unauthorized


def allow(talk: Talk) -> None:
    talk.heard.on(ApprovalAsked, lambda asked: talk.session.answer(asked.call_id, Decision(allowed=True)))


async def test_a_full_exchange_with_thinking_and_tools(start: Start, provider: ScriptedProvider) -> None:
    provider.add(
        Reply(
            Reasoning("I look first."),
            Text("Looking."),
            Call("read_file", {"path": "README.md"}),
            Call("shell_execute", {"command": "printf 'a\\nb'"}),
        ),
        Reply(Text("It is a small program."), usage=(321, 12)),
    )
    talk = await start(choice=chat())
    allow(talk)
    await talk.say("What is this?")
    assert talk.heard.of(ExchangeEnded)[-1].outcome is Outcome.COMPLETE
    assert "".join(e.text for e in talk.heard.of(ThinkingDelta)) == "I look first."
    assert "".join(e.text for e in talk.heard.of(TextDelta)) == "Looking.It is a small program."
    turns = await talk.session.transcript()
    assert [(t.role, t.kind.value) for t in turns] == [
        ("user", "text"),
        ("assistant", "thinking"),
        ("assistant", "text"),
        ("assistant", "tool_call"),
        ("assistant", "tool_call"),
        ("tool", "tool_result"),
        ("tool", "tool_result"),
        ("assistant", "text"),
    ]
    sent = provider.requests[1].messages
    answers = {m["tool_call_id"]: m["content"] for m in sent if m["role"] == "tool"}
    assert len(answers) == 2
    assert any("A small program to work on." in text for text in answers.values())
    usage = talk.heard.of(UsageChanged)[-1].usage
    assert usage.used >= 321, "the gauge stands on what the provider reported"


async def test_the_instructions_stay_the_same_and_the_state_stands_beside_the_newest_message(
    start: Start, provider: ScriptedProvider
) -> None:
    provider.add(Reply(Text("Noted.")), Reply(Text("Yes.")))
    talk = await start(choice=chat())
    await talk.say("Never use an ORM here.")
    await talk.say("Is that clear?")
    first, second = (request.messages for request in provider.requests)
    assert first[0] == second[0] and first[0]["role"] == "system" and "current_focus" not in first[0]["content"]
    said = {"role": "user", "content": "Never use an ORM here."}
    assert first[-1] == second[1] == said
    state = second[-2]["content"]
    assert second[-1]["content"] == "Is that clear?" and state.startswith("<loom-state>")
    assert "Never use an ORM here." in state and not any("<loom-state>" in m["content"] for m in second[:-2])


async def test_a_connection_that_drops_keeps_what_had_arrived(start: Start, provider: ScriptedProvider) -> None:
    gate = Gate()
    provider.add(Reply(Text("Half an answer "), gate, Drop()), Reply(Text("Whole.")))
    talk = await start(choice=chat())
    talk.session.submit("Say something.")
    await talk.heard.until(TextDelta, lambda delta: "answer" in delta.text)
    gate.open()
    ended = await talk.heard.ended()
    assert ended.outcome is Outcome.FAILED
    assert ended.error
    _, last, why = await talk.session.transcript()
    assert (last.status, why.content) == (TurnStatus.INTERRUPTED, ended.error)
    assert (last.content or "").startswith("Half an answer")
    await talk.say("Go on.")
    assert talk.heard.of(ExchangeEnded)[-1].outcome is Outcome.COMPLETE
    assert any("Half an answer" in str(m.get("content")) for m in provider.requests[-1].messages)


async def test_an_interruption_closes_the_connection_and_keeps_the_words(
    start: Start, provider: ScriptedProvider
) -> None:
    gate = Gate()
    provider.add(Reply(Text("Once upon a time "), gate, Text("the end")))
    talk = await start(choice=chat())
    talk.session.submit("Tell a story.")
    await talk.heard.until(TextDelta, lambda delta: "time" in delta.text)
    talk.session.interrupt()
    assert (await talk.heard.ended()).outcome is Outcome.INTERRUPTED
    await asyncio.to_thread(provider.requests[0].gone.wait, 30)
    last = (await talk.session.transcript())[-1]
    assert (last.status, last.content) == (TurnStatus.INTERRUPTED, "Once upon a time ")


async def test_an_answer_cut_by_the_output_limit_is_marked(start: Start, provider: ScriptedProvider) -> None:
    provider.add(Reply(Text("As far as it we"), finish="length"))
    talk = await start(choice=chat())
    await talk.say("Write a lot.")
    assert (await talk.session.transcript())[-1].status is TurnStatus.PARTIAL
    assert any("output limit" in n.text for n in talk.heard.of(Notice))


async def test_a_refused_key_is_said_in_words_and_never_shown(
    start: Start, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-verysecretkey0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    provider.add(unauthorized(key))
    talk = await start(choice=chat())
    await talk.say("Hello?")
    ended = talk.heard.of(ExchangeEnded)[-1]
    assert ended.outcome is Outcome.FAILED
    assert "OPENAI_API_KEY" in ended.error
    assert not [event for event in talk.heard.events if key in repr(event)]
    kept = [t.content for t in await talk.session.transcript()]
    assert kept == ["Hello?", ended.error], "the question is kept, and why it has no answer"


async def test_while_the_provider_lets_wait_it_is_said_for_how_long(start: Start, provider: ScriptedProvider) -> None:
    soon = (("Retry-After", "0.01"),)
    provider.add(*(Failure(status, "busy", soon, retry=True) for status in (429, 503, 429)))
    talk = await start(choice=chat())
    await talk.say("Hi.")
    said = [notice.text for notice in talk.heard.of(Notice) if "asked again" in notice.text]
    where = provider.base_url.removeprefix("http://").partition("/")[0]
    assert said == [
        f"{where} limits how often one may ask (429): asked again in 1 s. Esc stops waiting.",
        f"{where} is overloaded or down (503): asked again in 1 s. Esc stops waiting.",
    ], "and of the last attempt only that it failed"
    assert "limits how often" in talk.heard.of(ExchangeEnded)[-1].error


async def test_a_request_that_is_too_large_is_shrunk_and_sent_once_more(
    start: Start, provider: ScriptedProvider
) -> None:
    provider.add(Reply(Text("First.")), Reply(Text("Second.")), overflow(), Reply(Text("It fits now.")))
    talk = await start(choice=chat())
    await talk.say("One. " + "word " * 2000)
    await talk.say("Two. " + "word " * 2000)
    await talk.say("Three.")
    assert talk.heard.of(ExchangeEnded)[-1].outcome is Outcome.COMPLETE
    refused, accepted = (len(str(request.messages)) for request in provider.requests[2:4])
    assert accepted < refused
    assert "Three." in str(provider.requests[3].messages)
    assert len([t for t in await talk.session.transcript() if t.role == "user"]) == 3


async def test_a_bad_call_is_answered_and_the_model_tries_again(start: Start, provider: ScriptedProvider) -> None:
    provider.add(
        Reply(Call("read_file", '{"path": ')),
        Reply(Call("no_such_tool", {})),
        Reply(Call("read_file", {"path": "none.txt"})),
        Reply(Text("I give up.")),
    )
    talk = await start(choice=chat())
    await talk.say("Read it.")
    assert talk.heard.of(ExchangeEnded)[-1].outcome is Outcome.COMPLETE
    results = [t for t in await talk.session.transcript() if t.kind is TurnKind.TOOL_RESULT]
    assert len(results) == 3
    assert {t.status for t in results} == {TurnStatus.FAILED}
    assert all(t.content for t in results)


async def test_a_new_session_counts_as_the_model_did_in_the_last_one(start: Start, provider: ScriptedProvider) -> None:
    provider.add(Reply(Text("Hello."), usage=(6_000, 5)))
    first = await start(choice=chat())
    before = first.session.usage
    await first.say("Hello?")
    second, other = await start(choice=chat()), await start()
    assert before is not None and second.session.usage is not None and other.session.usage is not None
    assert second.session.usage.used > before.used * 2, "the scale is this model's"
    assert other.session.usage.used < before.used * 2, "and no other's"
