"""A command of the model's while it runs: the last lines of its output in its card, and for how long."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Static

from loom.archive.records import TurnStatus
from loom.config import Settings
from loom.cowork.events import CommandOutput, ToolFinished, ToolRunning, ToolStarted
from loom.locations import Locations
from loom.tui.widgets.approval import Approval
from loom.tui.widgets.card_title import CardState, CardTitle
from loom.tui.widgets.composer import Composer
from loom.tui.widgets.fold import WholeText
from loom.tui.widgets.output_tail import ROWS, OutputTail
from loom.tui.widgets.tool_card import ToolCard
from loom.tui.widgets.transcript import Transcript
from tests.support.clock import Clock
from tests.support.provider import ScriptedProvider
from tests.support.replies import Call, Reply, Text
from tests.support.seat import Seat, seated
from tests.support.turns import call_turn, result_turn

STARTED = ToolStarted("c", "shell_execute", {"command": "make"}, 2)


class Host(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.transcript = Transcript(clock=self.clock)
        self.whole: list[WholeText] = []

    def compose(self) -> ComposeResult:
        yield self.transcript

    def on_whole_text(self, event: WholeText) -> None:
        self.whole.append(event)

    @property
    def card(self) -> ToolCard:
        return self.transcript.query_one(ToolCard)

    async def runs(self, *ends: str) -> None:
        """A command runs, and its output ends like this, and then like that."""
        for event in (STARTED, ToolRunning("c"), *(CommandOutput("c", end) for end in ends)):
            await self.transcript.draw(event)


def title(card: ToolCard) -> str:
    return str(card.query_one(CardTitle).render())


def tail(card: ToolCard) -> list[str]:
    """The rows of the output that are drawn below the title."""
    widget = card.query_one(OutputTail)
    return widget.rows(widget.content_size.width) if widget.display else []


def body(card: ToolCard) -> str:
    static = card.query_one(".result", Static)
    return str(static.content) if static.display else ""


async def test_the_last_lines_stand_in_the_card_and_go_when_it_has_ended() -> None:
    app = Host()
    async with app.run_test(size=(80, 30)) as pilot:
        await app.runs()
        await pilot.pause()
        assert (app.card.state, tail(app.card)) == (CardState.RUNNING, [])
        await app.transcript.draw(CommandOutput("c", "one\n"))
        await pilot.pause()
        assert tail(app.card) == ["one"]
        await app.transcript.draw(CommandOutput("c", "".join(f"{n}\n" for n in range(100))))
        await pilot.pause()
        assert tail(app.card) == ["94", "95", "96", "97", "98", "99"]
        assert app.card.query_one(OutputTail).size.height == ROWS
        await app.transcript.draw(ToolFinished("c", result_turn(3, "c", "shell_execute", "99\n[exit code 0]"), 40))
        await pilot.pause()
        assert (app.card.state, tail(app.card)) == (CardState.DONE, [])


async def test_the_title_counts_how_long_it_has_run() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await app.runs()
        await pilot.pause()
        assert "running  " in title(app.card), "nothing is counted in the first second"
        app.clock.advance(12.7)
        assert "running · 12 s" in title(app.card)
        app.clock.advance(60)
        assert "running · 1 min 12 s" in title(app.card)
        # The page is loaded anew while it runs.
        await app.transcript.show_page(
            [call_turn(2, "c", "shell_execute", {"command": "make"})], has_older=False, running=True
        )
        await pilot.pause()
        assert "running · 1 min 12 s" in title(app.card)
        await app.transcript.draw(ToolFinished("c", result_turn(3, "c", "shell_execute", "[exit code 0]"), 72_700))
        app.clock.advance(100)
        assert "1 min 12 s" in title(app.card) and "running" not in title(app.card)


async def test_an_opened_card_shows_the_call_and_more_of_the_output_as_it_grows() -> None:
    app = Host()
    async with app.run_test(size=(80, 90)) as pilot:
        await app.runs("".join(f"{n}\n" for n in range(100)))
        app.card.focus()
        await pilot.press("enter")
        assert body(app.card).startswith("command: make\n40\n41\n") and body(app.card).endswith("99")
        assert tail(app.card) == []
        await app.transcript.draw(CommandOutput("c", "the end\n"))
        assert body(app.card) == "command: make\nthe end"
        await pilot.press("o")
        assert app.whole[0].text == "command: make\nthe end"
        await pilot.press("enter")
        assert (body(app.card), tail(app.card)) == ("", ["the end"])


async def test_hostile_output_is_drawn_literally_and_long_lines_take_no_more_rows() -> None:
    app = Host()
    async with app.run_test(size=(60, 30)) as pilot:
        await app.runs("[/red][@click=app.quit]x[/]\x1b[2J\u202e\x00")
        await pilot.pause()
        assert tail(app.card) == ["[/red][@click=app.quit]x[/]␛[2J‹U+202E›␀"]
        for endless in ("x" * 8_000, "日本" * 4_000, "\t" * 8_000):
            await app.transcript.draw(CommandOutput("c", endless))
            await pilot.pause()
            assert len(tail(app.card)) == app.card.query_one(OutputTail).size.height == ROWS


async def test_what_was_interrupted_shows_how_it_ended() -> None:
    app = Host()
    async with app.run_test(size=(80, 30)) as pilot:
        output = "".join(f"{n}\n" for n in range(100)) + "[cut off: loom was ended]"
        turns = [
            call_turn(2, "c", "shell_execute", {"command": "make"}),
            result_turn(3, "c", "shell_execute", output, status=TurnStatus.INTERRUPTED),
        ]
        await app.transcript.show_page(turns, has_older=False)
        await pilot.pause()
        assert app.card.state is CardState.INTERRUPTED
        assert tail(app.card) == ["95", "96", "97", "98", "99", "[cut off: loom was ended]"]
        app.card.focus()
        await pilot.press("enter")
        assert body(app.card).startswith("0\n1\n") and tail(app.card) == []


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        yield server


ONLINE = Settings(model="openai-chat:test")


async def say_yes(seat: Seat) -> None:
    """Answer the question, when the keyboard was quiet."""
    await seat.until(lambda: seat.chat.query(Approval))
    seat.clock.advance(10)
    await seat.pilot.press("y")


async def running(seat: Seat, provider: ScriptedProvider, command: str) -> ToolCard:
    """The card of a command that the model asked for and the person allowed."""
    provider.add(Reply(Call("shell_execute", {"command": command}, call_id="c1")), Reply(Text("It ran.")))
    await seat.ready()
    await seat.say("Run it.")
    await say_yes(seat)
    await seat.until(lambda: seat.chat.query(ToolCard))
    return seat.chat.query_one(ToolCard)


async def test_the_whole_program_shows_it_while_it_runs_and_esc_keeps_it(
    locations: Locations, workspace: Path, provider: ScriptedProvider
) -> None:
    async with seated(locations, workspace, fresh=True, settings=ONLINE) as seat:
        card = await running(seat, provider, r"printf 'compiling\n 10%%\r 90%%'; sleep 600")
        await seat.until(lambda: tail(card) == ["compiling", "…␍ 90%"])
        seat.clock.advance(75)
        assert "running · 1 min 15 s" in title(card)
        await seat.pilot.press("h", "i")
        assert seat.chat.query_one(Composer).text == "hi"
        await seat.pilot.press("ctrl+c", "ctrl+c")
        await seat.until(lambda: not seat.chat.busy)
        await seat.idle()
        assert card.state is CardState.INTERRUPTED
        assert tail(card) == ["compiling", "…␍ 90%", "[stopped: it may have taken effect]"]


async def test_a_flood_leaves_every_key_its_turn(
    locations: Locations, workspace: Path, provider: ScriptedProvider
) -> None:
    async with seated(locations, workspace, fresh=True, settings=ONLINE) as seat:
        card = await running(seat, provider, "until [ -e go ]; do seq 100000; done")
        await seat.until(lambda: len(tail(card)) == ROWS)
        await seat.pilot.press("h", "i")
        assert seat.chat.query_one(Composer).text == "hi"
        assert card.state is CardState.RUNNING
        (workspace / "go").touch()
        await seat.until(lambda: not seat.chat.busy)
        await seat.idle()
        assert (card.state, tail(card)) == (CardState.DONE, [])
