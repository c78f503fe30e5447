"""Questions: nobody says yes by accident."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.events import Key
from textual.widgets import Input, Static

from loom.cowork.events import ApprovalAsked, Decision
from loom.tools.outcome import Preview
from loom.tui.widgets.approval import Approval, Choice
from loom.tui.widgets.key_guard import QUIET_SECONDS, KeyGuard
from loom.tui.widgets.text_view import TextView
from tests.support.clock import Clock

ASKED = ApprovalAsked("c1", "shell_execute", Preview("Run a command", "rm -rf build", "command", "exactly this", "k"))


class Host(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.approval = Approval(ASKED, clock=self.clock)
        self.answers: list[Decision] = []
        self.typed: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.approval

    def on_mount(self) -> None:
        self.approval.focus()

    def on_approval_answered(self, event: Approval.Answered) -> None:
        self.answers.append(event.decision)

    def on_approval_typed(self, event: Approval.Typed) -> None:
        self.typed.append(event.characters)


@pytest.fixture
def app() -> Host:
    return Host()


@given(st.lists(st.floats(0, QUIET_SECONDS * 0.99), max_size=50))
def test_no_key_of_someone_who_is_typing_counts(pauses: list[float]) -> None:
    clock = Clock()
    guard = KeyGuard(clock)
    for pause in pauses:
        clock.advance(pause)
        assert not guard.accepts()
    clock.advance(QUIET_SECONDS)
    assert guard.accepts()


async def test_a_key_that_was_on_its_way_does_not_answer(app: Host) -> None:
    async with app.run_test() as pilot:
        await pilot.press("y")
        app.clock.advance(0.3)
        await pilot.press("y")
        assert (app.answers, "".join(app.typed)) == ([], "yy")
        app.approval.restart()
        app.clock.advance(0.5)
        await pilot.press("y")
        assert app.answers == [], "a word is being typed: whoever comes back to the question answers it"


async def test_always_is_a_key_of_its_own_and_comes_twice(app: Host) -> None:
    async with app.run_test() as pilot:
        app.clock.advance(1)
        await pilot.press("a")
        assert app.answers == []
        await pilot.press("a")
        assert app.answers == [], "a key that is held down"
        app.clock.advance(1)
        await pilot.press("a")
        assert app.answers == [Decision(allowed=True, always=True)]


async def test_a_word_that_begins_like_always_is_a_word(app: Host) -> None:
    async with app.run_test() as pilot:
        for letter in "add any":
            app.clock.advance(1)
            await pilot.press("space" if letter == " " else letter)
        assert (app.answers, "".join(app.typed)) == ([], "add any")


async def test_every_answer_is_in_view_in_a_narrow_terminal(app: Host) -> None:
    preview = Preview("Run", "git status -sb", "command", "exactly this", "k", "", "begins with `git status`", "w")
    app.approval = Approval(ApprovalAsked("c1", "shell_execute", preview), clock=app.clock)
    async with app.run_test(size=(60, 24)) as pilot:
        await pilot.pause()
        answers = app.approval.query_one(".answers")
        assert all(answers.region.contains_region(choice.region) for choice in app.approval.query(Choice))


async def test_enter_space_and_escape_answer_nothing(app: Host) -> None:
    async with app.run_test() as pilot:
        for key in ("enter", "space", "escape", "tab", "Y"):
            app.clock.advance(1)
            await pilot.press(key)
        assert app.answers == []


async def test_no_asks_for_a_reason_and_sends_it(app: Host) -> None:
    async with app.run_test() as pilot:
        app.clock.advance(1)
        await pilot.press("n", "n", "o", "t", "enter")
        assert app.answers == [Decision(allowed=False, reason="not")]


async def test_a_reason_typed_at_once_behind_no_is_whole(app: Host) -> None:
    async with app.run_test() as pilot:
        app.clock.advance(1)
        for key in ("n", *"noy", "backspace", "t", "enter"):
            app.post_message(Key(key, key if len(key) == 1 else None))
        await pilot.pause()
        assert (app.answers, app.typed) == ([Decision(allowed=False, reason="not")], [])


async def test_no_without_a_reason_is_fine_and_esc_goes_back(app: Host) -> None:
    async with app.run_test() as pilot:
        app.clock.advance(1)
        await pilot.press("n", "escape")
        assert app.approval.has_focus
        app.clock.advance(1)
        await pilot.press("n", "enter")
        assert app.answers == [Decision(allowed=False)]


async def test_other_letters_belong_to_the_composer(app: Host) -> None:
    async with app.run_test() as pilot:
        app.clock.advance(1)
        await pilot.press("w")
        assert app.typed == ["w"]
        assert app.answers == []


async def test_a_click_answers_too_but_not_at_once(app: Host) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.click("Choice")
        assert app.answers == []
        app.clock.advance(1)
        await pilot.click("Choice")
        assert app.answers == [Decision(allowed=True)]


async def test_the_reason_is_no_markup(app: Host) -> None:
    async with app.run_test() as pilot:
        app.clock.advance(1)
        await pilot.press("n")
        app.approval.query_one(Input).value = "[/foo]"
        await pilot.press("enter")
        assert app.answers == [Decision(allowed=False, reason="[/foo]")]


LONG = ApprovalAsked(
    "c2",
    "shell_execute",
    Preview("Run a command", "\n".join(f"echo line {n}" for n in range(40)), "command", "exactly this", "k"),
)


async def test_a_yes_counts_only_when_the_end_has_been_seen() -> None:
    app = Host()
    app.approval = Approval(LONG, clock=app.clock)
    async with app.run_test(size=(60, 16)) as pilot:
        app.approval.fit(4, 16)
        await pilot.pause()
        app.clock.advance(1)
        await pilot.press("y")
        assert app.answers == []
        await pilot.press("end")
        await pilot.pause()
        app.clock.advance(1)
        await pilot.press("y")
        assert app.answers == [Decision(allowed=True)]


async def test_nor_does_an_always_or_a_click_count_before() -> None:
    app = Host()
    app.approval = Approval(LONG, clock=app.clock)
    async with app.run_test(size=(60, 16)) as pilot:
        app.approval.fit(4, 16)
        await pilot.pause()
        for _ in range(3):
            app.clock.advance(1)
            await pilot.press("a")
        for choice in list(app.approval.query(Choice))[:2]:
            app.clock.advance(1)
            await pilot.click(choice)
        assert app.answers == []
        assert "more lines below" in str(app.approval.query_one(".hint", Static).content)
        await pilot.press("end")
        await pilot.pause()
        app.clock.advance(1)
        await pilot.click(app.approval.query(Choice).first())
        assert app.answers == [Decision(allowed=True)]


async def test_who_went_to_the_end_and_back_has_seen_it() -> None:
    app = Host()
    app.approval = Approval(LONG, clock=app.clock)
    async with app.run_test(size=(60, 16)) as pilot:
        app.approval.fit(4, 16)
        await pilot.pause()
        for key in ("end", "home"):
            app.post_message(Key(key, None))
        await pilot.pause()
        app.clock.advance(1)
        await pilot.press("y")
        assert app.answers == [Decision(allowed=True)]


async def test_how_much_is_below_is_said_until_it_was_seen() -> None:
    app = Host()
    app.approval = Approval(LONG, clock=app.clock)
    async with app.run_test(size=(60, 16)) as pilot:
        app.approval.fit(4, 16)
        await pilot.pause()
        hint = app.approval.query_one(".hint", Static)
        assert "more lines below" in str(hint.content)
        # While something else is said, and when the keyboard comes back.
        app.approval.say_typing()
        app.screen.set_focus(None)
        await pilot.pause()
        app.approval.focus()
        await pilot.pause()
        before = str(hint.content)
        assert hint.display and "more lines below" in before
        await pilot.press("pagedown")
        assert hint.display and "more lines below" in str(hint.content) != before
        shown = str(hint.content)
        app.approval.fit(2, 16)
        await pilot.pause()
        assert "more lines below" in str(hint.content) != shown, "as many as there are now"
        await pilot.press("end")
        assert not hint.display


async def test_the_scrollbar_covers_no_character() -> None:
    text = " ".join(f"word{n:04}" for n in range(120))
    asked = ApprovalAsked("c3", "shell_execute", Preview("Run", text, "command", "exactly this", "k"))
    app = Host()
    app.approval = Approval(asked, clock=app.clock)
    async with app.run_test(size=(60, 16)) as pilot:
        app.approval.fit(4, 16)
        await pilot.pause()
        view = app.approval.query_one(TextView)
        drawn = ""
        while True:
            at = view.scroll_offset.y
            drawn += "".join(view.render_line(y).text.rstrip() for y in range(view.size.height))
            view.scroll_to(y=at + view.size.height, animate=False)
            await pilot.pause()
            if view.scroll_offset.y < at + view.size.height:
                break
        words = drawn.replace(" ", "")
        assert all(f"word{n:04}" in words for n in range(100))


@pytest.mark.parametrize("key", ["up", "down", "pageup", "pagedown", "home", "end"])
async def test_scrolling_what_is_in_view_whole_does_nothing(app: Host, key: str) -> None:
    async with app.run_test() as pilot:
        await pilot.press(key)
        app.clock.advance(1)
        await pilot.press("y")
        assert app.answers == [Decision(allowed=True)]


async def test_a_prefix_is_offered_in_full_and_p_allows_it(app: Host) -> None:
    preview = Preview(
        "Run a command", "git status -sb", "command", "exactly this", "k", "", "begins with `git status`", "w"
    )
    app.approval = Approval(ApprovalAsked("c1", "shell_execute", preview), clock=app.clock)
    async with app.run_test() as pilot:
        scope = str(app.approval.query_one(".scope", Static).content)
        assert "p allows: begins with `git status`" in scope
        app.clock.advance(1)
        await pilot.press("p")
        app.clock.advance(1)
        await pilot.press("p")
        assert app.answers == [Decision(allowed=True, always=True, wider=True)]


def hint(app: Host) -> str:
    return str(app.approval.query_one(".hint", Static).content)


async def test_without_a_prefix_p_says_so_and_is_a_letter_of_what_follows(app: Host) -> None:
    async with app.run_test() as pilot:
        app.clock.advance(1)
        await pilot.press("p")
        assert (app.answers, app.typed) == ([], [])
        assert hint(app).startswith("p is not offered")
        await pilot.press("l", "y")
        assert (app.answers, "".join(app.typed)) == ([], "ply")


async def test_without_a_prefix_p_leaves_the_other_answers_as_they_are(app: Host) -> None:
    async with app.run_test() as pilot:
        for key in ("p", "p", "y"):
            app.clock.advance(1)
            await pilot.press(key)
        assert (app.answers, app.typed) == ([Decision(allowed=True)], [])


@pytest.mark.parametrize("word", ["y", "n", "aa", "any", "p", "nay ya", "pay any"])
async def test_a_burst_of_letters_is_an_answer_to_nothing_and_none_is_lost(app: Host, word: str) -> None:
    async with app.run_test() as pilot:
        await pilot.press(*("space" if letter == " " else letter for letter in word))
        assert (app.answers, "".join(app.typed)) == ([], word)


async def test_a_key_held_down_is_no_second_yes_and_goes_along_when_a_word_comes_of_it(app: Host) -> None:
    async with app.run_test() as pilot:
        app.clock.advance(1)
        await pilot.press("a", "a", "a", "h")
        assert (app.answers, "".join(app.typed)) == ([], "aaah")
