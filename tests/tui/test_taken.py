"""A session that another loom takes over while it is open here: two programs on one archive."""

from __future__ import annotations

from pathlib import Path

from textual.widgets import Static

from loom.archive.records import TurnStatus
from loom.locations import Locations
from loom.tui.screens.held import HeldScreen
from loom.tui.screens.picker import PickerScreen
from loom.tui.widgets.approval import Approval
from loom.tui.widgets.composer import Composer
from loom.tui.widgets.line import ErrorBlock
from loom.tui.widgets.message import UserMessage
from loom.tui.widgets.notice_bar import Notice, NoticeBar
from loom.tui.widgets.queue import QueuedMessages
from tests.support.seat import Seat, seated
from tests.tui.test_held import asked

WORDS = "read README.md"
MORE = "list the files"


def said(seat: Seat) -> list[str]:
    return [message.text for message in seat.chat.query(UserMessage)]


async def begin(seat: Seat) -> None:
    await seat.ready()
    await seat.talk(WORDS)


async def take_over(other: Seat) -> None:
    await asked(other, "t")
    await other.ready()


async def told(seat: Seat) -> None:
    """Wait until the take-over is on the screen, and nothing else about it."""
    await seat.until(lambda: seat.chat.query_one(NoticeBar).shown is Notice.TAKEN)
    await seat.idle()
    assert not seat.chat.query(ErrorBlock) and not seat.app.said


async def decide(seat: Seat, key: str) -> None:
    await seat.pilot.press("ctrl+t")
    await asked(seat, key)


async def test_it_is_said_without_a_key_and_what_is_written_there_can_be_followed(
    locations: Locations, workspace: Path
) -> None:
    async with seated(locations, workspace) as one:
        await begin(one)
        async with seated(locations, workspace, resume="0") as other:
            await take_over(other)
            await told(one)
            one.chat.query_one(Composer).put("half a thought")
            await decide(one, "r")
            await one.ready()
            assert one.chat.service is not None and one.chat.service.read_only
            await other.talk(MORE)
            await one.until(lambda: said(one) == [WORDS, MORE])
            await one.until(lambda: one.cards() == other.cards())
            assert one.chat.draft == "half a thought"
            assert not one.chat.query_one(NoticeBar).display


async def test_a_fork_goes_on_with_the_words_that_were_being_written(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as one:
        await begin(one)
        lost = one.session_id
        async with seated(locations, workspace, resume="0") as other:
            await take_over(other)
            await told(one)
            await other.talk(MORE)
            one.chat.query_one(Composer).put("read setup.py")
            await decide(one, "f")
            await one.until(lambda: one.chat.service is not None and one.session_id != lost)
            await one.ready()
            await one.until(lambda: one.chat.draft == "read setup.py")
            assert said(one) == [WORDS]
            await one.talk("read setup.py")
            await other.talk("find def")
            assert said(other) == [WORDS, MORE, "find def"]
            assert said(one) == [WORDS, "read setup.py"]
    async with seated(locations, workspace, resume="0") as again:
        await again.ready()
        assert again.chat.draft == ""


async def test_taken_back_it_goes_on_and_the_other_is_told(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as one:
        await begin(one)
        async with seated(locations, workspace, resume="0") as other:
            await take_over(other)
            await told(one)
            await other.talk(MORE)
            await decide(one, "t")
            await one.until(lambda: said(one) == [WORDS, MORE])
            await one.ready()
            await told(other)
            await one.talk("find def")
            assert said(one) == [WORDS, MORE, "find def"]
            # And once more: what the first one gave up is not in the way.
            await decide(other, "t")
            await other.until(lambda: said(other) == [WORDS, MORE, "find def"])
            await other.ready()
            await other.talk("read setup.py")
            await told(one)


async def test_what_runs_is_stopped_and_what_waits_is_the_persons_again(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as one:
        await begin(one)
        await one.say("run touch made.txt")
        await one.until(lambda: one.chat.query(Approval))
        one.chat.query_one(Composer).focus()
        await one.say("and then this")
        await one.until(lambda: one.chat.query_one(QueuedMessages).display)
        async with seated(locations, workspace, resume="0") as other:
            await take_over(other)
            await told(one)
            await one.until(lambda: not one.chat.query(Approval))
            assert not (workspace / "made.txt").exists()
            assert one.chat.waiting == ("and then this",) and one.chat.query_one(Composer).text == ""
            await other.talk(MORE)
            # Sending asks what is to be done, and costs no word.
            await one.pilot.press("enter")
            await asked(one, "escape")
            await one.until(lambda: one.app.screen is one.chat)
            assert one.chat.draft == "and then this"
            await decide(one, "f")
            await one.ready()
            await one.until(lambda: one.chat.draft == "and then this")
            assert said(one) == [WORDS, "run touch made.txt"]
            service = one.chat.service
            assert service is not None
            results = [turn.status for turn in await service.transcript() if turn.role == "tool"]
            assert results[-1] is TurnStatus.INTERRUPTED


async def queue_behind_a_question(seat: Seat, *texts: str) -> None:
    await begin(seat)
    await seat.say("run touch made.txt")
    await seat.until(lambda: seat.chat.query(Approval))
    for at, text in enumerate(texts, 1):
        # The question has the keys whenever nothing is being written.
        seat.chat.query_one(Composer).focus()
        await seat.say(text)
        await seat.until(lambda at=at: len(seat.chat.waiting) == at)  # type: ignore[misc]


async def test_messages_that_wait_stay_apart_and_go_in_their_order_in_a_fork(
    locations: Locations, workspace: Path
) -> None:
    async with seated(locations, workspace) as one:
        await queue_behind_a_question(one, MORE, "!echo hello", "find def")
        async with seated(locations, workspace, resume="0") as other:
            await take_over(other)
            await told(one)
            waited = (MORE, "!echo hello", "find def")
            await one.until(lambda: one.chat.service is not None and one.chat.service.held == 3)
            assert one.chat.waiting == waited
            await one.until(lambda: "^T" in str(one.chat.query_one(QueuedMessages).content))
            await decide(one, "f")
            await one.until(lambda: one.chat.service is not None and not one.chat.service.taken)
            await one.ready()
            assert one.chat.waiting == waited and one.chat.query_one(Composer).text == ""
            await one.pilot.press("enter")
            await one.until(lambda: said(one)[2:] == [MORE, "find def"] and not one.chat.waiting)
            await one.idle()
            assert said(other) == [WORDS, "run touch made.txt"]


async def test_messages_that_wait_go_on_where_the_session_is_taken_back(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as one:
        await queue_behind_a_question(one, MORE, "find def")
        async with seated(locations, workspace, resume="0") as other:
            await take_over(other)
            await told(one)
            await one.until(lambda: one.chat.service is not None and one.chat.service.held == 2)
            one.chat.query_one(Composer).put("half a thought")
            await decide(one, "t")
            await one.until(lambda: one.chat.service is not None and not one.chat.service.taken)
            await one.ready()
            assert one.chat.waiting == (MORE, "find def")
            assert one.chat.query_one(Composer).text == "half a thought"
            one.chat.query_one(Composer).put("")
            await one.pilot.press("enter")
            await one.until(lambda: said(one)[2:] == [MORE, "find def"] and not one.chat.waiting)
            await one.idle()


async def test_a_message_that_is_refused_stays_to_be_sent(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as one:
        await begin(one)
        async with seated(locations, workspace, resume="0") as other:
            await take_over(other)
            chat = one.chat
            await one.say(MORE)
            # Whether it is known already or turns out by the refusal, the words are there.
            await one.until(lambda: chat.query_one(NoticeBar).shown is Notice.TAKEN and chat.draft == MORE)
            assert said(other) == [WORDS]


async def test_leaving_goes_to_the_list_and_another_session_can_be_opened(
    locations: Locations, workspace: Path
) -> None:
    async with seated(locations, workspace) as one:
        await begin(one)
        async with seated(locations, workspace, resume="0") as other:
            await take_over(other)
            await told(one)
            await decide(one, "l")
            await one.until(lambda: isinstance(one.app.screen, PickerScreen) and len(one.rows) == 2)
            # The same one again: it is asked about like any that is open elsewhere.
            await one.pilot.press("down", "enter")
            await asked(one, "escape")
            await one.until(lambda: one.app.screen is one.chat)
            await one.pilot.press("ctrl+o")
            await one.until(lambda: isinstance(one.app.screen, PickerScreen))
            await one.pilot.press("n")
            await one.until(lambda: one.app.screen is one.chat and not said(one))
            await one.ready()
            await one.talk(WORDS)
        assert not one.chat.query_one(NoticeBar).display


async def test_one_that_was_closed_there_since_says_so(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as one:
        await begin(one)
        async with seated(locations, workspace, resume="0") as other:
            await take_over(other)
        await told(one)
        await one.pilot.press("ctrl+t")
        await one.until(lambda: isinstance(one.app.screen, HeldScreen) and one.app.screen.query(".holder"))
        assert "closed there by now" in str(one.app.screen.query_one(".holder", Static).content)
        await asked(one, "t")
        await one.ready()
        await one.talk(MORE)
        assert said(one) == [WORDS, MORE]
