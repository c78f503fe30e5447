"""What is said of the offline model is true of it: nobody else counts, and there is no cache."""

from __future__ import annotations

from loom.context.seen import counting_words
from loom.cowork.past_requests import PastRequests
from loom.cowork.workbench import Workbench
from tests.cowork.conftest import Start, chat
from tests.support.provider import ScriptedProvider
from tests.support.replies import Reply, Text


async def test_it_has_no_cache_and_counts_by_itself(start: Start, bench: Workbench) -> None:
    talk = await start()
    await talk.say("list the files")
    usage, session = talk.session.usage, talk.session.session_id
    assert usage is not None and usage.cache_read_share is None and session is not None
    past = PastRequests(bench.store, bench.counter, session)
    assert [line.cached_share for line in await past.lines()] == [None, None]
    assert counting_words(await past.seen(2)).startswith("counted by the offline model")


async def test_of_a_provider_both_are_told(start: Start, bench: Workbench, provider: ScriptedProvider) -> None:
    provider.add(Reply(Text("Yes.")))
    talk = await start(choice=chat())
    await talk.say("Is it?")
    usage, session = talk.session.usage, talk.session.session_id
    assert usage is not None and usage.cache_read_share is not None and session is not None
    seen = await PastRequests(bench.store, bench.counter, session).seen(1)
    assert "the provider" in counting_words(seen) and "offline" not in counting_words(seen)


async def test_what_it_is_to_remember_is_in_the_next_session(start: Start) -> None:
    first = await start()
    await first.say("remember that the port is 8123")
    answer = (await first.session.transcript())[-1].content or ""
    assert "Noted" in answer and "the port is 8123" in answer
    await first.session.close()
    second = await start()
    assert await second.session.beside.read_memory() == b"- the port is 8123\n"
