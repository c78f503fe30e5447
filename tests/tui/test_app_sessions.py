"""From one session to another in the whole program: resumed, picked, found in the archive, forked."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from textual.widgets import Static

from loom.archive import ConversationStore
from loom.archive.database import connect
from loom.attached import split_attached
from loom.cowork.session import CoworkSession
from loom.locations import Locations
from loom.tui.choices import AttachTurn, ForkAt, JumpTo, NewSession, OpenSession
from loom.tui.screens.archive import ArchiveScreen
from loom.tui.screens.chat import ChatScreen
from loom.tui.screens.help import HelpScreen
from loom.tui.screens.picker import PickerScreen
from loom.tui.widgets.composer import ASK, READ_ONLY, Composer
from loom.tui.widgets.hit_list import HitList
from loom.tui.widgets.line import ErrorBlock, ReceiptLine
from loom.tui.widgets.message import AssistantMessage, UserMessage
from loom.tui.widgets.said_line import SaidLine
from loom.tui.widgets.session_list import SessionList
from loom.tui.widgets.status import StatusLine
from loom.tui.widgets.transcript import Transcript
from tests.support.sealed import sealed
from tests.support.seat import Seat, seated


async def test_a_resumed_session_shows_what_was_said(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
        before = seat.cards()
    async with seated(locations, workspace, resume="0") as seat:
        await seat.ready()
        await seat.idle()
        assert seat.cards() == before
        assert [m.text for m in seat.chat.query(UserMessage)] == ["read README.md"]


async def test_a_later_start_offers_the_sessions(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
    async with seated(locations, workspace) as seat:
        await seat.until(lambda: isinstance(seat.app.screen, PickerScreen))
        await seat.pilot.pause()
        await seat.pilot.press("down", "enter")
        await seat.ready()
        await seat.idle()
        assert [m.text for m in seat.chat.query(UserMessage)] == ["read README.md"]


async def _left_behind(seat: Seat) -> str:
    """A session in which README.md was read; a new one is open in its place."""
    await seat.ready()
    await seat.talk("read README.md")
    first = seat.session_id
    seat.app.visit(NewSession())
    await seat.until(lambda: isinstance(seat.app.screen, ChatScreen) and not seat.chat.query(UserMessage))
    await seat.ready()
    return first


async def test_a_hit_in_the_archive_is_shown_in_its_transcript(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
        seat.app.visit(JumpTo(seat.session_id, 1))
        await seat.until(lambda: seat.chat.query(".-found"))
        (found,) = seat.chat.query(".-found")
        assert isinstance(found, UserMessage)


async def test_a_hit_of_another_session_is_shown_to_be_read_and_can_be_gone_on_with(
    locations: Locations, workspace: Path
) -> None:
    async with seated(locations, workspace) as seat:
        first = await _left_behind(seat)
        await seat.talk("list src")
        seat.app.visit(JumpTo(first, 1))
        await seat.until(lambda: isinstance(seat.app.screen, ChatScreen) and seat.chat.query(".-found"))
        await seat.ready()
        assert seat.chat.service is not None and seat.chat.service.read_only and seat.session_id == first
        assert "Open to read only. Ctrl+O, Enter goes on with it." in seat.app.said
        assert seat.chat.query_one(Composer).placeholder == READ_ONLY
        (found,) = seat.chat.query(".-found")
        transcript = seat.chat.query_one(Transcript)
        await seat.until(lambda: transcript.region.contains_region(found.region) and found.size)
        await seat.say("more")
        # Taken from the box and given back to it.
        await seat.until(lambda: any("to read only; your text" in said for said in seat.app.said))
        assert seat.chat.draft == "more"
        await seat.pilot.press("ctrl+o")
        await seat.until(lambda: seat.app.screen.query(SessionList) and len(seat.rows) > 1)
        await seat.pilot.press("enter")
        await seat.until(lambda: isinstance(seat.app.screen, ChatScreen) and not seat.chat.query(".-found"))
        await seat.ready()
        assert seat.chat.service is not None and not seat.chat.service.read_only and seat.session_id == first
        assert seat.chat.draft == "more"
        assert seat.chat.query_one(Composer).placeholder == ASK


async def test_an_attached_turn_goes_along_with_the_next_message(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
        seat.app.visit(AttachTurn(seat.session_id, 1))
        await seat.until(lambda: seat.chat.draft)
        assert "T1]" in seat.chat.query_one(Composer).text
        await seat.pilot.press(*"still so?", "enter")
        await seat.until(lambda: len(seat.chat.query(UserMessage)) == 2)
        words, attached = split_attached(seat.chat.query(UserMessage).last().text)
        assert words == "still so?"
        assert " T1, user · " in attached and "\nread README.md\n" in attached


@pytest.mark.parametrize(
    ("words", "title"), [("is this still so?", "is this still so?"), ("", "About “read README.md”")]
)
async def test_a_session_that_begins_with_an_attached_turn_is_called_by_the_persons_words(
    locations: Locations, workspace: Path, words: str, title: str
) -> None:
    async with seated(locations, workspace) as seat:
        first = await _left_behind(seat)
        seat.app.visit(AttachTurn(first, 1))
        await seat.until(lambda: seat.chat.draft)
        await seat.pilot.press(*words, "enter")
        await seat.until(lambda: seat.chat.query(UserMessage) and not seat.chat.busy)
        assert seat.chat.service is not None and seat.chat.service.session is not None
        assert seat.chat.service.session.title == title


async def test_the_hits_of_a_search_can_be_written_to_a_file(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
        await seat.say("/recall README")
        await seat.until(lambda: seat.app.screen.query(HitList) and seat.app.screen.query_one(HitList).hit)
        await seat.pilot.press("down", "e")
        await seat.until(lambda: seat.app.said)
        (said,) = seat.app.said
        (path,) = locations.exports.iterdir()
        assert str(path) in said
        assert " T1 user" in path.read_text(encoding="utf-8")
        assert isinstance(seat.app.screen, ArchiveScreen)


@pytest.mark.parametrize("sessions", [0, 1])
async def test_an_unknown_reference_is_said_where_another_session_can_be_picked(
    locations: Locations, workspace: Path, sessions: int
) -> None:
    for _ in range(sessions):
        async with seated(locations, workspace) as seat:
            await seat.ready()
            await seat.talk("read README.md")
    async with seated(locations, workspace, resume="nosuch") as seat:
        await seat.until(lambda: isinstance(seat.app.screen, PickerScreen) and len(seat.rows) == 1 + sessions)
        said = seat.app.screen.query_one("#said", Static)
        await seat.until(lambda: "No session goes by `nosuch`" in str(said.content))
        await seat.pilot.press("enter")
        await seat.ready()
        assert "never forgets" in seat.welcome


async def test_an_archive_that_cannot_be_opened_is_said_and_loom_can_be_left(
    locations: Locations, workspace: Path
) -> None:
    locations.prepare()
    database = sqlite3.connect(locations.archive)
    database.executescript("PRAGMA application_id = 0; CREATE TABLE other (x); PRAGMA user_version = 3;")
    database.close()
    before = locations.archive.read_bytes()
    async with seated(locations, workspace, resume="0") as seat:
        await seat.until(lambda: seat.chat.query(ErrorBlock))
        said = str(seat.chat.query_one(ErrorBlock).render())
        assert str(locations.archive) in said and "Ctrl+Q leaves loom" in said
        await seat.say("hello")
        assert seat.chat.draft == "hello"
        await seat.pilot.press("ctrl+o", "f2", "ctrl+f", "f1")
        await seat.until(lambda: isinstance(seat.app.screen, HelpScreen))
        await seat.pilot.press("escape", "ctrl+q")
        await seat.until(lambda: not seat.app.is_running)
    assert locations.archive.read_bytes() == before


async def test_the_archive_of_a_newer_loom_opens_to_read(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
    with closing(connect(locations.archive)) as connection:
        connection.execute("PRAGMA user_version = 99")
    async with seated(locations, workspace) as seat:
        await seat.until(lambda: isinstance(seat.app.screen, PickerScreen) and len(seat.rows) == 2)
        said = seat.app.screen.query_one("#said", Static)
        assert "A newer loom wrote the archive" in str(said.content)
        await seat.pilot.press("n")
        # Nothing new can be stored: the picker is there again, and still says why.
        await seat.until(lambda: isinstance(seat.app.screen, PickerScreen) and len(seat.rows) == 2)
        await seat.pilot.press("down", "enter")
        await seat.ready()
        assert seat.chat.query(AssistantMessage)
        await seat.say("and now")
        assert seat.chat.query_one(Composer).text == "and now"
        assert len(seat.chat.query(UserMessage)) == 1
        await seat.say("/new")
        await seat.until(lambda: seat.chat.query(ErrorBlock))
        assert "Update loom" in str(seat.chat.query(ErrorBlock).last().render())


async def test_a_home_where_nothing_can_be_written_opens_to_read(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
    with sealed(locations.home):
        async with seated(locations, workspace) as seat:
            await seat.until(lambda: isinstance(seat.app.screen, PickerScreen) and len(seat.rows) == 2)
            said = seat.app.screen.query_one("#said", Static)
            assert f"Nothing can be stored: {locations.home} is read-only for you" in str(said.content)
            await seat.pilot.press("down", "enter")
            await seat.ready()
            assert seat.chat.query(AssistantMessage)
            await seat.say("and now")
            assert seat.chat.query_one(Composer).text == "and now"
            assert len(seat.chat.query(UserMessage)) == 1


async def test_one_session_after_another_is_opened_and_none_stays_behind(
    locations: Locations, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    half, go_on = asyncio.Event(), asyncio.Event()
    resume = CoworkSession.resume

    async def resume_slowly(self: CoworkSession, session_id: str, *, take_over: bool = False) -> None:
        await resume(self, session_id, take_over=take_over)
        if session_id == first:
            half.set()
            await go_on.wait()

    store = await ConversationStore.open(locations.archive)
    first, second = [await store.create_session(workspace, "offline", "", title=title) for title in ("one", "two")]
    await store.close()
    monkeypatch.setattr(CoworkSession, "resume", resume_slowly)
    async with seated(locations, workspace, fresh=True) as seat:
        await seat.ready()
        seat.app.visit(OpenSession(first))
        await half.wait()
        seat.app.visit(OpenSession(second))
        go_on.set()
        await seat.until(lambda: isinstance(seat.app.screen, ChatScreen) and seat.chat.service is not None)
        await seat.until(lambda: getattr(seat.chat.service, "session_id", None) == second)
        await seat.ready()
        other = await ConversationStore.open(locations.archive)
        try:
            assert await other.get_lease_holder(first) is None
            assert await other.get_lease_holder(second) is not None
        finally:
            await other.close()


async def test_a_fork_ends_with_an_exchange_and_says_where_it_is_from(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
        await seat.talk("list .")
        service = seat.chat.service
        assert service is not None and service.session is not None
        parent, end = service.session, (await service.transcript())
        last = max(turn.turn_number for turn in end if turn.exchange == 1)
        seat.app.visit(ForkAt(parent.id, 1))
        await seat.until(lambda: seat.chat.service is not service and seat.chat.service is not None)
        await seat.ready()
        fork = seat.chat.service
        assert fork is not None and fork.session is not None
        assert (fork.session.turn_count, fork.session.fork_turn) == (last, last)
        words = f"Forked from {parent.reference} after T{last}, the end of the exchange that T1 is in."
        await seat.until(lambda: words in str(seat.chat.query_one(SaidLine).content))
        origin = f"fork of {parent.reference} at T{last}"
        assert origin in str(seat.chat.query_one(StatusLine).render())
        first = seat.chat.query_one(Transcript).children[0]
        assert isinstance(first, ReceiptLine)
        assert first.source == f"F{origin[1:]}"
        await seat.pilot.press("ctrl+o")
        await seat.until(lambda: isinstance(seat.app.screen, PickerScreen) and len(seat.rows) == 3)
        rows = seat.app.screen.query_one(SessionList)
        drawn = " ".join(str(line) for item in rows.items for line in rows.draw_row(item, 100))
        assert f"↳ {fork.session.title}" in drawn and origin in drawn
        assert drawn.count("↳") == 1, "its source is none"


async def test_a_fork_of_a_session_of_another_folder_names_the_keys_that_lead_back(
    locations: Locations, workspace: Path
) -> None:
    store = await ConversationStore.open(locations.archive)
    away = await store.create_session("/far/away", "offline", "")
    await store.append_turn(away, "user", "read README.md")
    await store.close()
    async with seated(locations, workspace, fresh=True) as seat:
        await seat.ready()
        seat.app.visit(ForkAt(away, 1))
        await seat.until(lambda: "Ctrl+O, a leads back to it." in str(seat.chat.query_one(SaidLine).content))


async def test_fork_goes_on_in_a_copy_and_takes_a_turn(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.say("/fork")
        await seat.until(lambda: seat.chat.query(ErrorBlock))
        assert "nothing to fork" in str(seat.chat.query(ErrorBlock).last().render())
        await seat.talk("read README.md")
        await seat.talk("list .")
        service = seat.chat.service
        assert service is not None and service.session is not None
        whole = service.session
        for wrong in ("T999", "elsewhere", "T0"):
            errors = len(seat.chat.query(ErrorBlock))
            await seat.say(f"/fork {wrong}")
            await seat.until(lambda errors=errors: len(seat.chat.query(ErrorBlock)) > errors)
            assert f"no turn {wrong}" in str(seat.chat.query(ErrorBlock).last().render())
        await seat.say("/fork")
        await seat.until(lambda: seat.chat.service is not service and seat.chat.service is not None)
        await seat.ready()
        fork = seat.chat.service
        assert fork is not None and fork.session is not None
        assert (fork.session.parent_id, fork.session.turn_count) == (whole.id, whole.turn_count)
        await seat.say("/fork T1")
        await seat.until(lambda: seat.chat.service is not fork and seat.chat.service is not None)
        await seat.ready()
        again = seat.chat.service
        assert again is not None and again.session is not None
        assert again.session.turn_count < whole.turn_count
