"""Choosing a model as it looks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.pilot import Pilot

from loom.models.suggesting import ModelSuggestion
from loom.tui.screens.choose_model import ChooseModelScreen
from tests.support.browsing import HOSTILE, alone, steady
from tests.tui.test_choose_model import MODELS

Compare = Callable[..., bool]


async def typing(pilot: Pilot[Any]) -> None:
    steady(pilot)
    await pilot.press(*"o")
    await pilot.pause()


def test_some(snap_compare: Compare) -> None:
    assert snap_compare(alone(ChooseModelScreen("offline", MODELS)), run_before=steady)


def test_typing(snap_compare: Compare) -> None:
    assert snap_compare(alone(ChooseModelScreen("offline", MODELS)), run_before=typing)


def test_narrow_and_hostile(snap_compare: Compare) -> None:
    screen = ChooseModelScreen(HOSTILE, (*MODELS, ModelSuggestion(HOSTILE, HOSTILE)))
    assert snap_compare(alone(screen), run_before=steady, terminal_size=(60, 16))
