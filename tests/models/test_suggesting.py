"""Which models are suggested."""

from __future__ import annotations

import pytest

from loom.config import Settings
from loom.models.choosing import choose_model
from loom.models.suggesting import suggest_models


def names(environ: dict[str, str], model: str = "auto") -> list[str]:
    return [suggestion.name for suggestion in suggest_models(Settings(model=model), environ)]


def test_without_keys_there_is_what_needs_none() -> None:
    assert names({}) == ["auto", "offline"]


def test_a_key_brings_its_providers_model_and_says_which_key_it_is() -> None:
    environ = {"GEMINI_API_KEY": "secret", "ANTHROPIC_API_KEY": "secret"}
    found = suggest_models(Settings(), environ)
    assert [s.name.partition(":")[0] for s in found] == ["anthropic", "google", "auto", "offline"]
    assert found[1].note == "GEMINI_API_KEY is set"
    assert "secret" not in str(found)


def test_a_key_that_is_empty_is_not_set() -> None:
    assert names({"OPENAI_API_KEY": "  "}) == ["auto", "offline"]


def test_a_key_for_another_server_suggests_nothing_of_the_providers() -> None:
    environ = {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": "http://127.0.0.1:8080/v1"}
    assert names(environ) == ["auto", "offline"]


def test_the_model_of_the_settings_comes_first_and_once() -> None:
    assert names({}, "ollama:qwen3") == ["ollama:qwen3", "auto", "offline"]
    (first, *_rest) = names({"ANTHROPIC_API_KEY": "x"})
    assert names({"ANTHROPIC_API_KEY": "x"}, first).count(first) == 1


@pytest.mark.parametrize("key", ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"])
def test_whatever_is_suggested_can_be_chosen(key: str) -> None:
    environ = {key: "x", "OLLAMA_BASE_URL": "http://127.0.0.1:9/v1"}
    for name in names(environ):
        assert choose_model(name, Settings(), environ).name
