"""The whole program on the screen: real archive, real tools, the offline model."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from textual.widgets import Static

from loom.archive.database import connect
from loom.archive.unsent import Unsent
from loom.config import Settings
from loom.locations import Locations
from loom.tui.choices import NewSession, OpenSession
from loom.tui.screens.archive import ArchiveScreen, ForkAt, JumpTo, PinTurn
from loom.tui.screens.chat import ChatScreen
from loom.tui.screens.choose_model import ChooseModelScreen, ModelList
from loom.tui.screens.confirm import ConfirmScreen
from loom.tui.screens.help import HelpScreen
from loom.tui.screens.picker import PickerScreen
from loom.tui.widgets.approval import Approval
from loom.tui.widgets.composer import Composer
from loom.tui.widgets.hit_list import HitList
from loom.tui.widgets.line import ErrorBlock, ReceiptLine
from loom.tui.widgets.message import AssistantMessage, UserMessage
from loom.tui.widgets.said_line import SaidLine
from loom.tui.widgets.session_list import SessionList
from loom.tui.widgets.state_panel import StatePanel
from loom.tui.widgets.status import StatusLine
from loom.tui.widgets.tool_card import CardState
from loom.tui.widgets.transcript import Transcript
from tests.support.seat import Seat, seated
from tests.support.unsent import put_unsent


def welcome(seat: Seat) -> str:
    """What the welcome says; empty when there is none."""
    return "\n".join(str(each.content) for each in seat.chat.query("Welcome Static").results(Static))


async def test_an_empty_conversation_greets_until_the_first_message(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        for said in ("never forgets", str(workspace.name), "offline: no intelligence", "Send help", "F1", "^F"):
            assert said in welcome(seat)
        await seat.talk("read README.md")
        assert not welcome(seat)
        assert seat.chat.query(UserMessage)
    async with seated(locations, workspace, resume="0") as seat:
        await seat.ready()
        assert not welcome(seat)


async def test_the_welcome_knows_what_to_set_and_says_it_once(
    locations: Locations, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OLLAMA_BASE_URL", "http://127.0.0.1:9/v1")
    async with seated(locations, workspace, settings=Settings(model="auto")) as seat:
        await seat.ready()
        await seat.chat.drawn()
        assert "set ANTHROPIC_API_KEY" in welcome(seat)
        assert not seat.app.said


async def test_the_welcome_follows_a_change_of_the_model(
    locations: Locations, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-real-one")
    async with seated(locations, workspace, wanted_model="nobody:nothing") as seat:
        await seat.until(lambda: "cannot be used" in welcome(seat))
        await seat.say("/model anthropic:claude-sonnet-5-5")
        await seat.until(lambda: "anthropic:claude-sonnet-5-5, asked for" in welcome(seat))
        assert "cannot be used" not in welcome(seat)


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
        await seat.until(lambda: seat.chat.service is not None and seat.chat.service.problem is not None)
        await seat.until(lambda: "cannot be used" in welcome(seat))
        assert "`nobody` is no provider" in welcome(seat) and "/model chooses another" in welcome(seat)
        assert not seat.app.said
        await seat.say("hello")
        await seat.until(lambda: seat.app.said)
        assert seat.chat.draft == "hello"
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


async def test_what_was_being_written_is_there_after_leaving(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        seat.chat.query_one(Composer).put("before the first message")
        await seat.pilot.press("ctrl+q")
    async with seated(locations, workspace, fresh=True) as seat:
        await seat.ready()
        assert seat.chat.draft == "before the first message"
        await seat.pilot.press("ctrl+c")
        await seat.talk("read README.md")
        seat.chat.query_one(Composer).put("after it")
        await seat.pilot.press("ctrl+q")
    async with seated(locations, workspace, fresh=True) as seat:
        await seat.ready()
        assert seat.chat.draft == ""
    async with seated(locations, workspace, resume="0") as seat:
        await seat.ready()
        assert seat.chat.draft == "after it"


async def test_a_draft_goes_to_the_disk_while_it_is_written(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        seat.chat.query_one(Composer).put("half a thought")
        await seat.until(lambda: list(locations.unsent.glob("new-*.txt")))
        await seat.talk("read README.md")
        await seat.until(lambda: not list(locations.unsent.iterdir()))


async def test_a_message_that_was_stored_is_no_draft_any_more(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
        session_id = seat.session_id
    put_unsent(Unsent(locations.unsent), session_id, "read README.md")
    async with seated(locations, workspace, resume="0") as seat:
        await seat.ready()
        assert seat.chat.draft == ""


async def test_a_message_stays_a_draft_until_it_is_stored(locations: Locations, workspace: Path) -> None:
    def kept() -> list[str]:
        return [file.read_text(encoding="utf-8") for file in locations.unsent.glob("*.txt")]

    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
        other = sqlite3.connect(locations.archive, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        await seat.say("words that matter")
        await seat.say("and more of them")
        await seat.until(lambda: kept() == ["words that matter\n\nand more of them"])
        assert seat.chat.draft == "and more of them"
        other.execute("ROLLBACK")
        other.close()
        await seat.until(lambda: not kept())
        await seat.until(lambda: seat.chat.service is not None and not seat.chat.service.waiting)
        await seat.idle()


async def test_words_written_in_a_session_that_is_only_read_are_there_after_leaving(
    locations: Locations, workspace: Path
) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
        first = seat.session_id
        seat.chat.query_one(Composer).put("mine")
        await seat.until(lambda: list(locations.unsent.glob("*.txt")))
        async with seated(locations, workspace) as reader:
            await reader.until(lambda: isinstance(reader.app.screen, PickerScreen) and reader.rows)
            reader.app.screen.dismiss(OpenSession(first, read_only=True))
            await reader.ready()
            assert reader.chat.service is not None and reader.chat.service.read_only
            reader.chat.query_one(Composer).put("written while reading")
            await reader.pilot.press("ctrl+q")
            await reader.until(lambda: not reader.app.is_running)
        assert seat.chat.draft == "mine"
        await seat.pilot.press("ctrl+q")
    async with seated(locations, workspace, resume=first) as seat:
        await seat.ready()
        assert sorted(seat.chat.draft.split("\n\n")) == ["mine", "written while reading"]


async def test_two_new_conversations_in_one_folder_keep_their_own_words(locations: Locations, workspace: Path) -> None:
    def kept() -> list[str]:
        return sorted(file.read_text(encoding="utf-8") for file in locations.unsent.glob("*.txt"))

    async with seated(locations, workspace) as one:
        await one.ready()
        one.chat.query_one(Composer).put("alpha")
        await one.until(lambda: kept() == ["alpha"])
        async with seated(locations, workspace, fresh=True) as other:
            await other.ready()
            assert other.chat.draft == ""
            other.chat.query_one(Composer).put("read README.md")
            await other.until(lambda: kept() == ["alpha", "read README.md"])
            await other.talk("read README.md")
            await other.until(lambda: kept() == ["alpha"])
        assert one.chat.draft == "alpha"
    async with seated(locations, workspace, fresh=True) as again:
        await again.ready()
        assert again.chat.draft == "alpha"


async def test_ctrl_c_twice_leaves_but_not_twice_slowly(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.pilot.press("ctrl+c")
        seat.clock.advance(5)
        await seat.pilot.press("ctrl+c")
        assert seat.app.is_running
        seat.clock.advance(1)
        await seat.pilot.press("ctrl+c")
        await seat.until(lambda: not seat.app.is_running)
        assert seat.app.return_code == 0


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


async def test_a_hit_of_another_session_is_shown_to_be_read_and_can_be_gone_on_with(
    locations: Locations, workspace: Path
) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
        first = seat.session_id
        seat.app.visit(NewSession())
        await seat.until(lambda: isinstance(seat.app.screen, ChatScreen) and not seat.chat.query(UserMessage))
        await seat.ready()
        seat.app.visit(JumpTo(first, 1))
        await seat.until(lambda: isinstance(seat.app.screen, ChatScreen) and seat.chat.query(".-found"))
        await seat.ready()
        assert seat.chat.service is not None and seat.chat.service.read_only and seat.session_id == first
        (found,) = seat.chat.query(".-found")
        transcript = seat.chat.query_one(Transcript)
        await seat.until(lambda: transcript.region.contains_region(found.region) and found.size)
        await seat.say("more")
        # Taken from the box and given back to it.
        await seat.until(lambda: any("to read only; your text" in said for said in seat.app.said))
        assert seat.chat.draft == "more"
        seat.app.visit(OpenSession(first))
        await seat.until(lambda: isinstance(seat.app.screen, ChatScreen) and not seat.chat.query(".-found"))
        await seat.ready()
        assert seat.chat.service is not None and not seat.chat.service.read_only and seat.session_id == first
        assert seat.chat.draft == "more"


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


async def test_a_model_is_chosen_from_a_list_of_those_that_can_be_used(
    locations: Locations, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-real-one")
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.say("/model")
        await seat.until(lambda: isinstance(seat.app.screen, ChooseModelScreen) and seat.app.screen.query(ModelList))
        offered = [each.name for each in seat.app.screen.query_one(ModelList).items]
        assert offered[0].startswith("anthropic:") and offered[-1] == "offline"
        await seat.pilot.press("enter")
        await seat.until(lambda: seat.chat.service is not None and seat.chat.service.choice.name == offered[0])


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
        assert "No session goes by `nosuch`" in str(seat.app.screen.query_one("#said", Static).content)
        await seat.pilot.press("enter")
        await seat.ready()
        assert "never forgets" in welcome(seat)


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


async def test_what_is_wrong_with_a_model_is_said_once(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace, wanted_model="nobody:nothing") as seat:
        await seat.until(lambda: "is no provider" in welcome(seat))
        await seat.until(lambda: seat.chat.service is not None and seat.chat.service.problem is not None)
        await seat.chat.drawn()
        assert welcome(seat).count("is no provider") == 1


async def test_the_choice_of_the_state_panel_is_remembered(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace, size=(110, 40)) as seat:
        await seat.ready()
        assert not seat.chat.query_one(StatePanel).display
        await seat.pilot.press("ctrl+s")
        await seat.until(locations.view.exists)
    async with seated(locations, workspace, size=(110, 40)) as seat:
        await seat.ready()
        await seat.until(lambda: seat.chat.query_one(StatePanel).display)
    async with seated(locations, workspace, size=(70, 40)) as seat:
        await seat.ready()
        assert not seat.chat.query_one(StatePanel).display


async def test_a_named_file_goes_along_and_its_text_stays_out_of_sight(locations: Locations, workspace: Path) -> None:
    (workspace / "rules.md").write_text("Never touch the schema.\n")
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("list . as in @rules.md")
        service = seat.chat.service
        assert service is not None
        turns = await service.transcript()
        assert "Never touch the schema." in (turns[0].content or "")
        drawn = " ".join(str(each.content) for each in seat.chat.query("UserMessage Static").results(Static))
        assert "[attached: rules.md, 24 bytes]" in drawn
        assert "Never touch" not in drawn
        assert "Never touch" not in service.state_yaml()
        await seat.pilot.press("up")
        assert seat.chat.draft == "list . as in @rules.md"
    async with seated(locations, workspace, resume="0") as seat:
        await seat.ready()
        await seat.pilot.press("up")
        assert seat.chat.draft == "list . as in @rules.md"


async def test_leaving_asks_where_it_would_cost_what_no_disk_took(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
        locations.spool.write_text("")  # takes nothing
        with closing(connect(locations.archive)) as other:
            # As a disk that is full: whoever writes a turn is refused.
            other.execute(
                "CREATE TRIGGER full BEFORE INSERT ON conversation_turns BEGIN SELECT RAISE(ABORT, 'full'); END"
            )
        await seat.say("say something else")
        await seat.until(lambda: seat.app.unstored)
        await seat.pilot.press("ctrl+q")
        await seat.until(lambda: isinstance(seat.app.screen, ConfirmScreen))
        seat.clock.advance(1)
        await seat.pilot.press("n")
        await seat.until(lambda: isinstance(seat.app.screen, ChatScreen))
        await seat.say("/new")
        await seat.until(lambda: any("on no disk yet" in str(each.render()) for each in seat.chat.query(ErrorBlock)))
        await seat.pilot.press("ctrl+q")
        await seat.until(lambda: isinstance(seat.app.screen, ConfirmScreen))
        seat.clock.advance(1)
        await seat.pilot.press("y")
        await seat.until(lambda: not seat.app.is_running)
    assert seat.app.unstored == ("say something else",)
