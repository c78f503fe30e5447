"""Why a message got no answer, or half of one, stands behind it in the archive, for whoever opens the session again."""

from __future__ import annotations

from loom.archive.records import TurnKind, TurnStatus
from loom.cowork.events import ExchangeEnded, Outcome, TurnStored
from loom.cowork.failures import failure_in
from loom.cowork.workbench import Workbench
from tests.cowork.conftest import Start, Talk, chat
from tests.support.provider import ScriptedProvider
from tests.support.replies import Drop, Failure, Reply, Text, server_error, unauthorized
from tests.support.turns import turn

WORDS = "What is the capital of France?"


async def failures(talk: Talk) -> list[str]:
    return [words for each in await talk.session.transcript() if (words := failure_in(each))]


async def test_the_reason_is_there_when_the_session_is_opened_again(start: Start, provider: ScriptedProvider) -> None:
    provider.add(server_error(), Failure(503, "not yet"), Reply(Text("Paris.")))
    talk = await start(choice=chat())
    await talk.say(WORDS)
    first = talk.heard.of(ExchangeEnded)[-1]
    assert first.outcome is Outcome.FAILED and first.error
    stored = await talk.session.transcript()
    assert [(t.role, t.kind, t.status, t.exchange) for t in stored] == [
        ("user", TurnKind.TEXT, TurnStatus.COMPLETE, 1),
        ("system", TurnKind.NOTE, TurnStatus.FAILED, 1),
    ]
    # Before the end is told: whoever draws that knows that it is kept.
    told = [each for each in talk.heard.events if isinstance(each, TurnStored | ExchangeEnded)]
    assert [type(each) for each in told[-2:]] == [TurnStored, ExchangeEnded]
    await talk.session.close()

    assert talk.session.session is not None
    again = await start(resume=talk.session.session.id, choice=chat())
    assert await failures(again) == [first.error]
    assert again.session.unanswered is not None and again.session.unanswered.turn_number == 1
    await again.session.ask_again()
    second = await again.heard.ended()
    assert await failures(again) == [first.error, second.error]
    await again.session.ask_again()
    assert (await again.heard.ended()).outcome is Outcome.COMPLETE
    assert [message["content"] for message in provider.requests[-1].messages[2:]] == [WORDS]
    assert first.error not in str(provider.requests[-1].messages)
    assert again.session.unanswered is None


async def test_half_an_answer_has_its_reason_behind_it(start: Start, provider: ScriptedProvider) -> None:
    provider.add(Reply(Text("The first half "), Drop()))
    talk = await start(choice=chat())
    await talk.say(WORDS)
    assert [t.kind for t in await talk.session.transcript()] == [TurnKind.TEXT, TurnKind.TEXT, TurnKind.NOTE]
    assert await failures(talk) == [talk.heard.of(ExchangeEnded)[-1].error]
    assert talk.session.unanswered is None


async def test_no_key_comes_into_the_archive_with_it(start: Start, provider: ScriptedProvider) -> None:
    provider.add(unauthorized("sk-abcdefghijklmnop"))
    talk = await start(choice=chat())
    await talk.say(WORDS)
    [words] = await failures(talk)
    assert "did not accept the key" in words and "sk-abcdefghijklmnop" not in words


async def test_no_search_finds_it(start: Start, bench: Workbench, provider: ScriptedProvider) -> None:
    provider.add(Failure(500, {"error": {"message": "The zeppelin is down."}}))
    talk = await start(choice=chat())
    await talk.say(WORDS)
    assert "zeppelin" in (await failures(talk))[0]
    assert (await bench.store.search("zeppelin")).hits == ()
    assert len((await bench.store.search("capital")).hits) == 1


async def test_what_ended_otherwise_has_none(start: Start, provider: ScriptedProvider) -> None:
    provider.add(Reply(Text("Paris.")))
    talk = await start(choice=chat())
    await talk.say(WORDS)
    assert await failures(talk) == []
    assert failure_in(turn(1, "system", "T4 could not be recovered.", TurnKind.NOTE, TurnStatus.FAILED)) == ""
