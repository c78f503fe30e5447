"""The `summarise` policy: a summary at the threshold, checked, given up on failure, never in the way of an answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace

import pytest

from loom.archive.records import Turn, TurnKind
from loom.config import Settings
from loom.cowork.events import Compacting, ExchangeEnded, Notice, Outcome, UsageChanged, WindowTrimmed
from loom.cowork.workbench import Workbench
from loom.locations import Locations
from tests.cowork.conftest import Start, Talk, chat
from tests.support.provider import Request, ScriptedProvider
from tests.support.replies import Failure, Gate, Reply, Text, server_error

LONG = "We looked at the parser. " * 400
SETTINGS = replace(Settings(), policy="summarise", context_window=14_000, output_reserve=1_000, keep=2)


class Model:
    """Answers at some length; what it says when asked for a summary is the test's affair."""

    def __init__(self) -> None:
        self.summary: Callable[[str], Reply | Failure] = lambda _: Reply(Text("Goal: all of it."), usage=(500, 20))
        self.mended: Callable[[str], Reply | Failure] = lambda _: Reply(Text(""), usage=None)
        self.asked: list[Request] = []
        """What was asked of the summariser, the mending aside."""
        self.mends: list[Request] = []

    def answer(self, request: Request) -> Reply | Failure:
        instructions, asked = (str(request.messages[at]["content"]) for at in (0, -1))
        if instructions.startswith("You sum up"):
            self.asked.append(request)
            return self.summary(asked)
        if instructions.startswith("You mend"):
            self.mends.append(request)
            return self.mended(asked)
        return Reply(Text(LONG, pieces=4), usage=None)


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture(autouse=True)
def provider(model: Model, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedProvider]:
    with ScriptedProvider(model.answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        yield server


@pytest.fixture
async def bench(locations: Locations, request: pytest.FixtureRequest) -> AsyncIterator[Workbench]:
    workbench = await Workbench.open(locations, getattr(request, "param", SETTINGS))
    yield workbench
    await workbench.close()


async def begin(start: Start) -> Talk:
    return await start(choice=chat(SETTINGS))


async def until(talk: Talk, done: Callable[[], bool]) -> None:
    for number in range(20):
        await talk.say(f"Wish {number}: look.")
        if done():
            return
    raise AssertionError("it never happened")


async def summaries(talk: Talk) -> list[Turn]:
    return [turn for turn in await talk.session.transcript() if turn.kind is TurnKind.SUMMARY]


async def test_a_summary_takes_the_place_of_older_exchanges_and_the_newest_stay(
    start: Start, provider: ScriptedProvider, model: Model
) -> None:
    talk = await begin(start)
    await until(talk, lambda: bool(model.asked))
    [summary] = await summaries(talk)
    sent = str(provider.requests[-1].messages)
    newest = talk.heard.of(ExchangeEnded)[-1].exchange - 1
    assert "Goal: all of it." in sent and "Wish 0:" not in sent
    assert f"Wish {newest - 1}: look." in sent and f"Wish {newest}: look." in sent
    assert summary.usage == {"input_tokens": 500 * len(model.asked), "output_tokens": 20 * len(model.asked)}
    assert "tools" not in model.asked[0].body
    assert not talk.heard.of(WindowTrimmed), "nothing left without a summary"
    words = [event.words for event in talk.heard.of(Compacting)]
    assert words[0].startswith("summing up") and words[-1] == ""
    assert any("Wish 0" in (turn.content or "") for turn in await talk.session.transcript()), "the archive has it all"


async def test_the_next_summary_carries_the_last_one_over(start: Start, model: Model) -> None:
    talk = await begin(start)
    await until(talk, lambda: [event.words for event in talk.heard.of(Compacting)].count("") == 2)
    assert len(await summaries(talk)) == 2
    assert "Goal: all of it." in str(model.asked[-1].messages[-1]["content"])


async def test_what_the_record_knows_is_added_word_for_word(start: Start, model: Model) -> None:
    model.mended = lambda asked: Reply(
        Text("Goal: all of it.\nConstraints: Never touch the schema of the database. (T1)"), usage=(50, 5)
    )
    talk = await begin(start)
    await talk.say("Never touch the schema of the database.")
    await talk.say("Always run the tests with -x.")
    await until(talk, lambda: bool(model.mends))
    asked = str(model.mends[0].messages[-1]["content"])
    assert "Never touch the schema" in asked and "Always run the tests with -x" in asked
    [summary] = await summaries(talk)
    text = summary.content or ""
    assert "Constraints: Never touch the schema of the database." in text
    assert "From the record:\n- constraint: Always run the tests with -x" in text, "what even then was missing"
    assert summary.usage is not None and summary.usage["input_tokens"] == 500 * len(model.asked) + 50


async def test_a_failure_lets_the_exchanges_leave_and_is_said(
    start: Start, provider: ScriptedProvider, model: Model
) -> None:
    model.summary = lambda _: server_error()
    talk = await begin(start)
    await until(talk, lambda: bool(talk.heard.of(WindowTrimmed)))
    assert not await summaries(talk)
    assert talk.heard.of(ExchangeEnded)[-1].outcome is Outcome.COMPLETE
    assert any("No summary was made" in notice.text for notice in talk.heard.of(Notice))
    assert "left the window. They are in the archive" in str(provider.requests[-1].messages), "the model is told"


async def test_an_inflated_summary_is_rolled_back(start: Start, model: Model) -> None:
    model.summary = lambda _: Reply(Text("word " * 20_000, pieces=4), usage=None)
    talk = await begin(start)
    await until(talk, lambda: bool(talk.heard.of(WindowTrimmed)))
    assert not await summaries(talk)
    assert any("no shorter" in notice.text for notice in talk.heard.of(Notice))


async def test_after_three_failures_in_a_row_it_is_given_up_until_compact_works(start: Start, model: Model) -> None:
    model.summary = lambda _: Reply(Text(""), usage=None)
    talk = await begin(start)
    for number in range(40):
        await talk.say(f"Wish {number}: look.")
        if any("third failure" in notice.text for notice in talk.heard.of(Notice)):
            break
    tried = len(model.asked)
    trimmed = len(talk.heard.of(WindowTrimmed))
    for number in range(10):
        await talk.say(f"More {number}: look.")
    assert len(model.asked) == tried and len(talk.heard.of(WindowTrimmed)) > trimmed
    model.summary = lambda _: Reply(Text("Goal: all of it."), usage=None)
    await talk.session.compact()
    done = len(model.asked)
    await until(talk, lambda: len(model.asked) > done)


async def test_esc_stops_it_with_the_exchange(start: Start, model: Model) -> None:
    gate = Gate()
    model.summary = lambda _: Reply(gate, Text("Too late."))
    talk = await begin(start)
    for number in range(20):
        talk.session.submit(f"Wish {number}: look.")
        ended = asyncio.ensure_future(talk.heard.ended())
        reached = asyncio.ensure_future(asyncio.to_thread(gate.reached.wait, 60))
        await asyncio.wait([ended, reached], return_when=asyncio.FIRST_COMPLETED)
        if gate.reached.is_set():
            break
        gate.reached.clear()
    talk.session.interrupt()
    assert (await ended).outcome is Outcome.INTERRUPTED
    assert not await summaries(talk) and not talk.session.busy
    assert talk.heard.of(Compacting)[-1].words == ""


def roomy(threshold: float) -> Settings:
    return replace(SETTINGS, context_window=30_000, compress_threshold=threshold)


def the_window_was_full(talk: Talk) -> bool:
    return any("does not fit any longer" in notice.text for notice in talk.heard.of(Notice))


@pytest.mark.parametrize("bench", [roomy(0.3)], indirect=True)
async def test_what_was_uncompacted_stays_until_the_window_has_grown_by_a_step(
    start: Start, provider: ScriptedProvider, model: Model
) -> None:
    talk = await begin(start)
    await until(talk, lambda: bool(model.asked))
    await talk.session.uncompact()
    restored, asked = talk.session.usage, len(model.asked)
    assert restored is not None
    await talk.say("And now?")
    assert len(model.asked) == asked and "Wish 0:" in str(provider.requests[-1].messages)
    await until(talk, lambda: len(model.asked) > asked)
    assert len(await summaries(talk)) == 2 and not talk.heard.of(WindowTrimmed)
    assert not the_window_was_full(talk), "it was the policy's turn again"
    grown = max(usage.usage.used for usage in talk.heard.of(UsageChanged)) - restored.used
    step = (restored.window - restored.reserve) * 0.25
    assert grown > step, "as much as lies between the marks, the floor aside"


@pytest.mark.parametrize("bench", [roomy(0.6)], indirect=True)
async def test_what_was_uncompacted_is_summed_up_when_it_would_overflow_and_that_is_said(
    start: Start, provider: ScriptedProvider, model: Model
) -> None:
    talk = await begin(start)
    await until(talk, lambda: bool(model.asked))
    await talk.session.uncompact()
    asked = len(model.asked)
    await until(talk, lambda: len(model.asked) > asked)
    assert the_window_was_full(talk) and any("It was summed up again." in n.text for n in talk.heard.of(Notice))
    assert len(await summaries(talk)) == 2 and not talk.heard.of(WindowTrimmed)
    assert "Goal: all of it." in str(provider.requests[-1].messages)


@pytest.mark.parametrize("bench", [roomy(0.3)], indirect=True)
async def test_what_was_uncompacted_stays_after_a_resume_too(
    start: Start, provider: ScriptedProvider, model: Model
) -> None:
    talk = await begin(start)
    await until(talk, lambda: bool(model.asked))
    await talk.session.uncompact()
    asked, session_id = len(model.asked), talk.session.session_id
    await talk.session.close()
    again = await start(resume=session_id, choice=chat(SETTINGS))
    await again.say("And now?")
    assert len(model.asked) == asked and "Wish 0:" in str(provider.requests[-1].messages)


@pytest.mark.parametrize("bench", [replace(SETTINGS, summarization_model="openai-chat:small")], indirect=True)
async def test_the_model_for_summaries_is_its_own(start: Start, provider: ScriptedProvider, model: Model) -> None:
    talk = await begin(start)
    await talk.say("Look.")
    await talk.session.compact()
    assert model.asked[0].body["model"] == "small" and provider.requests[0].body["model"] == "test"


@pytest.mark.parametrize("bench", [replace(SETTINGS, compress_threshold=0.0, max_history_messages=8)], indirect=True)
async def test_the_number_of_messages_calls_for_one_too(start: Start, model: Model) -> None:
    talk = await begin(start)
    await until(talk, lambda: bool(model.asked))
    assert 3 <= len(talk.heard.of(ExchangeEnded)) <= 5
