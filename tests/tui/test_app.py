"""The whole program on the screen: real archive, real tools, the offline model."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from textual.widgets import Static

from loom.archive import ConversationStore
from loom.archive.database import connect
from loom.config import ConfigError, Settings
from loom.locations import Locations
from loom.tui.app import LoomApp
from loom.tui.screens.chat import ChatScreen
from loom.tui.screens.choose_model import ChooseModelScreen, ModelList
from loom.tui.screens.confirm import ConfirmScreen
from loom.tui.widgets.approval import Approval
from loom.tui.widgets.card_title import CardState
from loom.tui.widgets.composer import Composer
from loom.tui.widgets.gauge import Gauge
from loom.tui.widgets.line import ErrorBlock
from loom.tui.widgets.message import AssistantMessage, UserMessage
from loom.tui.widgets.state_panel import StatePanel
from loom.tui.widgets.status import StatusLine
from tests.support.seat import seated


async def test_an_empty_conversation_greets_until_the_first_message(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        for said in ("never forgets", str(workspace.name), "offline: no intelligence", "Send help", "F1", "^F"):
            assert said in seat.welcome
        await seat.talk("read README.md")
        assert not seat.welcome
        assert seat.chat.query(UserMessage)
    async with seated(locations, workspace, resume="0") as seat:
        await seat.ready()
        assert not seat.welcome


def test_a_theme_that_there_is_not_is_named_with_those_that_there_are(locations: Locations, workspace: Path) -> None:
    with pytest.raises(ConfigError, match=r"`theme` is 'loom-drak'.+loom-dark, loom-light"):
        LoomApp(locations, Settings(theme="loom-drak"), workspace)
    assert LoomApp(locations, Settings(theme="nord"), workspace).theme == "nord", "one of Textual's own"


async def test_the_welcome_knows_what_to_set_and_says_it_once(
    locations: Locations, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OLLAMA_BASE_URL", "http://127.0.0.1:9/v1")
    async with seated(locations, workspace, settings=Settings(model="auto")) as seat:
        await seat.ready()
        await seat.chat.drawn()
        assert "set ANTHROPIC_API_KEY" in seat.welcome
        assert not seat.app.said


async def test_the_welcome_follows_a_change_of_the_model(
    locations: Locations, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-real-one")
    async with seated(locations, workspace, wanted_model="nobody:nothing") as seat:
        await seat.until(lambda: "is no provider" in seat.welcome)
        await seat.say("/model anthropic:claude-sonnet-5-5")
        await seat.until(lambda: "anthropic:claude-sonnet-5-5, asked for" in seat.welcome)
        assert "is no provider" not in seat.welcome


async def test_a_first_start_goes_straight_to_a_new_session_and_answers(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.talk("read README.md")
        assert ("read_file", CardState.DONE) in seat.cards()
        assert [m.turn_number for m in seat.chat.query(UserMessage)] == [1]


async def test_an_effect_is_asked_for_and_a_no_changes_nothing(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.say("run touch made.txt")
        await seat.until(lambda: any(question.has_focus for question in seat.chat.query(Approval)))
        question = seat.chat.query_one(Approval)
        assert "touch made.txt" in question.asked.preview.body
        seat.clock.advance(1)
        await seat.pilot.press("n", "n", "o", "enter")
        await seat.idle()
        assert not (workspace / "made.txt").exists()
        assert ("shell_execute", CardState.DENIED) in seat.cards()


async def test_a_message_written_before_anything_is_ready_is_answered(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace, fresh=True) as seat:
        await seat.say("read README.md")
        await seat.until(lambda: seat.chat.query(AssistantMessage))
        await seat.idle()
        assert [m.text for m in seat.chat.query(UserMessage)] == ["read README.md"]


async def test_a_home_that_cannot_be_used_is_said_in_words(tmp_path: Path, workspace: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the folder should be", encoding="utf-8")
    async with seated(Locations(home=blocked, config=tmp_path / "c.toml"), workspace) as seat:
        await seat.until(lambda: seat.chat.query(ErrorBlock))
        assert str(blocked) in str(seat.chat.query_one(ErrorBlock).render())


async def test_a_session_whose_model_has_no_key_says_what_to_set_and_counts_nothing(
    locations: Locations, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    locations.prepare()
    store = await ConversationStore.open(locations.archive)
    session = await store.create_session(workspace, "anthropic:claude-sonnet-4-5", "")
    await store.append_turn(session, "user", "What is the port?")
    await store.close()
    async with seated(locations, workspace, settings=Settings(model="auto"), resume="0", wanted_model="") as seat:
        await seat.until(lambda: any("cannot be used" in said for said in seat.app.said))
        [said] = [said for said in seat.app.said if "cannot be used" in said]
        assert "ANTHROPIC_API_KEY is not set" in said and "Provider(" not in said and "--model" not in said
        await seat.until(lambda: "the model cannot be used" in str(seat.chat.query_one(Gauge).render()))
        await seat.pilot.press("f2")
        await seat.until(lambda: any("The window is not counted" in said for said in seat.app.said))


async def test_an_unknown_model_is_said_and_the_archive_still_opens(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace, wanted_model="nobody:nothing") as seat:
        await seat.until(lambda: seat.chat.service is not None and seat.chat.service.problem is not None)
        await seat.until(lambda: "`nobody` is no provider" in seat.welcome)
        assert "/model chooses another" in seat.welcome
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


async def test_ctrl_d_with_nothing_written_leaves_when_it_comes_twice(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.pilot.press("h", "i", "home", "ctrl+d", "ctrl+d", "!", "ctrl+d", "ctrl+d", "backspace")
        assert seat.chat.draft == "" and not seat.app.said, "with something written it deletes"
        await seat.pilot.press("ctrl+d")
        assert seat.app.said == ("Press Ctrl+D again to quit.",)
        await seat.pilot.press("x", "backspace", "ctrl+d")
        assert seat.app.is_running
        await seat.pilot.press("ctrl+d")
        await seat.until(lambda: not seat.app.is_running)
        assert seat.app.return_code == 0


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


async def test_what_is_wrong_with_a_model_is_said_once(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace, wanted_model="nobody:nothing") as seat:
        await seat.until(lambda: "is no provider" in seat.welcome)
        await seat.until(lambda: seat.chat.service is not None and seat.chat.service.problem is not None)
        await seat.chat.drawn()
        assert seat.welcome.count("is no provider") == 1


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


async def test_a_choice_of_the_state_panel_that_cannot_be_kept_is_named(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace, size=(110, 40)) as seat:
        await seat.ready()
        locations.view.mkdir()
        await seat.pilot.press("ctrl+s")
        await seat.until(lambda: "The panel is not remembered" in str(seat.app.said))
        assert seat.chat.query_one(StatePanel).display


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
        assert seat.chat.query_one(Composer).text == "list . as in @rules.md"
    async with seated(locations, workspace, resume="0") as seat:
        await seat.ready()
        await seat.pilot.press("up")
        assert seat.chat.query_one(Composer).text == "list . as in @rules.md"


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


async def test_the_first_message_gives_the_title_while_it_is_answered(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace) as seat:
        await seat.ready()
        await seat.say("run touch made.txt")
        await seat.until(lambda: seat.chat.query(Approval))
        assert "run touch made.txt" in str(seat.chat.query_one(StatusLine).render())
