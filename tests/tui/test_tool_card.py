"""Tool cards: what was asked, how it went."""

from __future__ import annotations

from textual.app import App, ComposeResult

from loom.archive.records import TurnStatus
from loom.tui.widgets.card_title import CardState, duration_text
from loom.tui.widgets.fold import WholeText
from loom.tui.widgets.tool_card import ToolCard, facts_line
from tests.support.turns import result_turn


def test_durations_and_facts_are_short() -> None:
    assert [duration_text(ms) for ms in (40, 12_300, 184_000)] == ["0.0 s", "12 s", "3 min 04 s"]
    assert facts_line({"added": 3, "removed": 1}) == "+3 −1"
    assert facts_line({"exit_code": 1, "timed_out": True}) == "exit 1 · timed out"
    assert facts_line({"matches": 1}) == "1 match"


class Host(App[None]):
    def __init__(self, card: ToolCard) -> None:
        super().__init__()
        self.card = card
        self.whole: list[WholeText] = []

    def compose(self) -> ComposeResult:
        yield self.card

    def on_whole_text(self, event: WholeText) -> None:
        self.whole.append(event)


def body(card: ToolCard) -> str:
    return str(card.query_one(".result").render())


async def test_a_result_is_folded_until_it_is_opened() -> None:
    card = ToolCard("c", "read_file", {"path": "a"}, 5, result=result_turn(6, "c", "read_file", "hello [/foo] \x1b[2J"))
    app = Host(card)
    async with app.run_test() as pilot:
        assert card.state is CardState.DONE
        assert not card.query_one(".result").display
        card.focus()
        await pilot.press("enter")
        assert body(card) == "hello [/foo] ␛[2J"
        await pilot.press("enter")
        assert not card.query_one(".result").display


async def test_a_long_result_is_cut_and_the_whole_is_one_key_away() -> None:
    text = "y" * 200_000
    card = ToolCard("c", "read_file", {"path": "a"}, 5, result=result_turn(6, "c", "read_file", text))
    app = Host(card)
    async with app.run_test() as pilot:
        card.focus()
        await pilot.press("enter", "o")
        assert "192,000 more characters" in body(card)
        assert len(body(card)) < 10_000
        assert app.whole[0].text == text


async def test_a_command_that_exited_badly_is_not_shown_as_well_done() -> None:
    def card(code: int) -> ToolCard:
        result = result_turn(6, "c", "shell_execute", "x", {"exit_code": code})
        return ToolCard("c", "shell_execute", {"command": "make"}, 5, result=result)

    for code, sign in ((0, "✓"), (1, "!")):
        app = Host(card(code))
        async with app.run_test():
            assert str(app.card.query_one("CardTitle").render()).startswith(sign)


async def test_a_denied_call_says_why_without_opening() -> None:
    result = result_turn(6, "c", "shell_execute", "Denied: not now", status=TurnStatus.DENIED)
    card = ToolCard("c", "shell_execute", {"command": "rm"}, 5, result=result)
    async with Host(card).run_test():
        assert card.state is CardState.DENIED
        assert body(card) == "Denied: not now"
