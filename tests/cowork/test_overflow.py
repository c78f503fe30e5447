"""A request that the provider finds too large is shrunk and sent once more, in whatever words it refuses."""

from __future__ import annotations

import pytest

from loom.config import Settings
from loom.cowork.events import ApprovalAsked, Decision, ExchangeEnded, Notice, Outcome, UsageChanged
from loom.models.choice import ASSUMED_WINDOW
from tests.cowork.conftest import Start, chat
from tests.support.provider import ScriptedProvider
from tests.support.replies import Call, Event, Failure, Reply, Text, overflow, overflow_of_llama_cpp


def refused(status: int, message: str, **more: object) -> Failure:
    return Failure(status, {"error": {"message": message, **more}})


SHAPES = {
    "openai": overflow(),
    "llama.cpp": overflow_of_llama_cpp(),
    "llama.cpp with its size": refused(
        400, "the request exceeds the available context size", type="exceed_context_size_error", n_ctx=8192
    ),
    "an older llama.cpp": refused(500, "the request exceeds the available context size. try increasing it"),
    "vllm": refused(400, "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens"),
    "anthropic, through a proxy": refused(400, "prompt is too long: 209000 tokens > 200000 maximum"),
    "google, through a proxy": refused(
        400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
    ),
    "a gateway": Failure(413, "Request Entity Too Large"),
    "a proxy that validates": refused(422, "Input is too long for requested model."),
}
IN_THE_STREAM = Reply(
    Event({"error": {"message": "context length exceeded", "code": "context_length_exceeded"}}), finish=None, usage=None
)


@pytest.mark.parametrize("refusal", [*SHAPES.values(), IN_THE_STREAM], ids=[*SHAPES, "in the stream"])
async def test_every_refusal_is_answered_by_one_smaller_request(
    start: Start, provider: ScriptedProvider, refusal: Failure | Reply
) -> None:
    provider.add(Reply(Text("First."), usage=None), Reply(Text("Second."), usage=None), refusal, Reply(Text("Fits.")))
    talk = await start(choice=chat())
    await talk.say("One. " + "word " * 2000)
    await talk.say("Two. " + "word " * 2000)
    await talk.say("Three.")
    assert talk.heard.of(ExchangeEnded)[-1].outcome is Outcome.COMPLETE
    first, second = (len(str(request.messages)) for request in provider.requests[2:4])
    assert second < first and "Three." in str(provider.requests[3].messages)
    assert any("sent once more, smaller" in notice.text for notice in talk.heard.of(Notice))


async def test_a_second_refusal_is_said(start: Start, provider: ScriptedProvider) -> None:
    provider.add(overflow(), overflow(), Reply(Text("Later.")))
    talk = await start(choice=chat())
    await talk.say("One. " + "word " * 3000)
    ended = talk.heard.of(ExchangeEnded)[-1]
    assert ended.outcome is Outcome.FAILED and "larger than the context window" in ended.error
    assert len(provider.requests) == 2
    await talk.say("Two.")
    assert talk.heard.of(ExchangeEnded)[-1].outcome is Outcome.COMPLETE, "the session goes on"


async def test_what_cannot_be_made_smaller_is_not_said_to_have_been_sent(
    start: Start, provider: ScriptedProvider
) -> None:
    provider.add(overflow())
    talk = await start(choice=chat())
    await talk.say("One.")
    assert talk.heard.of(ExchangeEnded)[-1].outcome is Outcome.FAILED
    assert len(provider.requests) == 1
    assert [notice.text for notice in talk.heard.of(Notice) if "sent" in notice.text] == []


async def test_a_refusal_that_no_size_explains_does_not_end_the_session(
    start: Start, provider: ScriptedProvider
) -> None:
    """Of a small request nothing can leave: the provider's own words are said, and the next message is sent."""
    provider.add(SHAPES["vllm"], SHAPES["a gateway"], Reply(Text("Later.")))
    talk = await start(choice=chat())
    for words in ("One.", "Two."):
        await talk.say(words)
        ended = talk.heard.of(ExchangeEnded)[-1]
        assert ended.outcome is Outcome.FAILED and "larger than the context window of" in ended.error
    await talk.say("Three.")
    assert talk.heard.of(ExchangeEnded)[-1].outcome is Outcome.COMPLETE
    assert talk.heard.of(UsageChanged)[-1].usage.window == ASSUMED_WINDOW


async def test_many_large_outputs_in_one_step_go_out(start: Start, provider: ScriptedProvider) -> None:
    settings = Settings(context_window=12_000)
    provider.add(
        Reply(*(Call("shell_execute", {"command": f"seq {n} 4000"}) for n in range(30)), usage=None),
        Reply(Text("I have seen them.")),
    )
    talk = await start(choice=chat(settings))
    talk.heard.on(ApprovalAsked, lambda asked: talk.session.answer(asked.call_id, Decision(allowed=True)))
    await talk.say("Count.")
    assert talk.heard.of(ExchangeEnded)[-1].outcome is Outcome.COMPLETE
    results = [message for message in provider.requests[1].messages if message["role"] == "tool"]
    assert len(results) > 5 and "\n4000\n" in str(results[-1]["content"])
