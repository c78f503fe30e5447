"""The transcript: pages, anchoring, bounds, and what streams."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Static

from loom.archive.records import Turn, TurnKind, TurnStatus
from loom.cowork.events import ToolFinished, ToolStarted
from loom.tui.widgets.blocks import block_turn
from loom.tui.widgets.card_title import CardState
from loom.tui.widgets.fold import Fold, Thinking
from loom.tui.widgets.line import ReceiptLine
from loom.tui.widgets.markdown import SafeMarkdown
from loom.tui.widgets.message import AssistantMessage, MoreText, UserMessage
from loom.tui.widgets.tool_card import ToolCard
from loom.tui.widgets.transcript import Transcript
from loom.tui.widgets.turn_pages import MOST_BLOCKS
from tests.support.clock import Clock
from tests.support.turns import call_turn, result_turn, turn


class Host(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.transcript = Transcript(clock=self.clock)
        self.older: list[int] = []
        self.newer: list[int] = []

    def compose(self) -> ComposeResult:
        yield self.transcript

    def on_turn_pages_older_wanted(self, event: Transcript.OlderWanted) -> None:
        self.older.append(event.before)

    def on_turn_pages_newer_wanted(self, event: Transcript.NewerWanted) -> None:
        self.newer.append(event.after)


def _cards(app: Host) -> list[ToolCard]:
    return list(app.transcript.query(ToolCard))


def talk(first: int, last: int) -> list[Turn]:
    return [turn(n, "user" if n % 2 else "assistant", f"turn {n}") for n in range(first, last + 1)]


async def test_a_page_shows_its_end() -> None:
    app = Host()
    async with app.run_test(size=(80, 20)) as pilot:
        await app.transcript.show_page(talk(51, 150), has_older=True)
        await pilot.pause()
        assert app.transcript.is_vertical_scroll_end
        assert (app.transcript.oldest_turn, app.transcript.newest_turn) == (51, 150)


async def test_a_note_is_gone_to_as_any_other_turn() -> None:
    app = Host()
    async with app.run_test(size=(80, 20)) as pilot:
        pin = turn(31, "system", "Pinned: metric units", TurnKind.NOTE)
        await app.transcript.show_page([*talk(1, 30), pin, *talk(32, 60)], has_older=False)
        await pilot.pause()
        for number in (31, 12):
            assert app.transcript.reveal(number)
            (found,) = app.transcript.query(".-found")
            assert block_turn(found) == number
        await app.transcript.show_page([*talk(1, 30), pin], has_older=False)
        assert app.transcript.reveal(31), "the newest of all"


async def test_the_top_asks_for_older_turns_once_and_what_is_read_stays_in_place() -> None:
    app = Host()
    async with app.run_test(size=(80, 20)) as pilot:
        await app.transcript.show_page(talk(51, 150), has_older=True)
        await pilot.pause()
        app.transcript.scroll_home(animate=False)
        await pilot.pause()
        assert app.older == [51]
        top = next(block for block in app.transcript.children if block_turn(block) == 51)
        before = top.region.y
        await app.transcript.add_older(talk(1, 50), has_older=False, live=False)
        await pilot.pause()
        await pilot.pause()
        assert top.region.y == before
        assert app.transcript.oldest_turn == 1


async def test_a_call_and_its_result_meet_across_pages() -> None:
    app = Host()
    async with app.run_test(size=(80, 20)) as pilot:
        await app.transcript.show_page([result_turn(10, "c", "read_file", "text"), *talk(11, 12)], has_older=True)
        await app.transcript.add_older(
            [*talk(7, 8), call_turn(9, "c", "read_file", {"path": "a.py"})], has_older=True, live=False
        )
        await pilot.pause()
        (card,) = app.transcript.query(ToolCard)
        assert card.state is CardState.DONE
        assert card.turn_number == 9
        assert card.arguments == {"path": "a.py"}


async def test_a_call_that_never_ended_is_shown_as_interrupted() -> None:
    app = Host()
    async with app.run_test():
        await app.transcript.show_page(
            [*talk(1, 1), call_turn(2, "c", "shell_execute", {"command": "x"})], has_older=False
        )
        (card,) = app.transcript.query(ToolCard)
        assert card.state is CardState.INTERRUPTED


async def test_streamed_text_becomes_the_stored_turn() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await app.transcript.add_thinking("let me ")
        app.clock.advance(1)
        await app.transcript.add_thinking("think")
        app.clock.advance(2.4)
        await app.transcript.add_turn(turn(2, "assistant", "let me think", TurnKind.THINKING))
        await app.transcript.add_text("Hello **wor")
        await app.transcript.add_text("ld**\r")
        await app.transcript.add_text("\nend")
        stored = "Hello **world**\r\nend"
        await app.transcript.add_turn(turn(3, "assistant", stored))
        await pilot.pause()
        (thinking,) = app.transcript.query(Thinking)
        (answer,) = app.transcript.query(AssistantMessage)
        assert thinking.title == "Thought for 3 s"
        assert (thinking.turn_number, answer.turn_number, answer.text) == (2, 3, stored)


async def test_a_long_block_streams_without_being_drawn_again_for_every_piece() -> None:
    app = Host()
    code = "".join(f"def function_{n}(x): return x + {n}\n" for n in range(200))
    whole = f"Look:\n\n```python\n{code}```\n\nDone.\n"
    drawn: list[str] = []
    async with app.run_test(size=(80, 20)) as pilot:
        await app.transcript.add_text(whole[:10])
        markdown = app.transcript.query_one(SafeMarkdown)
        append = markdown.append
        markdown.append = lambda text: (drawn.append(text), append(text))[1]  # type: ignore[method-assign]
        for at in range(10, len(whole), 20):
            await app.transcript.add_text(whole[at : at + 20])
        await app.transcript.add_turn(turn(2, "assistant", whole))
        await pilot.pause()
        assert markdown.source == whole
        assert len(drawn) < 200
        shown = [strip.text for strip in app.screen._compositor.render_strips(app.size)]
        assert any("Done." in line for line in shown)
        assert any("function_199" in line for line in shown)


async def test_tool_events_move_one_card_along() -> None:
    app = Host()
    async with app.run_test():
        await app.transcript.add_turn(call_turn(2, "c", "shell_execute", {"command": "x"}))
        (card,) = app.transcript.query(ToolCard)
        assert card.state is CardState.WAITING
        await app.transcript.tool_started(ToolStarted("c", "shell_execute", {"command": "x"}, 2))
        assert card.state is CardState.WAITING, "maybe for a person"
        app.transcript.tool_asking("c", asking=True)
        assert card.state is CardState.ASKING
        app.transcript.tool_asking("c", asking=False)
        assert card.state is CardState.WAITING, "for the answers about the calls beside it"
        app.transcript.tool_running("c")
        assert card.state is CardState.RUNNING
        result = result_turn(3, "c", "shell_execute", "no", status=TurnStatus.DENIED)
        await app.transcript.tool_finished(ToolFinished("c", result, 5))
        await app.transcript.add_turn(result)
        assert card.state is CardState.DENIED
        assert len(app.transcript.query(ToolCard)) == 1


async def test_a_call_id_that_comes_again_is_another_call() -> None:
    """Some local servers begin their call ids anew in every answer."""
    app = Host()
    async with app.run_test():
        for number, path in ((2, "first.py"), (4, "second.py")):
            await app.transcript.add_turn(call_turn(number, "call_0", "read_file", {"path": path}))
            await app.transcript.tool_started(ToolStarted("call_0", "read_file", {"path": path}, number))
            result = result_turn(number + 1, "call_0", "read_file", f"what {path} holds")
            await app.transcript.tool_finished(ToolFinished("call_0", result, 5))
        drawn = [(card.turn_number, card.arguments, card.result and card.result.content) for card in _cards(app)]
        assert drawn == [
            (2, {"path": "first.py"}, "what first.py holds"),
            (4, {"path": "second.py"}, "what second.py holds"),
        ]


async def test_a_call_id_on_an_older_page_leaves_the_newer_call_as_it_is() -> None:
    app = Host()
    older = [call_turn(2, "call_0", "read_file", {"path": "first.py"}), result_turn(3, "call_0", "read_file", "one")]
    newer = [call_turn(6, "call_0", "read_file", {"path": "second.py"})]
    async with app.run_test():
        await app.transcript.show_page(newer, has_older=True, running=True)
        await app.transcript.add_older(older, has_older=False, live=True)
        result = result_turn(7, "call_0", "read_file", "two")
        await app.transcript.tool_finished(ToolFinished("call_0", result, 5))
        drawn = [(card.turn_number, card.arguments, card.result and card.result.content) for card in _cards(app)]
        assert drawn == [(2, {"path": "first.py"}, "one"), (6, {"path": "second.py"}, "two")]


async def test_the_end_of_an_exchange_closes_what_is_open() -> None:
    app = Host()
    async with app.run_test():
        await app.transcript.tool_started(ToolStarted("c", "shell_execute", {"command": "x"}, 2))
        await app.transcript.add_text("half")
        await app.transcript.end_exchange(complete=False)
        assert app.transcript.query_one(ToolCard).state is CardState.INTERRUPTED
        assert app.transcript.shows_interruption
        await app.transcript.add_line(ReceiptLine("2 turns in 1 exchange."))
        assert app.transcript.shows_interruption, "whatever a command said meanwhile"


async def test_an_answer_that_was_cut_off_does_not_say_by_whom() -> None:
    """A closed connection, a limit and a filter are one state; what it was is said when it happens."""
    app = Host()
    async with app.run_test():
        await app.transcript.show_page([turn(2, "assistant", "And", status=TurnStatus.PARTIAL)], has_older=False)
        mark = app.transcript.query_one(".mark", Static)
        assert str(mark.content) == "■ the answer stops short here"


async def test_what_the_model_was_told_by_itself_says_what_it_was() -> None:
    app = Host()
    async with app.run_test():
        await app.transcript.show_page([turn(2, "system", "Please return text or call a tool.")], has_older=False)
        assert app.transcript.query_one(Fold).title == "System: Please return text or call a tool."


async def test_the_number_of_blocks_stays_bounded_while_it_grows() -> None:
    app = Host()
    async with app.run_test(size=(80, 20)) as pilot:
        await app.transcript.show_page(talk(1, MOST_BLOCKS - 5), has_older=False)
        await pilot.pause()
        for new in talk(MOST_BLOCKS - 4, MOST_BLOCKS + 20):
            await app.transcript.add_turn(new)
            if new.turn_number % 4 == 0:
                await pilot.pause()
        assert len(app.transcript.children) <= MOST_BLOCKS
        assert app.transcript.has_older
        assert app.transcript.newest_turn == MOST_BLOCKS + 20
        assert app.transcript.is_vertical_scroll_end


async def test_reading_far_up_drops_the_newest_and_coming_back_asks_for_them() -> None:
    app = Host()
    async with app.run_test(size=(80, 20)) as pilot:
        await app.transcript.show_page(talk(351, 450), has_older=True)
        await pilot.pause()
        app.transcript.scroll_home(animate=False)
        await pilot.pause()
        await app.transcript.add_older(talk(251, 350), has_older=True, live=False)
        await pilot.pause()
        await pilot.pause()
        assert app.transcript.newer_dropped
        newest = app.transcript.newest_turn
        assert newest == 350
        app.transcript.scroll_end(animate=False)
        await pilot.pause()
        await pilot.pause()
        assert app.newer == [newest]
        await app.transcript.add_newer(talk(351, 420), at_end=False)
        assert app.transcript.newest_turn == 420


async def test_nothing_scrolls_away_under_someone_who_reads_further_up() -> None:
    app = Host()
    async with app.run_test(size=(80, 20)) as pilot:
        await app.transcript.show_page(talk(1, 100), has_older=False)
        await pilot.pause()
        app.transcript.scroll_relative(y=-30, animate=False)
        await pilot.pause()
        before = app.transcript.scroll_y
        await app.transcript.add_text("more\n\n" * 30)
        await pilot.pause()
        assert app.transcript.scroll_y == before


@pytest.mark.parametrize("turn_number", [5, 30])
async def test_what_is_read_stays_in_view_when_the_terminal_gets_another_width(turn_number: int) -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        words = "as many words as a paragraph has, so that it takes more lines where there is less room. " * 4
        turns = [turn(n, "user" if n % 2 else "assistant", f"turn {n}: {words}") for n in range(1, 41)]
        await app.transcript.show_page(turns, has_older=False)
        await pilot.pause()
        assert app.transcript.reveal(turn_number)
        await pilot.pause()
        (found,) = app.transcript.query(".-found")
        assert found.region.y == app.transcript.content_region.y
        for width in (100, 40, 200, 60):
            await pilot.resize_terminal(width, 20)
            await pilot.pause()
            assert found.region.y == app.transcript.content_region.y, width


async def test_a_huge_message_is_drawn_in_part_and_kept_whole() -> None:
    app = Host()
    async with app.run_test(size=(80, 20)) as pilot:
        await app.transcript.show_page([turn(1, "user", "x" * 10_000_000)], has_older=False)
        await app.transcript.add_text("y" * 10_000_000)
        await pilot.pause()
        assert len(app.transcript.query_one(UserMessage).text) == 10_000_000
        assert len(app.transcript.query_one(AssistantMessage).text) == 10_000_000
        assert "more characters" in str(app.transcript.query_one("MoreText").render())


@pytest.mark.parametrize(
    "pasted",
    ["\n".join(f"line {n} 你好" for n in range(5_000)), "\n".join(["x" * 1_900] * 30), "\n" * 5_000],
    ids=["many lines", "long lines", "nothing but line ends"],
)
async def test_of_a_long_paste_both_ends_are_drawn_and_the_whole_is_a_key_away(pasted: str) -> None:
    words = f"Before it.\n{pasted}\nWhat is wrong here?"
    app = Host()
    async with app.run_test(size=(80, 40)) as pilot:
        await app.transcript.show_page([turn(1, "user", words)], has_older=False)
        await pilot.pause()
        message = app.transcript.query_one(UserMessage)
        head, tail = [str(each.content) for each in message.query(".words > Static").results(Static)][::2]
        assert words.startswith(head) and head.startswith("Before it.")
        assert words.endswith(tail) and tail.endswith("What is wrong here?")
        hidden = len(words) - len(head) - len(tail)
        assert f"… {hidden:,} more characters" in str(message.query_one(MoreText).content)
        assert message.size.height <= 2 * 60
        assert message.said == words


async def test_a_message_of_some_length_is_drawn_whole() -> None:
    words = "\n".join(f"line {n}" for n in range(60))
    app = Host()
    async with app.run_test(size=(80, 40)) as pilot:
        await app.transcript.show_page([turn(1, "user", words)], has_older=False)
        await pilot.pause()
        message = app.transcript.query_one(UserMessage)
        assert [str(each.content) for each in message.query(".words > Static").results(Static)] == [words]
