"""How many tokens a model takes, from the data that comes with the library."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loom.config import OFFLINE
from loom.models.choice import ASSUMED_WINDOW, OFFLINE_WINDOW, ModelChoice
from loom.models.windows import refine


def assumed(name: str) -> ModelChoice:
    return ModelChoice(name, "asked for", ASSUMED_WINDOW, window_assumed=True)


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("anthropic:claude-haiku-4-5", 200_000),
        ("anthropic:claude-sonnet-5-5", 1_000_000),
        ("openai:gpt-6.1-sol", 1_050_000),
        ("moonshotai:kimi-k3", 1_048_576),
    ],
)
def test_a_known_model_has_its_own_window(name: str, window: int) -> None:
    refined = refine(assumed(name))
    assert (refined.window, refined.window_assumed) == (window, False)


@pytest.mark.parametrize("name", ["openai-chat:my-own-model", "ollama:nobody-knows-this", "nobody:x", "x"])
def test_an_unknown_model_keeps_the_assumption(name: str) -> None:
    assert refine(assumed(name)) == assumed(name)


def test_a_window_that_was_set_stays() -> None:
    choice = replace(assumed("anthropic:claude-haiku-4-5"), window=5_000, window_assumed=False)
    assert refine(choice) is choice


def test_the_offline_model_has_its_own() -> None:
    choice = ModelChoice(OFFLINE, "asked for", OFFLINE_WINDOW, window_assumed=False)
    assert refine(choice) is choice
