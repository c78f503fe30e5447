"""A resumed session's window looks as it did, and what it has no more room for is named."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from loom.archive.database import connect
from loom.archive.records import TurnKind
from loom.config import Settings
from loom.context.seen import Standing
from loom.cowork.events import WindowTrimmed
from loom.cowork.past_requests import PastRequests
from loom.cowork.workbench import Workbench
from loom.locations import Locations
from tests.cowork.conftest import Start, chat
from tests.support.provider import ScriptedProvider
from tests.support.replies import Call, Reply, Text

SMALL = Settings(context_windows={"openai-chat:test": 14_000, "openai-chat:small": 7_000}, output_reserve=1_000)


@pytest.fixture
async def small(locations: Locations) -> AsyncIterator[Workbench]:
    workbench = await Workbench.open(locations, SMALL)
    yield workbench
    await workbench.close()


async def test_outputs_that_were_shortened_are_so_after_a_resume(
    small: Workbench, start: Start, workspace: Path, provider: ScriptedProvider
) -> None:
    (workspace / "big.txt").write_text("".join(f"line {n} x y z x y z x y z\n" for n in range(200)))
    provider.add(*(Reply(Call("read_file", {"path": "big.txt"}), usage=None) for _ in range(6)), Reply(Text("Done.")))
    talk = await start(on=small, choice=chat(SMALL))
    await talk.say("read it six times")
    before = await talk.session.window_contents()
    assert talk.session.usage is not None and talk.session.session_id is not None
    used = talk.session.usage.used
    await talk.session.close()
    again = await start(on=small, choice=chat(SMALL), resume=talk.session.session_id)
    assert again.session.usage is not None
    assert again.session.usage.used == pytest.approx(used, rel=0.02)
    assert again.session.usage.used <= again.session.usage.high_water
    assert (await again.session.window_contents()).exchanges[0].last_turn == before.exchanges[0].last_turn


async def test_what_a_smaller_window_has_no_room_for_is_named(
    small: Workbench, start: Start, provider: ScriptedProvider
) -> None:
    provider.add(*(Reply(Text("word " * 500), usage=None) for _ in range(10)), Reply(Text("Yes."), usage=None))
    talk = await start(on=small, choice=chat(SMALL))
    for number in range(10):
        await talk.say(f"Message {number}.")
    assert not talk.heard.of(WindowTrimmed)
    await talk.session.set_model("openai-chat:small")
    await talk.say("Still there?")
    (trimmed,) = talk.heard.of(WindowTrimmed)
    assert trimmed.first_turn == 1
    receipts = [turn for turn in await talk.session.transcript() if turn.kind is TurnKind.RECEIPT]
    assert len(receipts) == 1 and "exchanges, kept in the archive" in (receipts[0].content or "")


async def test_a_damaged_manifest_stops_no_conversation(bench: Workbench, start: Start) -> None:
    talk = await start()
    await talk.say("list the files")
    session = talk.session.session_id
    assert session is not None
    await talk.session.close()
    with closing(connect(bench.locations.archive)) as connection:
        connection.execute("UPDATE manifests SET segments = '{', turns = '[', texts = '{', recipe = '{'")
    again = await start(resume=session)
    await again.say("list the files again")
    requests = PastRequests(bench.store, bench.counter, session)
    damaged, *_, newest = [await requests.seen(line.request) for line in await requests.lines()]
    assert damaged.standing is Standing.UNKNOWN
    assert newest.standing is Standing.SAME
