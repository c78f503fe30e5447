"""The picker as it looks."""

from __future__ import annotations

import fcntl
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from loom.archive import Session
from loom.tui.screens.confirm import ConfirmScreen
from loom.tui.screens.picker import PickerScreen
from loom.tui.widgets.session_list import SessionList
from tests.support.browsing import HERE, HOSTILE, NOW, Alone, fill, screen_text, steady, until

Compare = Callable[..., bool]


def app_of(path: Path, workspace: str = HERE, *, hostile: bool = False) -> Alone:
    async def make() -> Screen[Any]:
        shelf = await fill(path / "archive.db")
        if hostile:
            session_id = await shelf.store.create_session(HERE, "[red]model[/]", "", title=HOSTILE)
            await shelf.store.append_turn(session_id, "user", HOSTILE * 3, created_at=NOW.isoformat())
            shelf.made[session_id] = ("h0st", NOW)
        return PickerScreen(shelf, workspace, search=shelf, clock=lambda: NOW)

    return Alone(make)


def pressing(*keys: str, sessions: int = 2) -> Callable[[Pilot[Any]], Awaitable[None]]:
    async def run(pilot: Pilot[Any]) -> None:
        await until(pilot, lambda: len(pilot.app.screen_stack) > 1)
        rows = pilot.app.screen.query_one(SessionList)
        await until(pilot, lambda: len(rows.items) == sessions + 1)
        steady(pilot)
        await pilot.press(*keys)
        await pilot.pause()

    return run


def test_some(snap_compare: Compare, tmp_path: Path) -> None:
    assert snap_compare(app_of(tmp_path), run_before=pressing("j"))


def test_empty(snap_compare: Compare, tmp_path: Path) -> None:
    assert snap_compare(app_of(tmp_path, "/home/ada/src/new"), run_before=pressing(sessions=0))


def test_narrow(snap_compare: Compare, tmp_path: Path) -> None:
    assert snap_compare(app_of(tmp_path), run_before=pressing("j"), terminal_size=(60, 16))


def test_wide(snap_compare: Compare, tmp_path: Path) -> None:
    async def everywhere(pilot: Pilot[Any]) -> None:
        await pressing("j", "a")(pilot)
        await until(pilot, lambda: "(gone)" in screen_text(pilot.app))

    assert snap_compare(app_of(tmp_path), run_before=everywhere, terminal_size=(200, 30))


@pytest.mark.parametrize("size", [(80, 24), (160, 24)], ids=["narrow", "wide"])
def test_open_elsewhere(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    with ExitStack() as open_elsewhere:

        async def marked(pilot: Pilot[Any]) -> None:
            await pressing("j")(pilot)
            [session] = [row for row in pilot.app.screen.query_one(SessionList).items[1:2] if isinstance(row, Session)]
            (tmp_path / "leases").mkdir()
            lease = open_elsewhere.enter_context((tmp_path / "leases" / f"{session.id}.lease").open("w"))
            fcntl.flock(lease, fcntl.LOCK_EX)
            await until(pilot, lambda: "open in another loom" in screen_text(pilot.app))

        assert snap_compare(app_of(tmp_path), run_before=marked, terminal_size=size)


def test_hostile(snap_compare: Compare, tmp_path: Path) -> None:
    assert snap_compare(app_of(tmp_path, hostile=True), run_before=pressing("j", sessions=3))


def test_hostile_and_wide(snap_compare: Compare, tmp_path: Path) -> None:
    app = app_of(tmp_path, hostile=True)
    assert snap_compare(app, run_before=pressing("j", sessions=3), terminal_size=(160, 24))


def test_filtered(snap_compare: Compare, tmp_path: Path) -> None:
    async def filtered(pilot: Pilot[Any]) -> None:
        await pressing("slash", *"build")(pilot)
        await until(pilot, lambda: len(pilot.app.screen.query_one(SessionList).items) == 2)

    assert snap_compare(app_of(tmp_path), run_before=filtered)


def test_deleting(snap_compare: Compare, tmp_path: Path) -> None:
    async def deleting(pilot: Pilot[Any]) -> None:
        await pressing("j", "d")(pilot)
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))

    assert snap_compare(app_of(tmp_path), run_before=deleting)
