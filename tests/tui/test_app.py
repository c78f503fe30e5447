"""The whole program on the screen: real archive, real tools, the offline model."""

from __future__ import annotations

from pathlib import Path

from loom.locations import Locations
from loom.tui.screens.archive import JumpTo, PinTurn
from loom.tui.screens.chat import ChatScreen
from loom.tui.screens.help import HelpScreen
from loom.tui.screens.picker import PickerScreen
from loom.tui.widgets.approval import Approval
from loom.tui.widgets.composer import Composer
from loom.tui.widgets.line import ErrorBlock
from loom.tui.widgets.message import AssistantMessage, UserMessage
from loom.tui.widgets.tool_card import CardState
from tests.support.seat import seated


async def test_a_first_start_goes_straight_to_a_new_session_and_answers(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.say("read README.md")
        await seat.until(lambda: seat.chat.query(AssistantMessage))
        await seat.idle()
        assert ("read_file", CardState.DONE) in seat.cards()
        assert [m.turn_number for m in seat.chat.query(UserMessage)] == [1]


async def test_an_effect_is_asked_for_and_a_no_changes_nothing(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.say("run touch made.txt")
        await seat.until(lambda: seat.chat.query(Approval))
        question = seat.chat.query_one(Approval)
        assert "touch made.txt" in question.asked.preview.body
        seat.clock.advance(1)
        await seat.pilot.press("n", "n", "o", "enter")
        await seat.idle()
        assert not (workspace / "made.txt").exists()
        assert ("shell_execute", CardState.DENIED) in seat.cards()


async def test_a_resumed_session_shows_what_was_said(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.say("read README.md")
        await seat.until(lambda: seat.chat.query(AssistantMessage))
        await seat.idle()
        before = seat.cards()
    async with seated(locations, workspace, resume="0") as seat:
        await seat.ready()
        await seat.idle()
        assert seat.cards() == before
        assert [m.text for m in seat.chat.query(UserMessage)] == ["read README.md"]


async def test_a_later_start_offers_the_sessions(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.say("read README.md")
        await seat.until(lambda: seat.chat.query(AssistantMessage))
        await seat.idle()
    async with seated(locations, workspace) as seat:
        await seat.until(lambda: isinstance(seat.app.screen, PickerScreen))
        await seat.pilot.pause()
        await seat.pilot.press("down", "enter")
        await seat.ready()
        await seat.idle()
        assert [m.text for m in seat.chat.query(UserMessage)] == ["read README.md"]


async def test_a_message_written_before_anything_is_ready_is_answered(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace, fresh=True) as seat:
        await seat.say("read README.md")
        await seat.until(lambda: seat.chat.query(AssistantMessage))
        await seat.idle()
        assert [m.text for m in seat.chat.query(UserMessage)] == ["read README.md"]


async def test_a_draft_is_there_after_a_look_elsewhere(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.pilot.press("d", "r", "a", "f", "t", "f1")
        await seat.until(lambda: isinstance(seat.app.screen, HelpScreen))
        await seat.pilot.press("escape")
        await seat.until(lambda: isinstance(seat.app.screen, ChatScreen))
        assert seat.chat.draft == "draft"


async def test_a_home_that_cannot_be_used_is_said_in_words(tmp_path: Path, workspace: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the folder should be", encoding="utf-8")
    async with seated(Locations(home=blocked, config=tmp_path / "c.toml"), workspace) as seat:
        await seat.until(lambda: seat.chat.query(ErrorBlock))
        assert str(blocked) in str(seat.chat.query_one(ErrorBlock).render())


async def test_an_unknown_model_is_said_and_the_archive_still_opens(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace, wanted_model="nobody:nothing") as seat:
        await seat.until(lambda: seat.chat.service is not None and seat.app._notifications)
        assert any("nobody" in n.message for n in seat.app._notifications)
        await seat.pilot.press("ctrl+f")
        await seat.pilot.pause()
        assert type(seat.app.screen).__name__ == "ArchiveScreen"


async def test_esc_stops_an_exchange_that_waits_for_an_answer(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.say("run touch made.txt")
        await seat.until(lambda: seat.chat.query(Approval))
        await seat.pilot.press("escape")
        await seat.idle()
        assert not seat.chat.query(Approval)
        assert not (workspace / "made.txt").exists()
        assert seat.chat.query_one(Composer).has_focus
        await seat.say("read README.md")
        await seat.until(lambda: ("read_file", CardState.DONE) in seat.cards())


async def test_leaving_in_the_middle_of_an_exchange_keeps_it(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.say("run touch made.txt")
        await seat.until(lambda: seat.chat.query(Approval))
        await seat.pilot.press("ctrl+q")
    async with seated(locations, workspace, resume="0") as seat:
        await seat.ready()
        await seat.idle()
        assert [m.text for m in seat.chat.query(UserMessage)] == ["run touch made.txt"]
        assert not [state for _, state in seat.cards() if state in (CardState.DONE, CardState.RUNNING)]
        assert not (workspace / "made.txt").exists()


async def test_each_session_keeps_its_draft(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.say("read README.md")
        await seat.until(lambda: seat.chat.query(AssistantMessage))
        await seat.idle()
        await seat.pilot.press("o", "n", "e")
        first = seat.chat
        seat.chat.action_command("new")
        await seat.until(lambda: isinstance(seat.app.screen, ChatScreen) and seat.app.screen is not first)
        await seat.ready()
        assert seat.chat.draft == ""
        await seat.pilot.press("ctrl+o")
        await seat.until(lambda: isinstance(seat.app.screen, PickerScreen))
        await seat.pilot.pause()
        await seat.pilot.press("down", "enter")
        await seat.until(lambda: isinstance(seat.app.screen, ChatScreen) and seat.chat.query(UserMessage))
        await seat.ready()
        assert seat.chat.draft == "one"


async def test_a_hit_in_the_archive_is_shown_in_its_transcript(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.say("read README.md")
        await seat.until(lambda: seat.chat.query(AssistantMessage))
        await seat.idle()
        seat.app.visit(JumpTo(seat.session_id, 1))
        await seat.until(lambda: seat.chat.query(".-found"))
        (found,) = seat.chat.query(".-found")
        assert isinstance(found, UserMessage)


async def test_a_pinned_turn_goes_along_with_the_next_message(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.say("read README.md")
        await seat.until(lambda: seat.chat.query(AssistantMessage))
        await seat.idle()
        seat.app.visit(PinTurn(seat.session_id, 1))
        await seat.until(lambda: seat.chat.draft)
        assert "user wrote:\nread README.md" in seat.chat.draft
        assert "T1]" in seat.chat.query_one(Composer).text
