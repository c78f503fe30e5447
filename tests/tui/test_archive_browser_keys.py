"""What the keys of the archive browser do, in the query and on a hit."""

from __future__ import annotations

import pytest
from textual.events import Key
from textual.widgets import Input

from loom.tui.choices import AttachTurn, ForkAt, JumpTo
from loom.tui.screens.help import HelpScreen
from loom.tui.widgets.hit_list import HitList
from tests.support.browsing import Fixed, alone, id_of, until
from tests.tui.archive_browser import browser, found, said, typed


async def test_enter_jumps_from_the_query_and_from_the_hits(shelf: Fixed) -> None:
    for keys in (["enter"], ["down", "enter"]):
        screen = browser(shelf, query="refreshToken")
        app = alone(screen)
        async with app.run_test() as pilot:
            await until(pilot, lambda screen=screen: found(screen)[:2] == ["a1b2", "T4"])  # type: ignore[misc]
            await pilot.press(*keys)
            await until(pilot, lambda app=app: app.left)  # type: ignore[misc]
        assert app.result == JumpTo(id_of(shelf, "a1b2"), 4)


@pytest.mark.parametrize(("key", "kind"), [("a", AttachTurn), ("p", AttachTurn), ("f", ForkAt)])
async def test_a_attaches_and_f_forks(shelf: Fixed, key: str, kind: type) -> None:
    screen = browser(shelf, query="refreshToken")
    app = alone(screen)
    async with app.run_test() as pilot:
        await until(pilot, lambda: found(screen)[:2] == ["a1b2", "T4"])
        await pilot.press("down", key)
        await until(pilot, lambda: app.left)
    assert app.result == kind(id_of(shelf, "a1b2"), 4)


async def test_y_copies_and_e_asks_for_an_export_and_both_stay(shelf: Fixed) -> None:
    screen = browser(shelf, query="refreshToken")
    app = alone(screen)
    async with app.run_test() as pilot:
        await until(pilot, lambda: found(screen))
        await pilot.press("down", "y", "e")
        await until(pilot, lambda: app.clipboard.startswith("The refreshToken call"))
        await until(pilot, lambda: app.messages)
        assert app.messages[0].query == "refreshToken" and app.messages[0].hits
        assert not app.left


async def test_in_the_query_the_commands_are_letters(shelf: Fixed) -> None:
    screen = browser(shelf)
    app = alone(screen)
    async with app.run_test() as pilot:
        await typed(pilot, screen, "pyfev?/")
        assert screen.query_one("#query", Input).value == "pyfev?/"
        assert not app.left


async def test_up_from_the_first_hit_and_slash_go_back_to_the_query(shelf: Fixed) -> None:
    screen = browser(shelf, query="refreshToken")
    async with alone(screen).run_test() as pilot:
        await until(pilot, lambda: found(screen))
        for back in ("up", "slash"):
            await pilot.press("down")
            assert isinstance(screen.focused, HitList)
            await pilot.press(back)
            await until(pilot, lambda: isinstance(screen.focused, Input))


async def test_help_and_escape(shelf: Fixed) -> None:
    screen = browser(shelf)
    app = alone(screen)
    async with app.run_test() as pilot:
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        await pilot.press("escape")
        await until(pilot, lambda: app.left)
    assert app.result is None


async def test_a_turn_that_is_named_is_gone_to(shelf: Fixed) -> None:
    screen = browser(shelf)
    app = alone(screen)
    async with app.run_test() as pilot:
        await until(pilot, lambda: screen.is_mounted and screen.query("#query"))
        await pilot.press(*"T3")
        await until(pilot, lambda: said(screen).startswith("Enter goes to T3 of this session."))
        await pilot.press("enter")
        await until(pilot, lambda: app.left)
    assert app.result == JumpTo(id_of(shelf, "a1b2"), 3)


async def test_a_turn_that_is_not_there_is_said_to_be(shelf: Fixed) -> None:
    screen = browser(shelf, query="T4000")
    app = alone(screen)
    async with app.run_test() as pilot:
        await until(pilot, lambda: "Enter goes to T4000" in said(screen))
        await pilot.press("enter")
        await until(pilot, lambda: said(screen) == "This session has no T4000.")
        assert not app.left


async def test_without_a_session_a_turn_that_is_named_is_words_like_others(shelf: Fixed) -> None:
    screen = browser(shelf, session=None, query="T4000")
    async with alone(screen).run_test() as pilot:
        await until(pilot, lambda: "Nothing found" in said(screen))
        assert "Enter goes" not in said(screen)


async def test_letters_behind_the_key_that_leads_to_the_query_are_all_in_it(shelf: Fixed) -> None:
    screen = browser(shelf, query="refreshToken")
    app = alone(screen)
    async with app.run_test() as pilot:
        await until(pilot, lambda: found(screen))
        await pilot.press("down")
        for key in ("slash", "ctrl+u", *"E04ayf"):
            app.post_message(Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: isinstance(screen.focused, Input))
        await until(pilot, lambda: screen.query_one("#query", Input).value == "E04ayf")


async def test_joiners_are_written_into_the_query(shelf: Fixed) -> None:
    screen = browser(shelf)
    app = alone(screen)
    async with app.run_test() as pilot:
        await until(pilot, lambda: isinstance(screen.focused, Input))
        for character in "👩\u200d👧":
            app.post_message(Key(character, character))
        await until(pilot, lambda: screen.query_one("#query", Input).value == "👩\u200d👧")
