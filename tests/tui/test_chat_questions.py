"""Questions about tool calls: where the keyboard goes, and what of the screen stays in view."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.events import Paste
from textual.widgets import Static

from loom.cowork.events import ApprovalAnswered, ApprovalAsked, Decision, ToolStarted
from loom.tools.outcome import Preview
from loom.tui.widgets.approval import Approval
from loom.tui.widgets.composer import Composer
from loom.tui.widgets.notice_bar import Notice as StandingNotice
from loom.tui.widgets.transcript import Transcript
from tests.support.browsing import screen_text
from tests.tui.conftest import ASKED, ChatApp, settled


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


async def test_what_is_pasted_on_a_question_answers_nothing_and_is_written(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.service.busy = True
        app.service.tell(ToolStarted("c1", "shell_execute", {"command": "make"}, 2), ASKED)
        await settled(pilot, app)
        composer, question = app.chat.query_one(Composer), app.chat.query_one(Approval)
        app.clock.advance(1)
        app.post_message(Paste("yes, and\nthen this"))
        await pilot.press("!")
        await settled(pilot, app)
        assert (app.service.answers, composer.text, composer.has_focus) == ([], "yes, and\nthen this!", True)
        assert "You are writing" in str(question.query_one(".hint", Static).content)
        await pilot.press("tab")
        app.clock.advance(1)
        await pilot.press("n")
        await settled(pilot, app)
        app.post_message(Paste("because"))
        await pilot.press("enter")
        await settled(pilot, app)
        assert app.service.answers == [("c1", Decision(allowed=False, reason="because"))]
        assert composer.text == "yes, and\nthen this!"


async def test_a_command_that_is_begun_on_a_question_is_one(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.service.busy = True
        app.service.tell(ToolStarted("c1", "shell_execute", {"command": "make"}, 2), ASKED)
        await settled(pilot, app)
        app.clock.advance(1)
        await pilot.press("!", "l", "s")
        await settled(pilot, app)
        composer = app.chat.query_one(Composer)
        assert (composer.is_shell, composer.text, app.chat.draft) == (True, "ls", "!ls")


async def test_what_is_pasted_on_the_transcript_is_written(app: ChatApp) -> None:
    async with app.run_test() as pilot:
        app.chat.query_one(Transcript).focus()
        app.post_message(Paste("look at this"))
        await settled(pilot, app)
        assert app.chat.draft == "look at this"


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
