"""Filtering the picker's list as one types."""

from __future__ import annotations

import pytest
from textual.events import Key
from textual.widgets import Input

from loom.tui.choices import OpenSession
from loom.tui.screens.confirm import ConfirmScreen
from loom.tui.screens.picker import PickerScreen
from tests.support.browsing import Alone, Fixed, alone, id_of, until
from tests.tui.picking import current, loaded, picker, said, titles


def escape_does(app: Alone) -> str:
    """What the footer says of Esc."""
    return app.screen.active_bindings["escape"].binding.description


async def test_slash_filters_and_escape_clears_the_filter_before_it_leaves(shelf: Fixed) -> None:
    app = alone(picker(shelf))
    async with app.run_test() as pilot:
        await loaded(pilot)
        await pilot.press("slash", *"jdkn login")
        await until(pilot, lambda: titles(app) == [])
        assert "No session has “jdkn login”" in said(app)
        assert escape_does(app) == "Clear filter"
        await pilot.press("escape")
        await loaded(pilot)
        assert not app.left
        assert escape_does(app) == "Leave"
        await pilot.press("escape")
        await until(pilot, lambda: app.left)


async def test_a_letter_that_is_no_command_begins_the_filter(shelf: Fixed) -> None:
    app = alone(picker(shelf))
    async with app.run_test() as pilot:
        await loaded(pilot)
        await pilot.press(*"time")
        await until(pilot, lambda: titles(app) == ["Fix the login timeout"])
        assert app.screen.query_one("#filter", Input).value == "time"
        assert current(app) == "Fix the login timeout"
        await pilot.press("enter")
        await until(pilot, lambda: app.left)
    assert app.result == OpenSession(id_of(shelf, "a1b2"))


@pytest.mark.parametrize("burst", ["the n d a", "/n d a"])
async def test_a_burst_of_letters_is_in_the_filter_whole(shelf: Fixed, burst: str) -> None:
    """A word that was typed before the picker was there arrives all at once: no letter of it is lost or a command."""
    app = alone(picker(shelf))
    async with app.run_test() as pilot:
        await loaded(pilot)
        for letter in burst:
            app.post_message(Key({" ": "space", "/": "slash"}.get(letter, letter), letter))
        box = app.screen.query_one("#filter", Input)
        await until(pilot, lambda: len(box.value) >= len(burst.removeprefix("/")))
        assert box.value == burst.removeprefix("/")
        assert isinstance(app.screen, PickerScreen)
        # Back in the list, letters are commands again.
        await pilot.press("escape")
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))


async def test_what_is_corrected_in_a_burst_is_filtered_as_it_was_typed(shelf: Fixed) -> None:
    app = alone(picker(shelf))
    async with app.run_test() as pilot:
        await loaded(pilot)
        await pilot.press("slash")
        for key in (*"lpgin", *["left"] * 3, "backspace", "o", "end", "x", "backspace", "enter"):
            app.post_message(Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: app.left)
    assert app.result == OpenSession(id_of(shelf, "a1b2"))


async def test_the_arrows_move_the_list_while_the_filter_has_the_keyboard(shelf: Fixed) -> None:
    app = alone(picker(shelf))
    async with app.run_test() as pilot:
        await loaded(pilot)
        await pilot.press("slash", "i", "down")
        await until(pilot, lambda: current(app) == "Fix the login timeout")
        await pilot.press("up", "up")
        await until(pilot, lambda: current(app) is None)


@pytest.mark.parametrize("wanted", ["GPT", "why BUILD", "why"])
async def test_the_filter_looks_at_title_and_model_whatever_their_case(shelf: Fixed, wanted: str) -> None:
    app = alone(picker(shelf))
    async with app.run_test() as pilot:
        await loaded(pilot)
        await pilot.press("slash", *wanted)
        await until(pilot, lambda: titles(app) == ["Why is the build red?"])
