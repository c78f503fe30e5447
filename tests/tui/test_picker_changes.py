"""What the picker does to a session: delete, bring back, rename."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from textual.widgets import Static

from loom.archive import ConversationStore
from loom.archive.errors import ArchiveError
from loom.archive.records import Session
from loom.tui.screens.ask import AskScreen
from loom.tui.screens.confirm import ConfirmScreen
from loom.tui.screens.picker import PickerScreen
from tests.support.browsing import HERE, Fixed, alone, id_of, until
from tests.tui.picking import current, loaded, picker, said, titles


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


async def test_a_deletion_that_failed_is_said_and_cannot_be_taken_back(shelf: Fixed) -> None:
    app = alone(picker(shelf))
    async with app.run_test() as pilot:
        await loaded(pilot)
        await pilot.press("j", "d")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        await shelf.store.close()
        await pilot.press("y")
        await until(pilot, lambda: app.screen_stack[1].query_one("#said").has_class("-error"))
        assert not app.screen.is_modal and "u" not in app.screen.active_bindings


async def test_a_deletion_can_be_taken_back_also_when_the_list_cannot_be_read_after_it(
    shelf: Fixed, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unreadable(workspace: str | None = None, *, limit: int = 50) -> list[Session]:
        raise ArchiveError("The list cannot be read.")

    app = alone(picker(shelf))
    async with app.run_test() as pilot:
        await loaded(pilot)
        await pilot.press("j", "d")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        with monkeypatch.context() as harm:
            harm.setattr(shelf, "list_sessions", unreadable)
            await pilot.press("y")
            await until(pilot, lambda: "The list cannot be read." in said(app))
            await until(pilot, lambda: "u" in app.screen.active_bindings)
        await pilot.press("u")
        await until(pilot, lambda: "is back" in said(app))
        assert len(await shelf.store.list_sessions(HERE)) == 2
