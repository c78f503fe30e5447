"""The session picker, on a real archive."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from textual.events import Key
from textual.pilot import Pilot
from textual.widgets import Input, Static

from loom.archive import ConversationStore
from loom.archive.records import Session
from loom.text import UNSAFE
from loom.tui.choices import NewSession, OpenSession, Quit
from loom.tui.screens.archive import ArchiveScreen
from loom.tui.screens.ask import AskScreen
from loom.tui.screens.confirm import ConfirmScreen
from loom.tui.screens.help import HelpScreen
from loom.tui.screens.picker import PickerScreen
from loom.tui.widgets.facet_bar import Facet
from loom.tui.widgets.session_list import SessionList
from tests.support.browsing import (
    ELSEWHERE,
    HERE,
    HOSTILE,
    NOW,
    Alone,
    Fixed,
    alone,
    fill,
    id_of,
    screen_text,
    until,
)


class Clock:
    """Seconds, one more at every look: no key is ever too soon."""

    now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def picker(shelf: Fixed, workspace: str = HERE, **options: Any) -> PickerScreen:
    return PickerScreen(shelf, workspace, search=shelf, clock=lambda: NOW, key_clock=Clock(), **options)


def titles(app: Alone) -> list[str]:
    rows = app.screen_stack[1].query_one(SessionList).items
    return [row.title for row in rows if isinstance(row, Session)]


def current(app: Alone) -> str | None:
    row = app.screen_stack[1].query_one(SessionList).current
    return row.title if isinstance(row, Session) else None


def said(app: Alone) -> str:
    return str(app.screen_stack[1].query_one("#said", Static).content)


async def loaded(pilot: Pilot[Any], count: int = 2) -> None:
    app = pilot.app
    assert isinstance(app, Alone)
    await until(pilot, lambda: len(app.screen_stack) > 1 and len(titles(app)) == count)


async def test_it_shows_this_workspaces_sessions_newest_first_under_new_session(shelf: Fixed) -> None:
    app = alone(picker(shelf))
    async with app.run_test() as pilot:
        await loaded(pilot)
        # Made in this order, so the one made last is the newest.
        assert titles(app) == ["Why is the build red?", "Fix the login timeout"]
        assert current(app) is None


async def test_enter_on_the_first_row_starts_a_new_session(shelf: Fixed) -> None:
    app = alone(picker(shelf))
    async with app.run_test() as pilot:
        await loaded(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: app.left)
    assert app.result == NewSession()


@pytest.mark.parametrize("keys", [["j", "j"], ["down", "down"], ["G"], ["end"], ["j", "j", "k", "j"], ["pagedown"]])
async def test_keys_move_and_enter_opens(shelf: Fixed, keys: list[str]) -> None:
    app = alone(picker(shelf))
    async with app.run_test() as pilot:
        await loaded(pilot)
        await pilot.press(*keys, "enter")
        await until(pilot, lambda: app.left)
    assert app.result == OpenSession(id_of(shelf, "a1b2"))


async def test_n_starts_a_new_session_from_anywhere(shelf: Fixed) -> None:
    app = alone(picker(shelf))
    async with app.run_test() as pilot:
        await loaded(pilot)
        await pilot.press("j", "n")
        await until(pilot, lambda: app.left)
    assert app.result == NewSession()


async def test_escape_leaves(shelf: Fixed) -> None:
    app = alone(picker(shelf))
    async with app.run_test() as pilot:
        await loaded(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: app.left)
    assert app.result == Quit()


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


async def test_the_cursor_goes_to_the_session_that_is_read_as_soon_as_it_is_listed(shelf: Fixed) -> None:
    app = alone(picker(shelf, begin_at=id_of(shelf, "z9y8")))
    async with app.run_test() as pilot:
        await loaded(pilot)
        assert current(app) is None
        await pilot.press("a")
        await loaded(pilot, 3)
        await pilot.press("enter")
        await until(pilot, lambda: app.left)
    assert app.result == OpenSession(id_of(shelf, "z9y8"))


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


async def test_a_shows_every_workspace_and_back(shelf: Fixed) -> None:
    app = alone(picker(shelf))
    async with app.run_test() as pilot:
        await loaded(pilot)
        await pilot.press("a")
        await loaded(pilot, 3)
        assert app.screen.query_one(SessionList).with_place
        await pilot.press("a")
        await loaded(pilot, 2)


async def test_the_cursor_stays_on_its_session_when_the_list_changes(shelf: Fixed) -> None:
    app = alone(picker(shelf))
    async with app.run_test() as pilot:
        await loaded(pilot)
        await pilot.press("j", "a")
        await loaded(pilot, 3)
        assert current(app) == "Why is the build red?"


async def test_d_asks_deletes_and_u_brings_back(shelf: Fixed) -> None:
    app = alone(picker(shelf))
    async with app.run_test() as pilot:
        await loaded(pilot)
        await pilot.press("j", "d")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        effect = str(app.screen.query_one(".effect", Static).content)
        assert "k3f9 · 3 turns" in effect and HERE in effect
        await pilot.press("y")
        await loaded(pilot, 1)
        await until(pilot, lambda: "u brings it back" in said(app))
        assert [s.title for s in await shelf.store.list_sessions(HERE)] == ["Fix the login timeout"]
        await pilot.press("u")
        await loaded(pilot, 2)
        await until(pilot, lambda: "is back" in said(app))
        await until(pilot, lambda: current(app) == "Why is the build red?")


async def test_what_another_loom_has_open_is_marked_as_long_as_it_has_it(
    shelf: Fixed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loom.tui.screens.picker.LOOK_SECONDS", 0.01)
    other = await ConversationStore.open(tmp_path / "archive.db")
    await other.acquire_lease(id_of(shelf, "a1b2"))
    app = alone(picker(shelf))
    async with app.run_test(size=(120, 24)) as pilot:
        await loaded(pilot)
        await until(pilot, lambda: "○ Fix the login timeout" in screen_text(app))
        assert screen_text(app).count("open in another loom") == 1
        await other.release_lease(id_of(shelf, "a1b2"))
        await other.acquire_lease(id_of(shelf, "k3f9"))
        await until(pilot, lambda: "○ Why is the build red?" in screen_text(app))
        await until(pilot, lambda: "○ Fix the login timeout" not in screen_text(app))
        await other.close()
        await until(pilot, lambda: "open in another loom" not in screen_text(app))


async def test_a_deletion_says_that_another_loom_has_the_session_open(shelf: Fixed, tmp_path: Path) -> None:
    other = await ConversationStore.open(tmp_path / "archive.db")
    await other.acquire_lease(id_of(shelf, "k3f9"))
    app = alone(picker(shelf))
    async with app.run_test() as pilot:
        await loaded(pilot)
        await pilot.press("j", "d")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen) and app.screen.query(".effect"))
        effect = str(app.screen.query_one(".effect", Static).content)
        assert f"It is open in another loom. Process {os.getpid()} on " in effect
        await pilot.press("n")
        await other.close()
        await until(pilot, lambda: isinstance(app.screen, PickerScreen))
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen) and app.screen.query(".effect"))
        assert "another loom" not in str(app.screen.query_one(".effect", Static).content)


async def test_a_no_deletes_nothing(shelf: Fixed) -> None:
    app = alone(picker(shelf))
    async with app.run_test() as pilot:
        await loaded(pilot)
        await pilot.press("j", "d")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, PickerScreen))
        assert len(await shelf.store.list_sessions(HERE)) == 2


async def test_new_session_cannot_be_deleted_or_renamed_and_u_without_a_deletion_is_nothing(shelf: Fixed) -> None:
    app = alone(picker(shelf))
    async with app.run_test() as pilot:
        await loaded(pilot)
        await pilot.press("d", "r", "u")
        await pilot.pause()
        assert isinstance(app.screen, PickerScreen)
        assert not app.screen.query_one("#filter").has_class("-shown")


async def test_the_open_session_is_not_deleted(shelf: Fixed) -> None:
    app = alone(picker(shelf, open_id=id_of(shelf, "k3f9")))
    async with app.run_test() as pilot:
        await loaded(pilot)
        await pilot.press("j", "d")
        await until(pilot, lambda: "This session is open" in said(app))


async def test_r_renames(shelf: Fixed) -> None:
    app = alone(picker(shelf))
    async with app.run_test() as pilot:
        await loaded(pilot)
        await pilot.press("j", "r")
        await until(pilot, lambda: isinstance(app.screen, AskScreen))
        await pilot.press("ctrl+u", *"Red build", "enter")
        await until(pilot, lambda: titles(app)[0] == "Red build")
    assert (await shelf.store.list_sessions(HERE))[0].title == "Red build"


async def test_question_mark_shows_the_keys(shelf: Fixed) -> None:
    app = alone(picker(shelf))
    async with app.run_test() as pilot:
        await loaded(pilot)
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        assert "Delete the session, after a yes" in str(app.screen.query_one(".page", Static).content)


@pytest.mark.parametrize("from_filter", [False, True])
async def test_control_f_opens_the_archive_browser(shelf: Fixed, from_filter: bool) -> None:
    app = alone(picker(shelf))
    async with app.run_test() as pilot:
        await loaded(pilot)
        await pilot.press(*(["slash", "z"] if from_filter else []), "ctrl+f")
        await until(pilot, lambda: isinstance(app.screen, ArchiveScreen))


@pytest.mark.parametrize(("keys", "scope"), [((), "this workspace"), (("a",), "everything")])
async def test_what_is_listed_is_searched_first_and_the_session_under_the_cursor_is_a_key_away(
    shelf: Fixed, keys: tuple[str, ...], scope: str
) -> None:
    app = alone(picker(shelf))
    async with app.run_test() as pilot:
        await loaded(pilot)
        await pilot.press(*keys, "down", "ctrl+f")
        await until(pilot, lambda: isinstance(app.screen, ArchiveScreen) and app.screen.query(Facet))
        bar = app.screen.query(Facet).first()
        await until(pilot, lambda: scope in str(bar.content))
        for _ in range(2):
            await pilot.press("ctrl+t")
            if "this session" in str(bar.content):
                return
        raise AssertionError("no way to the session")


async def test_an_empty_workspace_says_what_to_do(shelf: Fixed) -> None:
    app = alone(picker(shelf, "/nowhere/yet"))
    async with app.run_test() as pilot:
        await until(pilot, lambda: "No session in this workspace yet" in said(app))


async def test_a_failing_archive_is_said_and_the_screen_lives(tmp_path: Path) -> None:
    shelf = await fill(tmp_path / "archive.db")
    app = alone(picker(shelf))
    async with app.run_test() as pilot:
        await loaded(pilot)
        await shelf.store.close()
        await pilot.press("a")
        await until(pilot, lambda: app.screen.query_one("#said").has_class("-error"))
        await pilot.press("escape")
        await until(pilot, lambda: app.left)


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (200, 50)])
async def test_hostile_titles_are_drawn_literally_at_any_width(shelf: Fixed, size: tuple[int, int]) -> None:
    hostile = await shelf.store.create_session(HERE, HOSTILE, "", title="x")
    await shelf.store.append_turn(hostile, "user", HOSTILE * 40)
    await shelf.store.rename_session(hostile, HOSTILE)
    app = alone(picker(shelf))
    async with app.run_test(size=size) as pilot:
        await loaded(pilot, 3)
        rows = app.screen.query_one(SessionList)
        drawn = "\n".join(rows.render_line(y).text for y in range(rows.size.height))
        assert "[/foo]" in drawn and not UNSAFE.search(drawn)
        assert all(rows.render_line(y).cell_length == rows.scrollable_content_region.width for y in range(8))
        await pilot.press("j", "r")
        await until(pilot, lambda: isinstance(app.screen, AskScreen))
        await pilot.press("escape", "d")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))


async def test_ten_thousand_sessions_are_listed_and_only_the_visible_ones_drawn(
    shelf: Fixed, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = (await shelf.store.list_sessions(ELSEWHERE))[0]
    many = [Session(**{**{c: one[c] for c in one}, "id": f"s{n}", "title": f"Session {n}"}) for n in range(10_000)]

    async def list_sessions(workspace: str | None = None, *, limit: int = 50) -> list[Session]:
        return many[:limit]

    monkeypatch.setattr(shelf, "list_sessions", list_sessions)
    drawn: set[str] = set()
    real = SessionList.draw_row

    def draw_row(rows: SessionList, item: Any, width: int) -> Any:
        drawn.add(getattr(item, "id", "new"))
        return real(rows, item, width)

    monkeypatch.setattr(SessionList, "draw_row", draw_row)
    app = alone(picker(shelf, ELSEWHERE))
    async with app.run_test() as pilot:
        await loaded(pilot, 10_000)
        await pilot.press("end")
        await until(pilot, lambda: current(app) == "Session 9999")
        await pilot.press("slash", *"9876")
        await until(pilot, lambda: titles(app) == ["Session 9876"])
        assert len(drawn) < 100
