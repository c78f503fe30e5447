"""The chat screen, on a conversation that the test plays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from textual.events import Key
from textual.pilot import Pilot
from textual.widgets import Static

from loom.cowork.events import (
    ApprovalAnswered,
    ApprovalAsked,
    Decision,
    ExchangeEnded,
    ExchangeStarted,
    Notice,
    Outcome,
    SaveFailed,
    TextDelta,
    ToolStarted,
    TurnStored,
)
from loom.tools.outcome import Preview
from loom.tui.passing import Passing
from loom.tui.screens.whole import WholeTextScreen
from loom.tui.widgets.approval import Approval
from loom.tui.widgets.completion import CompletionPopup
from loom.tui.widgets.composer import Composer
from loom.tui.widgets.gauge import Gauge
from loom.tui.widgets.line import ErrorBlock
from loom.tui.widgets.message import UserMessage
from loom.tui.widgets.notice_bar import Notice as StandingNotice
from loom.tui.widgets.notice_bar import NoticeBar
from loom.tui.widgets.queue import QueuedMessages
from loom.tui.widgets.said_line import SaidLine
from loom.tui.widgets.state_panel import StatePanel
from loom.tui.widgets.transcript import Transcript
from tests.support.browsing import screen_text
from tests.support.clock import Clock
from tests.support.turns import session_record, turn
from tests.tui.conftest import ChatApp

ASKED = ApprovalAsked("c1", "shell_execute", Preview("Run a command", "make", "command", "exactly this", "k"))


@pytest.fixture
def app() -> ChatApp:
    return ChatApp(turns=[turn(1, "user", "Hello")], session=session_record())


async def settled(pilot: Pilot[Any], app: ChatApp) -> None:
    await app.chat.drawn()
    await pilot.pause()


async def test_a_message_goes_to_the_conversation(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        await pilot.press("h", "i", "enter")
        assert app.service.sent == ["hi"]
        assert app.chat.draft == ""


async def test_a_message_sent_before_the_conversation_is_there_waits_and_can_be_taken_back() -> None:
    app = ChatApp(attached=False)
    async with app.run_test() as pilot:
        await pilot.press("a", "enter", "b", "enter")
        assert app.chat.query_one(QueuedMessages).display
        await pilot.press("up")
        assert app.chat.query_one(Composer).text == "b"
        await app.chat.attach(app.service)
        assert app.service.sent == ["a"]


async def test_until_it_is_open_nothing_looks_like_a_new_conversation() -> None:
    app = ChatApp(attached=False)
    async with app.run_test(size=(160, 30)) as pilot:
        await pilot.press("ctrl+s")
        before = screen_text(app)
        assert "opening…" in before and "new session" not in before and "Nothing yet" not in before
        await app.chat.attach(app.service)
        await settled(pilot, app)
        assert "new session" in screen_text(app)


async def test_what_is_typed_while_it_works_is_queued_and_editable(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.service.busy = True
        await pilot.press("l", "a", "t", "e", "r", "enter")
        await settled(pilot, app)
        assert app.service.waiting == ("later",)
        assert app.chat.query_one(QueuedMessages).display
        await pilot.press("up")
        await settled(pilot, app)
        assert app.chat.draft == "later"
        assert app.service.waiting == ()
        assert not app.chat.query_one(QueuedMessages).display


async def test_esc_holds_what_was_queued_and_each_comes_back_as_it_was(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.service.busy = True
        for text in ("first", "!make", "third"):
            app.chat.query_one(Composer).put(text)
            await pilot.press("enter")
        app.chat.query_one(Composer).put("half")
        await settled(pilot, app)
        await pilot.press("escape")
        app.service.busy = False
        await settled(pilot, app)
        composer = app.chat.query_one(Composer)
        assert (app.service.interrupts, app.service.sent, composer.text) == (1, [], "half")
        assert "Held: an empty Enter sends them" in screen_text(app)
        await pilot.press("enter")
        await settled(pilot, app)
        assert app.service.sent == ["half"], "what is written goes, what is held does not"
        await pilot.press("up")
        await settled(pilot, app)
        assert (composer.text, composer.is_shell) == ("third", False)
        await pilot.press("ctrl+c", "up")
        await settled(pilot, app)
        assert (composer.text, composer.is_shell) == ("make", True)
        await pilot.press("ctrl+c", "escape", "enter")
        await settled(pilot, app)
        assert app.service.sent == ["half", "first"]
        assert not app.chat.query_one(QueuedMessages).display


async def test_up_on_a_question_takes_back_what_waits_unless_it_scrolls_the_question(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.service.busy = True
        app.chat.query_one(Composer).put("and then commit")
        await pilot.press("enter")
        app.service.tell(ToolStarted("c1", "shell_execute", {"command": "make"}, 2), ASKED)
        await settled(pilot, app)
        assert app.chat.query_one(Approval).has_focus
        assert "^L, then Up, takes the last one back" in screen_text(app)
        await pilot.press("up")
        await settled(pilot, app)
        composer = app.chat.query_one(Composer)
        assert (composer.text, composer.has_focus, app.service.waiting) == ("and then commit", True, ())
        assert "You are writing" in str(app.chat.query_one(Approval).query_one(".hint", Static).content)
        await pilot.press("enter")
        await settled(pilot, app)
        assert app.chat.query_one(Approval).has_focus
        long = replace(ASKED.preview, body="\n".join(f"line {n}" for n in range(100)))
        app.service.tell(ApprovalAnswered("c1", None), replace(ASKED, call_id="c2", preview=long))
        await settled(pilot, app)
        await pilot.press("down", "up", "up")
        await settled(pilot, app)
        assert (app.chat.query_one(Approval).has_focus, app.service.waiting) == (True, ("and then commit",))
        await pilot.press("ctrl+l", "up")
        await settled(pilot, app)
        assert (composer.text, composer.has_focus) == ("and then commit", True)


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


async def test_what_is_said_in_passing_covers_nothing_and_is_said_once(app: ChatApp) -> None:
    async with app.run_test(size=(60, 20), notifications=True) as pilot:
        for _ in range(3):
            app.chat.say("Something to know. [/foo] [@click=app.quit]x")
        line = app.chat.query_one(SaidLine)
        while "×3" not in str(line.content):
            await pilot.pause()
        await pilot.pause()
        assert "[/foo] [@click=app.quit]x (×3)" in str(line.content)
        around = (app.chat.query_one(Transcript), app.chat.query_one(Composer), app.chat.query_one(Gauge))
        assert line.region.height == 1 and all(line.region.intersection(each.region).area == 0 for each in around)
        assert not app.screen.query("Toast") or not any(toast.region.area for toast in app.screen.query("Toast"))


async def test_an_error_stays_until_a_key_says_that_it_was_seen(app: ChatApp) -> None:
    clock = Clock()
    app._passing = Passing(clock)
    async with app.run_test() as pilot:
        line = app.chat.query_one(SaidLine)

        async def shows(words: str) -> None:
            while words not in (str(line.content) if line.display else "nothing"):
                await pilot.pause()

        app.chat.say("This went wrong.", "error")
        app.chat.say("By the way.")
        await shows("This went wrong.  +1 more")
        await pilot.press("a")
        clock.now += 3_600
        await pilot.pause()
        await shows("This went wrong.")
        await pilot.press("b")
        await shows("By the way.")
        clock.now += 3_600
        await shows("nothing")
        assert app.chat.query_one(Composer).text == "ab"


async def shown_on(pilot: Pilot[Any], app: ChatApp, words: str) -> None:
    """Wait until the screen that is open says this; empty is nothing."""

    def line() -> str:
        found = app.screen.query(SaidLine)
        return str(found.first().content) if found and found.first().display else ""

    while words not in line() or bool(words) is not bool(line()):
        await pilot.pause()


async def test_what_is_said_of_the_conversation_stays_with_it_and_an_error_follows(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.chat.say("Forked after T12.")
        await shown_on(pilot, app, "Forked after T12.")
        await app.push_screen(WholeTextScreen("whole", "text"))
        await shown_on(pilot, app, "")
        app.chat.say("By the way.")
        app.chat.say("This went wrong.", "error")
        await shown_on(pilot, app, "This went wrong.")
        assert "more" not in str(app.screen.query_one(SaidLine).content)
        await pilot.press("escape")
        await shown_on(pilot, app, "This went wrong.  +2 more")


async def test_what_was_cleared_is_said_until_something_is_written(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.chat.query_one(Composer).put("half a thought")
        await pilot.press("ctrl+c")
        await shown_on(pilot, app, "Cleared")
        await pilot.press("n")
        await shown_on(pilot, app, "")
        await pilot.press("backspace", "ctrl+c")
        await shown_on(pilot, app, "Ctrl+C again")
        await pilot.press("n")
        await shown_on(pilot, app, "")
        await pilot.press("backspace", "ctrl+c")
        await shown_on(pilot, app, "Ctrl+C again")
        assert app.is_running, "a key between the two: nobody meant to leave"


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


async def test_a_question_gets_the_keyboard_when_nothing_is_written(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.service.busy = True
        app.service.tell(ToolStarted("c1", "shell_execute", {"command": "make"}, 2), ASKED)
        await settled(pilot, app)
        assert app.chat.query_one(Approval).has_focus
        app.clock.advance(1)
        await pilot.press("y")
        assert app.service.answers == [("c1", Decision(allowed=True))]


async def test_letters_that_come_too_soon_for_an_answer_are_written_and_an_empty_composer_hands_the_keys_back(
    app: ChatApp,
) -> None:
    async with app.run_test() as pilot:
        app.service.busy = True
        app.service.tell(ToolStarted("c1", "shell_execute", {"command": "make"}, 2), ASKED)
        await settled(pilot, app)
        await pilot.press("y", "a", "n")
        await settled(pilot, app)
        composer, question = app.chat.query_one(Composer), app.chat.query_one(Approval)
        assert (app.service.answers, composer.text, composer.has_focus) == ([], "yan", True)
        assert "You are writing" in str(question.query_one(".hint", Static).content)
        await pilot.press("backspace", "backspace", "backspace")
        await settled(pilot, app)
        assert question.has_focus
        await pilot.press("y")
        await settled(pilot, app)
        assert (app.service.answers, composer.text) == ([], "y"), "the keyboard was not quiet"
        await pilot.press("backspace")
        await settled(pilot, app)
        app.clock.advance(1)
        await pilot.press("y")
        assert app.service.answers == [("c1", Decision(allowed=True))]


BROAD = Preview(
    "Run a command (at most 120 s, in /home/ada/src/shop/with/a/long/path)",
    " && ".join(f"echo one two three four five six {number}" for number in range(40)),
    "command",
    "shell commands that are exactly this one",
    "k",
    "deletes files recursively; and writes outside of the workspace",
    'every command that begins with "git status" or more',
    "w",
)


def cut(app: ChatApp, question: Approval) -> list[str]:
    """What of a question and beside it is not to be seen whole."""
    inside = [each for each in (*question.children, app.chat.query_one(Composer)) if each.display]
    wrong = [str(each) for each in inside if not app.screen.region.contains_region(each.region)]
    if app.screen.show_vertical_scrollbar:
        wrong.append("the screen scrolls")
    hint = question.query_one(".hint", Static)
    if len(words := str(hint.content)) > hint.content_size.width:
        wrong.append(words)
    return wrong


@pytest.mark.parametrize("size", [(60, 20), (60, 24), (80, 24), (60, 30), (120, 40)])
async def test_a_question_leaves_everything_in_view_and_cuts_no_hint(app: ChatApp, size: tuple[int, int]) -> None:
    async with app.run_test(size=size) as pilot:
        app.chat.stand(StandingNotice.TRUST, "The model does not follow AGENTS.md until you trust it. Ctrl+T asks.")
        await pilot.pause()
        app.service.busy = True
        app.service.tell(
            ToolStarted("c1", "shell_execute", {"command": "make"}, 2), ApprovalAsked("c1", "shell_execute", BROAD)
        )
        await settled(pilot, app)
        question = app.chat.query_one(Approval)
        for keys in ((), ("end",), ("y",), ("p",), ("enter",), ("a",)):
            app.clock.advance(1)
            await pilot.press(*keys)
            for _ in range(50):
                # The body takes its lines when the rest has been laid out, a picture later.
                await pilot.pause()
                if not (wrong := cut(app, question)):
                    break
            assert not wrong, (keys, wrong)


async def test_a_message_sent_while_a_question_waits_hands_the_keys_back_to_it(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.service.busy = True
        app.chat.query_one(Composer).put("and then commit")
        app.service.tell(ToolStarted("c1", "shell_execute", {"command": "make"}, 2), ASKED)
        await settled(pilot, app)
        assert not app.chat.query_one(Approval).has_focus
        await pilot.press("enter")
        await settled(pilot, app)
        assert app.service.waiting == ("and then commit",)
        assert app.chat.query_one(Approval).has_focus
        app.service.tell(ApprovalAnswered("c1", Decision(allowed=True)))
        await settled(pilot, app)
        assert not app.chat.query(Approval)
        assert app.chat.query_one(Composer).has_focus


async def test_a_question_leaves_the_keyboard_to_someone_who_writes(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        await pilot.press("t", "e", "l", "l")
        app.service.busy = True
        app.service.tell(ASKED)
        await settled(pilot, app)
        app.clock.advance(5)
        await pilot.press("space", "y", "a", "n")
        assert app.chat.draft == "tell yan"
        assert app.service.answers == []
        await pilot.press("tab")
        assert app.chat.query_one(Approval).has_focus
        app.clock.advance(1)
        await pilot.press("y")
        assert app.service.answers == [("c1", Decision(allowed=True))]
        assert app.chat.draft == "tell yan"


async def test_a_sentence_begun_on_a_question_goes_to_the_composer_whole(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.service.busy = True
        app.service.tell(ASKED)
        await settled(pilot, app)
        app.clock.advance(5)
        await pilot.press("w", "h", "y")
        assert app.chat.draft == "why"
        assert app.service.answers == []


async def test_two_questions_are_asked_one_after_the_other(app: ChatApp) -> None:
    second = ApprovalAsked("c2", "write_file", Preview("Write b", "+b", "diff", "edits", "e"))
    async with app.run_test() as pilot:
        app.service.busy = True
        app.service.tell(ASKED, second)
        await settled(pilot, app)
        (shown,) = app.chat.query(Approval)
        assert shown.asked == ASKED
        app.service.tell(ApprovalAnswered("c1", None))
        await settled(pilot, app)
        (shown,) = app.chat.query(Approval)
        assert shown.asked == second
        assert shown.has_focus


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


async def test_a_notice_is_no_markup(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.service.tell(Notice("warning", "[/foo] [@click=app.quit]x"))
        await settled(pilot, app)
        assert app.said == ("[/foo] [@click=app.quit]x",)


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


async def test_none_of_many_letters_typed_at_once_on_a_card_is_lost(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.service.tell(ToolStarted("c1", "shell_execute", {"command": "make"}, 2))
        await settled(pilot, app)
        await pilot.press("shift+tab")
        for key in (*"hello popw", "backspace", "enter"):
            app.post_message(Key("space" if key == " " else key, key if len(key) == 1 else None))
        await settled(pilot, app)
        assert app.service.sent == ["hello pop"]


async def test_history_holds_what_was_said_in_the_session(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        await pilot.press("up")
        assert app.chat.draft == "Hello"


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
