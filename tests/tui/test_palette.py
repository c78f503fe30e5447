"""Ctrl+P: what can be done here, found by its words, and nothing that is not loom's."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from textual.command import CommandList, CommandPalette
from textual.content import Content

from loom.locations import Locations
from loom.tui.commands import COMMANDS
from loom.tui.palette import _literal
from loom.tui.screens.help import HelpScreen
from loom.tui.screens.picker import PickerScreen
from loom.tui.screens.usage import UsageScreen
from loom.tui.widgets.composer import Composer
from tests.support.seat import Seat, seated

HOSTILE = "[/foo] [@click=app.quit]x[/] of Friday"
UNCLOSED = "look in [/tmp/data, then in it[/2 \\"


async def open_palette(seat: Seat) -> list[str]:
    """What it offers before anything is typed."""
    await seat.pilot.press("ctrl+p")
    await seat.until(lambda: isinstance(seat.app.screen, CommandPalette) and options(seat))
    return options(seat)


def options(seat: Seat) -> list[str]:
    return [str(option.prompt) for option in seat.app.screen.query_one(CommandList).options]


def names(offered: list[str]) -> list[str]:
    return [each.split("\n")[0] for each in offered]


async def wanted(seat: Seat, words: str, first: str) -> None:
    """Type this; the first that is offered begins like that."""
    for letter in words:
        await seat.pilot.press("space" if letter == " " else letter)
    await seat.until(lambda: options(seat) and options(seat)[0].startswith(first))


async def test_it_offers_the_commands_as_they_are_written_with_their_keys(
    locations: Locations, workspace: Path
) -> None:
    async with seated(locations, workspace, fresh=True) as seat:
        await seat.ready()
        offered = await open_palette(seat)
        assert names(offered)[: len(COMMANDS)] == [command.usage for command in COMMANDS], "brackets are no markup"
        assert "What the window holds, token by token · F2" in offered[1]
        assert "Theme loom-light" in names(offered)
        assert not {"Screenshot", "Maximize", "Keys"} & set(names(offered))
        await wanted(seat, "context", "/context")


async def test_a_command_is_found_by_what_other_programs_call_it(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace, fresh=True) as seat:
        await seat.ready()
        await open_palette(seat)
        await wanted(seat, "exit", "/quit")


async def test_what_is_chosen_is_done(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace, fresh=True) as seat:
        await seat.ready()
        await open_palette(seat)
        await wanted(seat, "theme light", "Theme loom-light")
        await seat.pilot.press("enter")
        await seat.until(lambda: seat.app.theme == "loom-light")
        await open_palette(seat)
        await wanted(seat, "rename", "/rename")
        await seat.pilot.press("enter")
        await seat.until(lambda: seat.app.screen.query(Composer) and seat.chat.query_one(Composer).text == "/rename ")


async def test_another_session_is_found_by_its_title_which_is_no_markup(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace, fresh=True) as seat:
        await seat.ready()
        await seat.talk(HOSTILE)
        await seat.talk(UNCLOSED)
        first = seat.session_id
        await seat.say("/new")
        await seat.until(lambda: seat.chat.service is not None and seat.chat.service.session is None)
        await seat.ready()
        await open_palette(seat)
        await wanted(seat, "friday", HOSTILE)
        assert UNCLOSED in options(seat)[0]
        await seat.pilot.press("enter")
        await seat.until(lambda: seat.chat.service is not None and seat.chat.service.session is not None)
        assert seat.session_id == first


async def test_nothing_is_said_twice(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace, fresh=True) as seat:
        await seat.ready()
        await seat.talk("read README.md")
        await seat.say("/new")
        await seat.until(lambda: seat.chat.service is not None and seat.chat.service.session is None)
        await seat.ready()
        (other,) = [each for each in await open_palette(seat) if each.startswith("read README.md")]
        assert other.count("README.md") == 1, "its first message is its title"
        (leaving,) = [each for each in options(seat) if "Leave loom" in each]
        assert leaving == "/quit\nLeave loom; everything is kept · Ctrl+Q", "the command and the key are one thing"
        await seat.pilot.press("escape", "f2")
        await seat.until(lambda: isinstance(seat.app.screen, UsageScreen))
        offered = await open_palette(seat)
        assert "Back\nEsc" in offered
        assert "Quit\nLeave loom; everything is kept · Ctrl+Q" in offered, "there are no commands here"


@given(st.text("ab [](){}/\\@=.#'$") | st.text(st.characters(exclude_categories=["Cc", "Cs"])))
def test_a_help_text_is_drawn_as_it_is(text: str) -> None:
    assert Content.from_markup(_literal(text)).plain == text


async def test_over_another_screen_it_offers_the_keys_of_that_screen(locations: Locations, workspace: Path) -> None:
    async with seated(locations, workspace, fresh=True) as seat:
        await seat.ready()
        await seat.say("/sessions")
        await seat.until(lambda: isinstance(seat.app.screen, PickerScreen))
        offered = names(await open_palette(seat))
        assert "Filter" in offered and "Back" in offered
        assert not [name for name in offered if name.startswith("/")]
        await wanted(seat, "help", "Help")
        await seat.pilot.press("enter")
        await seat.until(lambda: isinstance(seat.app.screen, HelpScreen))
