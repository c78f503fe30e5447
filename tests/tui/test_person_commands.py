"""`!` in the composer, through the whole program."""

from __future__ import annotations

from pathlib import Path

from textual.widgets import Static

from loom.archive.records import TurnStatus
from loom.config import Settings
from loom.locations import Locations
from loom.tui.screens.archive import ArchiveScreen
from loom.tui.widgets.card_title import CardState
from loom.tui.widgets.command_card import CommandCard
from loom.tui.widgets.composer import Composer
from loom.tui.widgets.hit_list import HitList
from loom.tui.widgets.queue import QueuedMessages
from tests.support.seat import Seat, seated


async def run(seat: Seat, command: str) -> CommandCard:
    """Type it behind a `!` and wait for its end."""
    card = await begin(seat, command)
    await seat.until(lambda: not card.open_ended and not seat.chat.busy)
    await seat.idle()
    return card


async def begin(seat: Seat, command: str) -> CommandCard:
    before = len(seat.chat.query(CommandCard))
    await seat.pilot.press("!")
    seat.chat.query_one(Composer).insert(command)
    await seat.pilot.press("enter")
    await seat.until(lambda: len(seat.chat.query(CommandCard)) > before)
    return list(seat.chat.query(CommandCard))[-1]


def drawn(card: CommandCard) -> str:
    return str(card.query_one(".result", Static).content)


async def test_a_command_runs_its_output_stands_below_it_and_is_there_after_a_resume(
    locations: Locations, workspace: Path
) -> None:
    async with seated(locations, workspace, fresh=True) as seat:
        await seat.ready()
        card = await run(seat, "echo one; echo two; exit 4")
        assert (card.state, drawn(card)) == (CardState.DONE, "one\ntwo\n[exit code 4]")
        assert seat.chat.query_one(Composer).is_idle
        await seat.talk("hello")
        reference = seat.chat.service.session.reference if seat.chat.service and seat.chat.service.session else ""
    async with seated(locations, workspace, resume=reference) as seat:
        await seat.ready()
        card = seat.chat.query_one(CommandCard)
        assert (card.state, drawn(card)) == (CardState.DONE, "one\ntwo\n[exit code 4]")
        await seat.pilot.press("up", "up")
        composer = seat.chat.query_one(Composer)
        assert (composer.is_shell, composer.text) == (True, "echo one; echo two; exit 4")


async def test_its_output_grows_in_the_card_and_esc_stops_it(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace, fresh=True) as seat:
        await seat.ready()
        card = await begin(seat, "echo begun; sleep 600")
        await seat.until(lambda: drawn(card) == "begun")
        assert (card.state, seat.chat.busy) == (CardState.RUNNING, True)
        await seat.pilot.press("escape")
        await seat.until(lambda: not seat.chat.busy)
        await seat.idle()
        assert card.state is CardState.INTERRUPTED
        assert drawn(card) == "begun\n[stopped: it may have taken effect]"
        assert card.result is not None and card.result.status is TurnStatus.INTERRUPTED


async def test_ctrl_c_stops_it_too_and_the_next_one_waits_its_turn(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace, fresh=True) as seat:
        await seat.ready()
        card = await begin(seat, "until [ -e go ]; do sleep 0.05; done")
        await seat.pilot.press("!", "l", "s", "enter")
        await seat.until(lambda: seat.chat.query_one(QueuedMessages).display)
        assert seat.chat.waiting == ("!ls",)
        await seat.pilot.press("up")
        composer = seat.chat.query_one(Composer)
        await seat.until(lambda: composer.text == "ls")
        assert composer.is_shell
        await seat.pilot.press("ctrl+c")
        assert (composer.text, seat.chat.busy) == ("", True)
        await seat.pilot.press("ctrl+c")
        await seat.until(lambda: not seat.chat.busy)
        assert card.state is CardState.INTERRUPTED


async def test_a_long_output_is_shown_by_its_end_and_opens_from_its_beginning(
    locations: Locations, workspace: Path
) -> None:
    async with seated(locations, workspace, fresh=True) as seat:
        await seat.ready()
        card = await run(seat, "seq 100")
        assert drawn(card).startswith("… 89 lines above") and drawn(card).endswith("100\n[exit code 0]")
        card.focus()
        await seat.pilot.press("enter")
        assert drawn(card).startswith("1\n2\n")


async def test_what_it_writes_is_drawn_literally(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace, fresh=True) as seat:
        await seat.ready()
        card = await run(seat, r"printf '\033[2J[/red][@click=app.quit]x[/]\r\n'")
        assert drawn(card) == "␛[2J[/red][@click=app.quit]x[/]\n[exit code 0]"


async def test_it_is_found_in_the_archive(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace, fresh=True) as seat:
        await seat.ready()
        await run(seat, "echo zebrafish")
        await seat.say("/recall zebrafish")
        await seat.until(lambda: isinstance(seat.app.screen, ArchiveScreen))
        hits = seat.app.screen.query_one(HitList)
        await seat.until(lambda: len(hits.items) >= 2)


async def test_it_runs_without_a_model_and_a_message_says_that_there_is_none(
    locations: Locations, workspace: Path
) -> None:
    settings = Settings(model="anthropic:claude-sonnet-4-5")
    async with seated(locations, workspace, fresh=True, settings=settings) as seat:
        await seat.until(lambda: seat.chat.service is not None and seat.chat.service.problem is not None)
        card = await run(seat, "echo here")
        assert drawn(card) == "here\n[exit code 0]"
        await seat.say("hello")
        await seat.until(lambda: seat.chat.query_one(Composer).text == "hello")


async def test_a_half_written_command_is_still_one_after_a_restart(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace, fresh=True) as seat:
        await seat.ready()
        await seat.pilot.press("!", "l", "s", "ctrl+q")
    async with seated(locations, workspace, fresh=True) as seat:
        await seat.ready()
        composer = seat.chat.query_one(Composer)
        assert (composer.is_shell, composer.text) == (True, "ls")
