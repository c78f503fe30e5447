"""Why a message got no answer stands behind it, when it happens and when the session is opened again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from loom.archive.records import Turn, TurnKind, TurnStatus
from loom.config import Settings
from loom.cowork.events import ExchangeEnded, ExchangeStarted, Outcome, TurnStored
from loom.cowork.failures import failure_note
from loom.locations import Locations
from loom.tui.widgets.line import ErrorBlock
from loom.tui.widgets.message import AssistantMessage
from loom.tui.widgets.transcript import Transcript
from tests.support.browsing import screen_text
from tests.support.provider import ScriptedProvider
from tests.support.replies import Reply, Text, server_error
from tests.support.seat import Seat, seated
from tests.support.turns import session_record, turn
from tests.tui.conftest import ChatApp, settled

MODEL = Settings(model="openai-chat:test")
WHY = "The server is down. Try again."


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        yield server


def errors(seat: Seat) -> list[tuple[str, int]]:
    return [(block.source, block.count) for block in seat.chat.query(ErrorBlock)]


def failed(number: int, words: str = WHY) -> Turn:
    note = failure_note(words)
    return replace(turn(number, "system", words, TurnKind.NOTE, TurnStatus.FAILED), message_meta=note.message_meta)


async def test_it_is_told_once_and_again_when_the_session_is_opened(
    locations: Locations, workspace: Path, provider: ScriptedProvider
) -> None:
    provider.add(server_error(), server_error(), Reply(Text("It is Paris.")))
    async with seated(locations, workspace, settings=MODEL) as seat:
        await seat.ready()
        await seat.talk("what is the capital of France")
        [(why, count)] = errors(seat)
        assert count == 1 and "The server had an error" in why
        await seat.pilot.press("ctrl+r")
        await seat.until(lambda: errors(seat) == [(why, 2)])
        await seat.idle()
        await seat.pilot.press("ctrl+q")
    async with seated(locations, workspace, settings=MODEL, resume="0") as seat:
        await seat.ready()
        assert errors(seat) == [(why, 2)]
        assert "T1 has no answer. Ctrl+R asks for it" in screen_text(seat.app)
        await seat.pilot.press("ctrl+r")
        await seat.until(lambda: any("Paris" in each.text for each in seat.chat.query(AssistantMessage)))
        await seat.idle()
        assert errors(seat) == [(why, 2)]
        assert "has no answer" not in screen_text(seat.app)


async def test_one_that_could_not_be_kept_is_told_all_the_same() -> None:
    app = ChatApp(turns=[turn(1, "user", "Why?")], session=session_record())
    async with app.run_test() as pilot:
        for times in (1, 2):
            app.service.tell(ExchangeStarted(1), ExchangeEnded(1, Outcome.FAILED, WHY))
            await settled(pilot, app)
            assert [(block.source, block.count) for block in app.chat.query(ErrorBlock)] == [(WHY, times)]
        app.service.tell(ExchangeStarted(1), TurnStored(failed(2)), ExchangeEnded(1, Outcome.FAILED, WHY))
        app.service.tell(ExchangeStarted(1), TurnStored(failed(3, "No.")), ExchangeEnded(1, Outcome.FAILED, "No."))
        await settled(pilot, app)
        assert [(block.source, block.count) for block in app.chat.query(ErrorBlock)] == [(WHY, 3), ("No.", 1)]


async def test_one_that_was_said_often_is_counted_once_across_two_pages() -> None:
    said = [turn(n, "user" if n % 2 else "assistant", f"Number {n}.") for n in range(1, 153)]
    said[50:54] = [failed(n) for n in range(51, 55)]
    app = ChatApp(turns=said, session=session_record())
    async with app.run_test(size=(100, 24)) as pilot:
        transcript = app.chat.query_one(Transcript)
        await settled(pilot, app)
        assert [block.count for block in app.chat.query(ErrorBlock)] == [2], "the newest page begins between them"
        assert transcript.oldest_turn == 53
        transcript.focus()
        while transcript.oldest_turn > 1:
            await pilot.press("home")
            await settled(pilot, app)
        assert [block.count for block in app.chat.query(ErrorBlock)] == [2, 2]
        assert transcript.reveal(51)
        assert [block for block in transcript.children if block.has_class("-found")] == [app.chat.query(ErrorBlock)[0]]
