"""A whole turn as it looks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from textual.screen import Screen

from loom.tui.screens.turn_view import TurnViewScreen
from tests.support.browsing import HOSTILE, Alone, fill
from tests.support.turns import turn

Compare = Callable[..., bool]


def app_of(path: Path, text: str) -> Alone:
    async def make() -> Screen[Any]:
        return TurnViewScreen(await fill(path / "archive.db"), turn(57, "tool", text, tool="read_file"))

    return Alone(make)


def test_some(snap_compare: Compare, tmp_path: Path) -> None:
    text = "\n".join(f"{n:4}  def function_{n}():" for n in range(1, 200))
    assert snap_compare(app_of(tmp_path, text))


def test_narrow_and_hostile(snap_compare: Compare, tmp_path: Path) -> None:
    assert snap_compare(app_of(tmp_path, HOSTILE * 3 + "\n" + "long " * 60), terminal_size=(60, 16))
