"""The session picker, on a real archive: its list, its keys, where they lead."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input, Static

from loom.archive import ConversationStore
from loom.archive.records import Session
from loom.text import UNSAFE
from loom.tui.choices import AttachTurn, ForkAt, NewSession, OpenSession, Quit
from loom.tui.screens.archive import ArchiveScreen
from loom.tui.screens.ask import AskScreen
from loom.tui.screens.confirm import ConfirmScreen
from loom.tui.screens.help import HelpScreen
from loom.tui.widgets.facet_bar import Facet
from loom.tui.widgets.session_list import SessionList
from tests.support.browsing import ELSEWHERE, HERE, HOSTILE, Fixed, alone, fill, id_of, screen_text, until
from tests.support.checkout import make_checkout
from tests.tui.picking import current, loaded, picker, said, titles


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
        await until(pilot, lambda: isinstance(app.screen, ArchiveScreen) and app.screen.query("#query"))
        # What was looked for in the list is looked for in what was said.
        assert app.screen.query_one("#query", Input).value == ("z" if from_filter else "")


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


async def test_a_list_that_is_read_late_does_not_take_the_place_of_the_one_asked_for_since(
    shelf: Fixed, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, go_on = asyncio.Event(), asyncio.Event()
    read = shelf.list_sessions

    async def slow_here(workspace: str | None = None, *, limit: int = 50) -> list[Session]:
        listed = await read(workspace, limit=limit)
        if workspace is not None:
            asked.set()
            await go_on.wait()
        return listed

    app = alone(picker(shelf))
    async with app.run_test() as pilot:
        await loaded(pilot)
        monkeypatch.setattr(shelf, "list_sessions", slow_here)
        await pilot.press("j", "r")
        await until(pilot, lambda: isinstance(app.screen, AskScreen))
        await pilot.press("x", "enter")
        await until(pilot, asked.is_set)
        await pilot.press("a")
        await loaded(pilot, 3)
        go_on.set()
        await until(pilot, lambda: "It is called" in said(app))
        assert len(titles(app)) == 3


async def test_what_went_wrong_stands_unless_there_is_something_newer_to_say(shelf: Fixed) -> None:
    app = alone(picker(shelf, said="That session is gone."))
    async with app.run_test() as pilot:
        await loaded(pilot)
        assert said(app) == "That session is gone."
        await pilot.press("slash", *"zebra")
        await until(pilot, lambda: "No session has “zebra”" in said(app))
        await pilot.press("escape")
        await until(pilot, lambda: said(app) == "That session is gone.")


@pytest.mark.parametrize(("key", "choice"), [("enter", OpenSession), ("a", AttachTurn), ("f", ForkAt)])
async def test_what_was_chosen_of_a_hit_is_what_the_picker_gives(shelf: Fixed, key: str, choice: Any) -> None:
    app = alone(picker(shelf))
    async with app.run_test() as pilot:
        await loaded(pilot)
        await pilot.press("ctrl+f")
        await until(pilot, lambda: isinstance(app.screen, ArchiveScreen) and app.screen.query("#query"))
        await pilot.press(*"E0433", "down", key)
        await until(pilot, lambda: app.left)
    assert app.result == choice(id_of(shelf, "k3f9"), 2)


async def test_a_session_that_was_begun_in_another_folder_of_the_project_is_shown_with_it(
    shelf: Fixed, tmp_path: Path
) -> None:
    here = make_checkout(tmp_path / "here")
    there = make_checkout(tmp_path / "over-there")
    for folder in (here, there):
        session = await shelf.store.create_session(str(folder), "offline", "", title="Begun")
        await shelf.store.append_turn(session, "user", "hello")
    app = alone(picker(shelf, str(here)))
    async with app.run_test(size=(140, 24)) as pilot:
        await loaded(pilot)
        await until(pilot, lambda: "/over-there offline" in " ".join(screen_text(app).split()))
        assert "/here offline" not in " ".join(screen_text(app).split())
