"""Choosing a model."""

from __future__ import annotations

import pytest
from textual.widgets import Input

from loom.config import Settings
from loom.models.suggesting import ModelSuggestion, suggest_models
from loom.tui.screens.choose_model import ChooseModelScreen, ModelList, offered
from tests.support.browsing import HOSTILE, alone, until

MODELS = (
    ModelSuggestion("anthropic:claude-opus-4-6", "ANTHROPIC_API_KEY is set"),
    ModelSuggestion("ollama:qwen3", "running here"),
    ModelSuggestion("offline"),
)


def test_nothing_typed_offers_everything() -> None:
    assert offered(MODELS, " ") == MODELS


def test_a_part_of_a_name_offers_what_it_may_mean_and_then_itself() -> None:
    assert [m.name for m in offered(MODELS, "opus")] == ["anthropic:claude-opus-4-6", "opus"]


def test_a_name_with_a_colon_is_meant_as_it_stands() -> None:
    assert [m.name for m in offered(MODELS, "ollama:q")] == ["ollama:q", "ollama:qwen3"]


def test_a_whole_name_is_offered_once_and_first() -> None:
    assert [m.name for m in offered(MODELS, "offline")] == ["offline"]


@pytest.mark.parametrize("width", [46, 74])
@pytest.mark.parametrize("environ", [{}, {"OPENAI_BASE_URL": "http://10.0.0.7:8080/v1", "ANTHROPIC_API_KEY": "x"}])
def test_what_a_model_needs_is_read_to_its_end(width: int, environ: dict[str, str]) -> None:
    suggestions = suggest_models(Settings(), environ)
    rows = ModelList(suggestions, "offline")
    for each in suggestions:
        lines = [line.plain for line in rows.draw_row(each, width)]
        assert len(lines) == rows.height_of(each, width)
        assert max(map(len, lines)) <= width
        assert f"{each.name} {each.note}" in " ".join(" ".join(lines).split())


async def test_arrows_and_enter_take_a_suggestion() -> None:
    app = alone(ChooseModelScreen("offline", MODELS))
    async with app.run_test() as pilot:
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.left)
    assert app.result == "ollama:qwen3"


async def test_any_name_can_be_typed() -> None:
    screen = ChooseModelScreen("offline", MODELS)
    app = alone(screen)
    async with app.run_test() as pilot:
        await pilot.press(*"groq:x")
        await until(pilot, lambda: [m.name for m in screen.query_one(ModelList).items] == ["groq:x"])
        await pilot.press("enter")
        await until(pilot, lambda: app.left)
    assert app.result == "groq:x"


async def test_escape_chooses_nothing() -> None:
    app = alone(ChooseModelScreen("offline", MODELS))
    async with app.run_test() as pilot:
        await pilot.press("o", "escape")
        await until(pilot, lambda: app.left)
    assert app.result is None


async def test_hostile_names_are_drawn_literally() -> None:
    screen = ChooseModelScreen(HOSTILE, (ModelSuggestion(HOSTILE, HOSTILE),))
    async with alone(screen).run_test(size=(60, 16)) as pilot:
        await pilot.press(*"[/foo")
        await until(pilot, lambda: screen.query_one(Input).value == "[/foo")
        assert screen.query_one(ModelList).size.width <= 60
