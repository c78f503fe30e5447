"""Writing: newlines, history, pastes, completion, and nothing lost."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult
from textual.events import Key, Paste

from loom.tui.widgets.completion import CompletionPopup
from loom.tui.widgets.composer import Composer
from tests.support.browsing import until


class Host(App[None]):
    """A composer with its popup; accepts everything but commands."""

    def __init__(self) -> None:
        super().__init__()
        self.popup = CompletionPopup()
        self.composer = Composer(self.popup)
        self.sent: list[str] = []
        self.commands: list[str] = []
        self.hidden = 0
        self.taken_back = 0

    def compose(self) -> ComposeResult:
        yield self.popup
        yield self.composer

    def on_composer_submitted(self, event: Composer.Submitted) -> None:
        self.sent.append(event.text)

    def on_composer_command_submitted(self, event: Composer.CommandSubmitted) -> None:
        self.commands.append(event.command)

    def on_composer_take_back(self) -> None:
        self.taken_back += 1

    def on_composer_hidden_shown(self, event: Composer.HiddenShown) -> None:
        self.hidden = event.count


@pytest.fixture
def app() -> Host:
    return Host()


async def test_enter_sends_and_the_newline_keys_do_not(app: Host) -> None:
    async with app.run_test() as pilot:
        await pilot.press("a", "shift+enter", "b", "ctrl+j", "c", "enter")
        assert app.sent == ["a\nb\nc"]
        assert app.composer.text == ""


async def test_keys_that_come_all_at_once_work_in_their_order(app: Host) -> None:
    """As when a slow machine catches up with somebody who types fast and corrects."""
    async with app.run_test() as pilot:
        keys = [
            *"teh",
            "backspace",
            "backspace",
            *"he",
            "left",
            "X",
            "end",
            "space",
            *"wrong",
            "ctrl+w",
            *"ok",
            "enter",
        ]
        for key in keys:
            app.post_message(Key(key, " " if key == "space" else key if len(key) == 1 else None))
        await pilot.pause()
        assert app.sent == ["thXe ok"]


@pytest.mark.parametrize("key", ["tab", "enter"])
async def test_a_command_is_completed_however_fast_it_is_typed(app: Host, key: str) -> None:
    async with app.run_test() as pilot:
        for pressed in (*"/reca", key, *"jwt", "enter"):
            app.post_message(Key(pressed, pressed if len(pressed) == 1 else None))
        await pilot.pause()
        assert app.sent == ["/recall jwt"]


async def test_joiners_are_written_where_they_are_typed(app: Host) -> None:
    words = "نمی\u200cدانم 👩\u200d👧"
    async with app.run_test() as pilot:
        for character in words:
            app.post_message(Key(character, character))
        await until(pilot, lambda: app.composer.text == words)


async def test_an_empty_message_is_not_sent(app: Host) -> None:
    async with app.run_test() as pilot:
        await pilot.press("enter", "space", "enter")
        assert app.sent == []


async def test_a_paste_of_some_lines_stays_as_it_is(app: Host) -> None:
    text = "\n".join(f"line {n}\tx" for n in range(30))
    async with app.run_test() as pilot:
        app.composer.post_message(Paste(text.replace("\n", "\r")))
        await pilot.pause()
        assert app.composer.text == text


async def test_a_paste_of_many_lines_is_folded_and_sent_whole(app: Host) -> None:
    text = "\n".join(f"line {n}\tx" for n in range(300))
    async with app.run_test() as pilot:
        await pilot.press("a", "space")
        app.composer.post_message(Paste(text.replace("\n", "\r")))
        await pilot.pause()
        await pilot.press("space", "b")
        assert app.composer.text == "a [pasted text 1: 300 lines] b"
        await pilot.press("enter")
        assert app.sent == [f"a {text} b"]


async def test_a_folded_paste_comes_back_with_its_text_by_undo_and_from_the_history(app: Host) -> None:
    text = "x\n" * 300
    async with app.run_test() as pilot:
        app.composer.post_message(Paste(text))
        await pilot.pause()
        await pilot.press("enter", "ctrl+z", "enter", "up", "enter")
        assert app.sent == [text.strip()] * 3


async def test_a_paste_that_names_another_paste_is_sent_as_it_is(app: Host) -> None:
    first, second = "x\n" * 40, "[pasted text 1: 40 lines]\n" * 40
    async with app.run_test() as pilot:
        for text in (first, second):
            app.composer.post_message(Paste(text))
        await pilot.pause()
        assert app.composer.whole_text() == first + second


async def test_a_huge_paste_stands_under_a_short_name_and_is_sent_whole(app: Host) -> None:
    huge = "x" * 3_000_000
    async with app.run_test() as pilot:
        await pilot.press("a", "space")
        app.composer.post_message(Paste(huge))
        await pilot.pause()
        assert app.composer.text == "a [pasted text 1: 3,000,000 characters]"
        await pilot.press("enter")
        assert app.sent == [f"a {huge}"]


async def test_what_cannot_be_seen_in_a_paste_is_made_visible(app: Host) -> None:
    async with app.run_test() as pilot:
        app.composer.post_message(Paste("run\u202e this\x1b[2J"))
        await pilot.pause()
        assert app.composer.text == "run‹U+202E› this␛[2J"
        assert app.hidden == 2


async def test_history_begins_at_the_edge_and_gives_the_draft_back(app: Host) -> None:
    app.composer.remember(["first", "second\nlines"])
    async with app.run_test() as pilot:
        await pilot.press("d", "r", "a", "f", "t", "up")
        assert app.composer.text == "second\nlines"
        await pilot.press("up")
        assert app.composer.text == "first"
        await pilot.press("up", "down")
        assert app.composer.text == "second\nlines"
        await pilot.press("down")
        assert app.composer.text == "draft"


async def test_up_inside_a_text_moves_the_cursor_first(app: Host) -> None:
    app.composer.remember(["old"])
    async with app.run_test() as pilot:
        await pilot.press("a", "ctrl+j", "b", "up")
        assert app.composer.text == "a\nb"
        await pilot.press("up")
        assert app.composer.text == "old"


async def test_up_moves_inside_a_wrapped_line_first(app: Host) -> None:
    app.composer.remember(["old"])
    async with app.run_test(size=(30, 20)) as pilot:
        app.composer.insert("word " * 12)
        await pilot.pause()
        await pilot.press("up")
        assert app.composer.text == "word " * 12


async def test_an_edited_history_entry_is_not_lost(app: Host) -> None:
    app.composer.remember(["one", "two"])
    async with app.run_test() as pilot:
        await pilot.press("up", "end", "!", "home", "up")
        assert app.composer.text == "one"
        await pilot.press("down", "down")
        assert app.composer.text == "two!"


async def test_up_in_the_empty_composer_wants_a_queued_message_back(app: Host) -> None:
    app.composer.remember(["old"])
    async with app.run_test() as pilot:
        app.composer.may_take_back = True
        await pilot.press("up")
        assert app.taken_back == 1
        assert app.composer.text == ""


async def test_completion_offers_moves_and_accepts(app: Host) -> None:
    async with app.run_test() as pilot:
        await pilot.press("slash", "c")
        assert app.popup.is_open
        await pilot.press("down", "tab")
        assert app.composer.text == "/compact "
        assert not app.popup.is_open


async def test_enter_accepts_the_choice_and_sends_only_what_is_written_out(app: Host) -> None:
    async with app.run_test() as pilot:
        await pilot.press("slash", "h", "e", "enter")
        assert app.composer.text == "/help"
        assert app.sent == []
        await pilot.press("enter")
        assert app.sent == ["/help"]


async def test_esc_closes_the_list_until_something_else_is_typed(app: Host) -> None:
    async with app.run_test() as pilot:
        await pilot.press("slash", "c", "escape")
        assert not app.popup.is_open
        assert app.composer.text == "/c"
        await pilot.press("l")
        assert app.popup.is_open


async def test_it_grows_with_its_text_up_to_ten_lines(app: Host) -> None:
    async with app.run_test(size=(60, 40)) as pilot:
        assert app.composer.size.height == 1
        for _ in range(4):
            await pilot.press("ctrl+j")
        assert app.composer.size.height == 5
        for _ in range(20):
            await pilot.press("ctrl+j")
        assert app.composer.size.height == 10


async def test_what_is_typed_right_after_enter_is_the_next_message(app: Host) -> None:
    async with app.run_test() as pilot:
        for key in ("a", "enter", "b", "c", "enter", "d"):
            app.composer._handle(key) or app.composer.insert(key)  # all before the host has read a message
        await pilot.pause()
        assert app.sent == ["a", "bc"]
        assert app.composer.text == "d"


async def test_the_popup_closes_when_the_slash_is_taken_back(app: Host) -> None:
    async with app.run_test() as pilot:
        await pilot.press("/")
        assert app.popup.is_open
        await pilot.press("backspace")
        assert not app.popup.is_open


async def test_keys_that_come_all_at_once_are_not_completed_into_something_else(app: Host) -> None:
    async with app.run_test() as pilot:
        await pilot.press("slash", "p", "i")
        assert app.popup.is_open
        app.composer.insert("n T1")
        # Before the list has heard of the new text.
        await app.composer._on_key(Key("enter", None))
        await pilot.pause()
        assert app.sent == ["/pin T1"]


async def test_a_paste_that_ends_its_last_line_has_as_many_lines_as_it_has(app: Host) -> None:
    async with app.run_test() as pilot:
        app.composer.post_message(Paste("line\r" * 60))
        await pilot.pause()
        assert app.composer.text == "[pasted text 1: 60 lines]"


async def test_an_exclamation_mark_in_front_makes_it_a_shell_for_one_command(app: Host) -> None:
    async with app.run_test() as pilot:
        await pilot.press("!", "l", "s")
        assert (app.composer.is_shell, app.composer.text) == (True, "ls")
        assert "shell" in str(app.composer.border_title)
        await pilot.press("enter")
        assert (app.commands, app.sent) == (["ls"], [])
        assert (app.composer.is_shell, app.composer.text) == (False, "")
        await pilot.press("h", "i", "!", "enter")
        assert app.sent == ["hi!"]


async def test_an_exclamation_mark_in_front_of_what_is_written_makes_a_command_of_it(app: Host) -> None:
    async with app.run_test() as pilot:
        await pilot.press("l", "s", "home", "!", "enter")
        assert (app.commands, app.sent) == (["ls"], [])


@pytest.mark.parametrize("key", ["backspace", "escape"])
async def test_the_empty_shell_is_left(app: Host, key: str) -> None:
    async with app.run_test() as pilot:
        await pilot.press("!", key, "a", "enter")
        assert (app.commands, app.sent) == ([], ["a"])


async def test_backspace_in_front_of_a_command_makes_a_message_of_it(app: Host) -> None:
    async with app.run_test() as pilot:
        await pilot.press("!", "l", "s", "home", "backspace", "enter")
        assert (app.commands, app.sent) == ([], ["ls"])


async def test_escape_in_front_of_a_command_leaves_it_one(app: Host) -> None:
    async with app.run_test() as pilot:
        await pilot.press("!", "l", "s", "home", "escape", "enter")
        assert (app.commands, app.sent) == (["ls"], [])


async def test_an_empty_command_is_not_run(app: Host) -> None:
    async with app.run_test() as pilot:
        await pilot.press("!", "enter", "space", "enter")
        assert app.commands == []
        assert app.composer.is_shell


async def test_a_paste_runs_nothing_by_itself(app: Host) -> None:
    async with app.run_test() as pilot:
        app.composer.post_message(Paste("!rm -rf build"))
        await pilot.pause()
        assert not app.composer.is_shell
        await pilot.press("enter", "up")
        assert (app.commands, app.sent) == ([], ["!rm -rf build"])
        assert (app.composer.is_shell, app.composer.text) == (False, "!rm -rf build"), "nor out of the history"


async def test_a_command_comes_back_from_the_history_as_a_command(app: Host) -> None:
    async with app.run_test() as pilot:
        await pilot.press("!", "l", "s", "enter", "h", "i", "enter", "d", "up", "up")
        assert (app.composer.is_shell, app.composer.text) == (True, "ls")
        await pilot.press("down", "down")
        assert (app.composer.is_shell, app.composer.text) == (False, "d")


async def test_a_shell_that_is_emptied_is_none_any_more_until_that_is_undone(app: Host) -> None:
    async with app.run_test() as pilot:
        await pilot.press("!", "l", "s")
        app.composer.empty()
        assert (app.composer.is_shell, app.composer.text) == (False, "")
        await pilot.press("ctrl+z")
        assert (app.composer.is_shell, app.composer.text) == (True, "ls")
        app.composer.empty()
        await pilot.press("l", "s", "enter")
        assert (app.commands, app.sent) == ([], ["ls"]), "what is written next is a message"


async def test_what_is_unsent_says_what_it_is(app: Host) -> None:
    async with app.run_test() as pilot:
        await pilot.press("!", "l", "s")
        assert app.composer.unsent == "!ls"
        app.composer.give_back("a message")
        assert (app.composer.is_shell, app.composer.unsent) == (False, "a message\n\n!ls")
        app.composer.put("!ls")
        app.composer.empty()
        app.composer.give_back("!make")
        assert (app.composer.is_shell, app.composer.text) == (True, "make")


async def test_a_shell_completes_no_commands_of_loom_and_names_no_files(app: Host) -> None:
    async with app.run_test() as pilot:
        await pilot.press("!", "/", "h")
        assert not app.popup.is_open
        await pilot.press("home", "backspace")
        assert app.popup.is_open
