"""What a person does to the window can be taken back, in the session and after a resume; the archive only grows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest

from loom.archive.records import TurnKind
from loom.config import Settings
from loom.context.edges import left_turns
from loom.cowork.events import Notice, WindowTrimmed
from loom.cowork.window_moves import NoRoom, NothingToTakeBack
from loom.cowork.workbench import Workbench
from loom.errors import LoomError
from loom.locations import Locations
from tests.cowork.conftest import Start, Talk, chat
from tests.support.provider import Request, ScriptedProvider
from tests.support.replies import Reply, Text

LONG = "We looked at the parser. " * 200


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedProvider]:
    """Sums up when it is asked to, and answers everything else at some length."""

    def answer(request: Request) -> Reply:
        asked = str(request.messages[-1]["content"])
        if asked.startswith("Sum up"):
            return Reply(
                Text(f"Summary {len([r for r in server.requests if 'Sum up' in str(r.messages)])}."), usage=None
            )
        return Reply(Text(LONG, pieces=4), usage=None)

    with ScriptedProvider(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        yield server


async def sent(talk: Talk, provider: ScriptedProvider) -> str:
    """What the model is sent with the next message."""
    await talk.say("And now?")
    return str(provider.requests[-1].messages)


async def words_of_system(talk: Talk) -> list[str]:
    return [turn.content or "" for turn in await talk.session.transcript() if turn.role == "system"]


class TestTakingBackACompaction:
    async def test_puts_everything_back_and_the_summary_away(self, start: Start, provider: ScriptedProvider) -> None:
        talk = await start(choice=chat())
        await talk.say("Look at the lexer.")
        before = await talk.session.window_contents()
        await talk.session.compact()
        await talk.session.uncompact()
        assert (await talk.session.window_contents()).exchanges == before.exchanges
        seen = await sent(talk, provider)
        assert "Look at the lexer." in seen and "Summary 1." not in seen
        assert (await words_of_system(talk))[-1].startswith("The compaction of T3 was taken back")

    async def test_goes_back_step_by_step(self, start: Start, provider: ScriptedProvider) -> None:
        talk = await start(choice=chat())
        await talk.say("Look at the lexer.")
        await talk.session.compact()
        await talk.say("Look at the parser.")
        await talk.session.compact()
        await talk.session.uncompact()
        seen = await sent(talk, provider)
        assert "Summary 1." in seen and "Look at the parser." in seen and "Look at the lexer." not in seen
        await talk.session.uncompact()
        seen = await sent(talk, provider)
        assert "Summary" not in seen and "Look at the lexer." in seen and "Look at the parser." in seen
        with pytest.raises(NothingToTakeBack):
            await talk.session.uncompact()

    async def test_works_after_a_resume(self, start: Start, provider: ScriptedProvider) -> None:
        talk = await start(choice=chat())
        await talk.say("Look at the lexer.")
        await talk.session.compact()
        await talk.say("Look at the parser.")
        session_id = talk.session.session_id
        await talk.session.close()
        again = await start(choice=chat(), resume=session_id)
        assert "Summary 1." in await sent(again, provider)
        await again.session.uncompact()
        seen = await sent(again, provider)
        assert "Look at the lexer." in seen and "Summary 1." not in seen

    async def test_goes_through_a_clearing_that_came_later(self, start: Start, provider: ScriptedProvider) -> None:
        talk = await start(choice=chat())
        await talk.say("Look at the lexer.")
        await talk.session.compact()
        await talk.session.clear()
        await talk.session.uncompact()
        assert "Look at the lexer." in await sent(talk, provider)
        said = (await words_of_system(talk))[-1]
        assert said.startswith("The clearing of T4 and the compaction of T3 were taken back")


class TestTakingBackAClearing:
    async def test_puts_back_what_was_there(self, start: Start, provider: ScriptedProvider) -> None:
        talk = await start(choice=chat())
        await talk.say("Look at the lexer.")
        await talk.session.clear()
        assert "Look at the lexer." not in await sent(talk, provider)
        await talk.session.unclear()
        assert "Look at the lexer." in await sent(talk, provider)
        with pytest.raises(NothingToTakeBack):
            await talk.session.unclear()

    async def test_is_refused_when_nothing_was_cleared(self, start: Start) -> None:
        talk = await start()
        with pytest.raises(LoomError, match="Nothing has been said"):
            await talk.session.unclear()
        await talk.say("list .")
        with pytest.raises(NothingToTakeBack):
            await talk.session.unclear()

    async def test_an_empty_window_is_not_cleared_twice(self, start: Start) -> None:
        talk = await start()
        await talk.say("list .")
        await talk.session.clear()
        with pytest.raises(LoomError, match="empty already"):
            await talk.session.clear()


@pytest.fixture
async def small(locations: Locations) -> AsyncIterator[Workbench]:
    """A workbench whose models have a small window."""
    settings = replace(Settings(), context_window=12_000, output_reserve=1_000, high_water=0.8, low_water=0.5)
    workbench = await Workbench.open(locations, settings)
    yield workbench
    await workbench.close()


class TestBringingBack:
    async def fill(self, start: Start, small: Workbench) -> Talk:
        """A session of which something has left."""
        talk = await start(choice=chat(small.settings), on=small)
        for number in range(12):
            await talk.say(f"Wish {number}: look.")
            if talk.heard.of(WindowTrimmed):
                break
        return talk

    async def test_shows_the_exchanges_again_until_the_budget_pushes_them_out(
        self, small: Workbench, start: Start, provider: ScriptedProvider
    ) -> None:
        talk = await self.fill(start, small)
        [receipt] = [t for t in await talk.session.transcript() if t.kind is TurnKind.RECEIPT]
        assert left_turns(receipt)[0][0] == 1 and "Wish 0" not in str(provider.requests[-1].messages)
        await talk.session.bring_back(((1, 2),))
        before = (await talk.session.window_contents()).exchanges
        assert [each.text for each in before[:1]] == ["Wish 0: look."] and before[1].exchange > 2
        session_id = talk.session.session_id
        await talk.session.close()
        again = await start(choice=chat(small.settings), on=small, resume=session_id)
        assert (await again.session.window_contents()).exchanges == before
        seen = await sent(again, provider)
        assert "Wish 0: look." in seen and "Wish 1: look." not in seen and "[T3–T" in seen
        for number in range(20, 32):
            await again.say(f"Wish {number}: look.")
            if "Wish 0: look." not in str(provider.requests[-1].messages):
                break
        assert "Wish 0: look." not in str(provider.requests[-1].messages)
        assert again.heard.of(WindowTrimmed)[0].receipt.startswith("T1–T2, ")

    async def test_says_how_many_tokens_are_missing(
        self, small: Workbench, start: Start, provider: ScriptedProvider
    ) -> None:
        talk = await self.fill(start, small)
        await talk.say("One more.")
        [receipt, *_] = [t for t in await talk.session.transcript() if t.kind is TurnKind.RECEIPT]
        turns = [turn.turn_number for turn in await talk.session.transcript()]
        with pytest.raises(NoRoom, match=r"[\d,]+ more than there is room for"):
            await talk.session.bring_back(left_turns(receipt))
        assert [turn.turn_number for turn in await talk.session.transcript()] == turns, "nothing was stored"

    async def test_of_what_is_in_the_window_is_said_to_be_there(self, start: Start, provider: ScriptedProvider) -> None:
        talk = await start(choice=chat())
        await talk.say("Look at the lexer.")
        with pytest.raises(LoomError, match="in the window already"):
            await talk.session.bring_back(((1, 2),))

    async def test_is_told_when_a_compaction_is_taken_back_that_no_longer_fits(
        self, small: Workbench, start: Start, provider: ScriptedProvider
    ) -> None:
        talk = await start(choice=chat(small.settings), on=small)
        for number in range(3):
            await talk.say(f"Wish {number}: look.")
        await talk.session.compact()
        for number in range(3, 16):
            await talk.say(f"Wish {number}: look.")
        await talk.session.uncompact()
        assert any("no longer fit" in notice.text for notice in talk.heard.of(Notice))
        assert "Wish 15" in await sent(talk, provider)
