"""The archive browser as it looks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static

from loom.tui.screens.archive import ArchiveScreen
from loom.tui.widgets.completion import CompletionPopup
from loom.tui.widgets.facet_bar import Scope
from loom.tui.widgets.hit_preview import HitPreview
from tests.support.browsing import HERE, HOSTILE, NOW, Alone, fill, id_of, steady, until

Compare = Callable[..., bool]


def app_of(path: Path, query: str, *, scope: Scope = Scope.WORKSPACE, hostile: bool = False) -> Alone:
    async def make() -> Screen[Any]:
        shelf = await fill(path / "archive.db")
        if hostile:
            session_id = await shelf.store.create_session(HERE, "offline", "", title=HOSTILE)
            await shelf.store.append_turn(session_id, "user", f"needleword {HOSTILE}", created_at=NOW.isoformat())
            shelf.made[session_id] = ("h0st", NOW)
        return ArchiveScreen(
            shelf, session_id=id_of(shelf, "a1b2"), workspace=HERE, query=query, scope=scope, clock=lambda: NOW
        )

    return Alone(make)


async def found(pilot: Pilot[Any]) -> None:
    await until(pilot, lambda: len(pilot.app.screen_stack) > 1)
    screen = pilot.app.screen
    said = screen.query_one("#said", Static)
    await until(pilot, lambda: screen.query_one(HitPreview).page or "Nothing" in str(said.content))
    steady(pilot)
    await pilot.pause()


def then(*keys: str) -> Callable[[Pilot[Any]], Awaitable[None]]:
    async def run(pilot: Pilot[Any]) -> None:
        await found(pilot)
        await pilot.press(*keys)
        await pilot.pause()

    return run


async def opened(pilot: Pilot[Any]) -> None:
    await until(pilot, lambda: len(pilot.app.screen_stack) > 1)
    steady(pilot)
    await pilot.pause()


def test_some(snap_compare: Compare, tmp_path: Path) -> None:
    assert snap_compare(app_of(tmp_path, "timeout"), run_before=then("down"), terminal_size=(120, 32))


def test_medium(snap_compare: Compare, tmp_path: Path) -> None:
    assert snap_compare(app_of(tmp_path, "timeout"), run_before=found, terminal_size=(80, 30))


def test_narrow(snap_compare: Compare, tmp_path: Path) -> None:
    assert snap_compare(app_of(tmp_path, "timeout"), run_before=then("down"), terminal_size=(60, 16))


def test_empty(snap_compare: Compare, tmp_path: Path) -> None:
    assert snap_compare(app_of(tmp_path, ""), run_before=opened, terminal_size=(80, 24))


def test_nothing_found(snap_compare: Compare, tmp_path: Path) -> None:
    app = app_of(tmp_path, "zebra crossing", scope=Scope.SESSION)
    assert snap_compare(app, run_before=found, terminal_size=(80, 24))


def test_hostile(snap_compare: Compare, tmp_path: Path) -> None:
    app = app_of(tmp_path, "needleword", hostile=True)
    assert snap_compare(app, run_before=then("down"), terminal_size=(120, 24))


def typing(*keys: str) -> Callable[[Pilot[Any]], Awaitable[None]]:
    async def run(pilot: Pilot[Any]) -> None:
        await opened(pilot)
        await pilot.press(*keys)
        popup = pilot.app.screen.query_one(CompletionPopup)
        await until(pilot, lambda: popup.is_open and pilot.app.screen.query_one(HitPreview).page)
        await pilot.pause()

    return run


def test_completing_a_filter(snap_compare: Compare, tmp_path: Path) -> None:
    app = app_of(tmp_path, "")
    assert snap_compare(app, run_before=typing(*"timeout session:"), terminal_size=(100, 26))


def test_completing_a_filter_narrow(snap_compare: Compare, tmp_path: Path) -> None:
    app = app_of(tmp_path, "")
    assert snap_compare(app, run_before=typing(*"timeout role:"), terminal_size=(60, 16))
