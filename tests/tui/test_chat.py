"""The chat screen, on a conversation that the test plays."""

from __future__ import annotations

import pytest
from textual.events import Key

from loom.cowork.events import ExchangeEnded, ExchangeStarted, Outcome, SaveFailed, TextDelta, ToolStarted, TurnStored
from loom.tui.commands import COMMANDS
from loom.tui.widgets.completion import CompletionPopup
from loom.tui.widgets.composer import Composer
from loom.tui.widgets.line import ErrorBlock, ReceiptLine
from loom.tui.widgets.message import UserMessage
from loom.tui.widgets.notice_bar import NoticeBar
from loom.tui.widgets.state_panel import StatePanel
from loom.tui.widgets.transcript import Transcript
from tests.support.browsing import screen_text, until
from tests.support.turns import session_record, turn
from tests.tui.conftest import ASKED, ChatApp, settled


async def test_a_message_goes_to_the_conversation(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        await pilot.press("h", "i", "enter")
        assert app.service.sent == ["hi"]
        assert app.chat.draft == ""


async def test_until_it_is_open_nothing_looks_like_a_new_conversation() -> None:
    app = ChatApp(attached=False)
    async with app.run_test(size=(160, 30)) as pilot:
        await pilot.press("ctrl+s")
        before = screen_text(app)
        assert "opening…" in before and "new session" not in before and "Nothing yet" not in before
        await app.chat.attach(app.service)
        await settled(pilot, app)
        assert "new session" in screen_text(app)


async def test_a_message_without_an_answer_is_said_and_ctrl_r_asks_again(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        assert "has no answer" not in screen_text(app)
        await pilot.press("ctrl+r")
        await settled(pilot, app)
        assert app.service.asked_again == 0
        app.service.unanswered = turn(7, "user", "Why?")
        app.service.tell(ExchangeEnded(3, Outcome.FAILED, "The server is down."))
        await settled(pilot, app)
        assert "T7 has no answer. Ctrl+R asks for it" in screen_text(app)
        assert "^R Ask again" in screen_text(app)
        await pilot.press("ctrl+r")
        await settled(pilot, app)
        assert app.service.asked_again == 1
        app.service.tell(ExchangeStarted(3))
        await settled(pilot, app)
        assert "has no answer" not in screen_text(app)


async def test_an_at_sign_offers_files_and_enter_writes_the_path(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        composer, popup = app.chat.query_one(Composer), app.chat.query_one(CompletionPopup)
        await pilot.press("s", "e", "e", "space", "@", "a", "u")
        while not popup.is_open:
            await pilot.pause()
        await pilot.press("enter")
        assert composer.text == "see @src/auth.py "
        await pilot.press("@", "w", "i")
        while not popup.is_open:
            await pilot.pause()
        await pilot.press("tab")
        assert composer.text == 'see @src/auth.py @"with space.txt" '
        assert not popup.is_open
        await pilot.press("enter")
        assert app.service.sent == ['see @src/auth.py @"with space.txt"']


async def test_an_address_and_a_lone_at_sign_offer_nothing(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        composer, popup = app.chat.query_one(Composer), app.chat.query_one(CompletionPopup)
        for text in ("ada@au", "see @ au", "@src/auth.py and", "@zzz"):
            composer.put(text)
            await pilot.pause()
            while any(each.group == "paths" for each in app.workers):
                await pilot.pause()
            await pilot.pause()
            assert not popup.is_open, text


async def test_ctrl_c_copies_then_clears_then_interrupts(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        composer = app.chat.query_one(Composer)
        app.service.busy = True
        await pilot.press("h", "e", "y", "shift+left", "ctrl+c")
        assert (app.clipboard, composer.text, app.service.interrupts) == ("y", "hey", 0)
        await pilot.press("end", "ctrl+c")
        assert (composer.text, app.service.interrupts) == ("", 0)
        await pilot.press("ctrl+z")
        assert composer.text == "hey"
        await pilot.press("ctrl+c", "ctrl+c")
        assert app.service.interrupts == 1


async def test_esc_interrupts_only_what_runs(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        await pilot.press("escape")
        assert app.service.interrupts == 0
        app.service.busy = True
        app.service.tell(ExchangeStarted(2))
        await settled(pilot, app)
        await pilot.press("escape")
        assert app.service.interrupts == 1


async def test_an_unknown_command_keeps_its_text(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        await pilot.press(*"/frob", "enter")
        await pilot.pause()
        assert app.chat.draft == "/frob"
        assert app.service.sent == []
        assert "There is no /frob." in str(app.chat.query_one(ErrorBlock).render()), "where every command says it"


async def test_a_command_that_fails_says_why_and_gives_its_text_back(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.chat.query_one(Composer).insert("/model nope:x")
        await pilot.press("enter")
        await pilot.pause()
        assert "There is no model nope:x" in str(app.chat.query_one(ErrorBlock).render())
        assert app.chat.draft == "/model nope:x"


async def test_words_behind_a_command_that_takes_none_are_not_passed_over(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        for name in (command.name for command in COMMANDS if not command.args):
            app.chat.query_one(Composer).put(f"/{name} and a poem")
            await pilot.press("enter")
            await settled(pilot, app)
            assert f"/{name} takes no words." in str(app.chat.query(ErrorBlock).last().render())
            assert app.chat.draft == f"/{name} and a poem"
        assert app.went == []


async def test_copy_takes_the_last_answer_or_the_turn_that_is_named() -> None:
    said = [turn(1, "user", "Why?"), turn(2, "assistant", "**Because** [/foo]"), turn(3, "user", "Ah.")]
    app = ChatApp(turns=said, session=session_record())
    async with app.run_test() as pilot:
        for asked, copied in (("/copy", "**Because** [/foo]"), ("/copy t1", "Why?")):
            app.chat.query_one(Composer).put(asked)
            await pilot.press("enter")
            await until(pilot, lambda copied=copied: app.clipboard == copied)
        for asked in ("/copy T9", "/copy all of it"):
            app.chat.query_one(Composer).put(asked)
            await pilot.press("enter")
            await settled(pilot, app)
            assert "There is no turn" in str(app.chat.query(ErrorBlock).last().render())
            assert app.chat.draft == asked
        assert app.clipboard == "Why?"


async def test_in_tmux_it_is_said_once_what_copying_needs_there(monkeypatch: pytest.MonkeyPatch) -> None:
    for inside in (False, True):
        if inside:
            monkeypatch.setenv("TMUX", "/tmp/tmux-1000/default,4242,0")
        app = ChatApp(turns=[turn(1, "user", "Why?")], session=session_record())
        async with app.run_test() as pilot:
            for _ in range(2):
                app.chat.query_one(Composer).put("/copy T1")
                await pilot.press("enter")
                await until(pilot, lambda app=app: any("T1 copied" in words for words in app.said))
            assert sum("set-clipboard" in words for words in app.said) == inside


async def test_there_is_nothing_to_copy_before_an_answer() -> None:
    app = ChatApp(turns=[], session=None)
    async with app.run_test() as pilot:
        app.chat.query_one(Composer).put("/copy")
        await pilot.press("enter")
        await settled(pilot, app)
        assert "There is no answer yet." in str(app.chat.query(ErrorBlock).last().render())


async def test_a_command_that_lacks_its_words_waits_for_them(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.chat.query_one(Composer).put("/rename")
        await pilot.press("enter")
        await settled(pilot, app)
        assert "/rename needs the new title." in str(app.chat.query(ErrorBlock).last().render())
        assert app.chat.draft == "/rename "


async def test_commands_that_leave_the_screen_tell_the_app(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.chat.query_one(Composer).insert("/recall the flag")
        await pilot.press("enter", "f1", "f2", "ctrl+o", "ctrl+f")
        await pilot.pause()
        assert [(goto.place, goto.argument) for goto in app.went] == [
            ("archive", "the flag"),
            ("help", ""),
            ("context", ""),
            ("sessions", ""),
            ("archive", ""),
        ]


async def test_of_what_was_stopped_before_an_answer_nothing_is_said_to_have_arrived(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.service.tell(ExchangeStarted(4), TurnStored(turn(7, "user", "Why?")))
        app.service.unanswered = turn(7, "user", "Why?")
        app.service.tell(ExchangeEnded(4, Outcome.INTERRUPTED))
        await settled(pilot, app)
        assert "Interrupted." in [line.source for line in app.chat.query(ReceiptLine)]
        assert "T7 has no answer" in screen_text(app)


async def test_a_message_that_no_turn_shows_is_named_where_it_is_kept(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.service.tell(SaveFailed("The disk is full.", "Free some space.", "list [src]\nand all"))
        await settled(pilot, app)
        assert "“list [src] and all” is kept. Ctrl+R" in str(app.chat.query_one(NoticeBar).content)


async def test_a_failed_save_stays_in_view_until_it_is_written_again(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.service.tell(SaveFailed("The disk is full.", "Free some space."))
        await settled(pilot, app)
        assert app.chat.query_one(NoticeBar).display
        await pilot.press("ctrl+r")
        await pilot.pause()
        assert app.service.saves == 1
        assert not app.chat.query_one(NoticeBar).display
        await pilot.press("ctrl+r")
        assert app.service.saves == 1


async def test_a_failed_exchange_says_why(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.service.tell(ExchangeStarted(2), ExchangeEnded(2, Outcome.FAILED, "429 [/foo] wait"))
        await settled(pilot, app)
        assert str(app.chat.query_one(ErrorBlock).render()) == "429 [/foo] wait"


async def test_an_event_that_cannot_be_drawn_ends_the_exchange_and_not_the_program(
    app: ChatApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app.run_test() as pilot:

        async def broken(text: str) -> None:
            raise RuntimeError("no such colour")

        monkeypatch.setattr(app.chat.query_one(Transcript), "add_text", broken)
        app.service.busy = True
        app.service.tell(TextDelta("x"), TurnStored(turn(2, "user", "still drawn")))
        await settled(pilot, app)
        assert app.service.interrupts == 1
        assert "no such colour" in str(app.chat.query_one(ErrorBlock).render())
        assert [message.text for message in app.chat.query(UserMessage)] == ["Hello", "still drawn"]


async def test_a_read_only_session_keeps_the_text(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.service.read_only = True
        await pilot.press("h", "i", "enter")
        assert app.chat.draft == "hi"
        assert app.service.sent == []


async def test_the_state_is_shown_where_there_is_room_and_on_demand(app: ChatApp) -> None:
    async with app.run_test(size=(120, 30)) as pilot:
        panel = app.chat.query_one(StatePanel)
        assert panel.display
        await pilot.press("ctrl+s")
        assert not panel.display
        await pilot.resize_terminal(60, 16)
        assert not panel.display
        await pilot.press("ctrl+s")
        assert panel.display


async def test_letters_typed_on_a_card_reach_the_composer(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.service.tell(ToolStarted("c1", "shell_execute", {"command": "make"}, 2))
        await settled(pilot, app)
        await pilot.press("shift+tab")
        assert not app.chat.query_one(Composer).has_focus
        await pilot.press("h", "i")
        assert app.chat.draft == "hi"


async def test_history_holds_what_was_said_in_the_session(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        await pilot.press("up")
        assert app.chat.query_one(Composer).text == "Hello"


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (100, 30), (200, 60)])
async def test_everything_is_in_view_at_any_size(app: ChatApp, size: tuple[int, int]) -> None:
    async with app.run_test(size=size) as pilot:
        app.service.busy = True
        app.service.tell(ExchangeStarted(2), ToolStarted("c1", "shell_execute", {"command": "make"}, 2), ASKED)
        await settled(pilot, app)
        for part in ("#status", "#composer", "#gauge", "Footer", ".answers", "Approval TextView"):
            region = app.chat.query_one(part).region
            assert region.height > 0, part
            assert app.chat.region.contains_region(region), part


async def test_paging_through_what_is_in_view_whole_does_nothing(app: ChatApp) -> None:
    async with app.run_test(size=(100, 40)) as pilot:
        await settled(pilot, app)
        await pilot.press("pageup", "pagedown", "x")
        assert app.chat.query_one(Composer).text == "x"


async def test_none_of_many_letters_typed_at_once_on_a_card_is_lost(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.service.tell(ToolStarted("c1", "shell_execute", {"command": "make"}, 2))
        await settled(pilot, app)
        await pilot.press("shift+tab")
        for key in (*"hello popw", "backspace", "enter"):
            app.post_message(Key("space" if key == " " else key, key if len(key) == 1 else None))
        await settled(pilot, app)
        assert app.service.sent == ["hello pop"]
