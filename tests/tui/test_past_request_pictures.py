"""An earlier request as it looks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from loom.tui.screens.past_request import PastRequestScreen
from loom.tui.widgets.title_line import TitleLine
from tests.support.browsing import Alone, until
from tests.support.past import filled_past

Compare = Callable[..., bool]


def opened(folder: Path, request: int | None = None) -> Alone:
    async def make() -> PastRequestScreen:
        return PastRequestScreen((await filled_past(folder / "home")).requests(), request)

    return Alone(make)


async def read(pilot: Pilot[Any]) -> None:
    await until(pilot, lambda: "sent" in pilot.app.screen.query_one(TitleLine).render().plain)


async def compare(pilot: Pilot[Any]) -> None:
    await read(pilot)
    await pilot.press("d")
    await until(pilot, lambda: "compared" in str(pilot.app.screen.query_one("#facts").render()))


def test_the_newest(snap_compare: Compare, tmp_path: Path) -> None:
    assert snap_compare(opened(tmp_path), terminal_size=(100, 34), run_before=read)


def test_narrow(snap_compare: Compare, tmp_path: Path) -> None:
    assert snap_compare(opened(tmp_path, 3), terminal_size=(60, 24), run_before=read)


def test_compared(snap_compare: Compare, tmp_path: Path) -> None:
    assert snap_compare(opened(tmp_path, 15), terminal_size=(100, 40), run_before=compare)
