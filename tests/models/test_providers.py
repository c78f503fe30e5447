"""The table of providers agrees with the library that is installed."""

from __future__ import annotations

import inspect
import re

import pytest
from pydantic_ai import models
from pydantic_ai.providers import infer_provider_class

from loom.models.providers import ALIASES, GATEWAY, PROVIDERS, find_provider, known_models


def test_the_models_read_as_text_are_those_that_the_library_lists() -> None:
    assert set(known_models()) == {name for name in models.known_model_names() if ":" in name}


@pytest.mark.parametrize("prefix", PROVIDERS)
def test_every_prefix_is_one_of_the_library(prefix: str) -> None:
    try:
        infer_provider_class(prefix)
    except ImportError:
        assert not PROVIDERS[prefix].installed or PROVIDERS[prefix].module == "pydantic_ai"


def test_every_chat_provider_of_the_library_is_in_the_table() -> None:
    source = inspect.getsource(infer_provider_class)
    of_library = set(re.findall(r"'([a-z-]+)'", " ".join(re.findall(r"case (.+):", source))))
    # These speak, embed or rank, and do not chat.
    assert of_library - set(PROVIDERS) == {"elevenlabs", "sentence-transformers", "voyageai"}


@pytest.mark.parametrize("provider", [each for each in PROVIDERS.values() if each.default])
def test_every_default_is_a_current_model(provider: object) -> None:
    assert f"{provider.prefix}:{provider.default}" in known_models()  # type: ignore[attr-defined]


def test_every_variable_is_one_that_the_library_reads() -> None:
    for provider in PROVIDERS.values():
        if not provider.installed or provider.module not in ("openai", "anthropic", "google.genai"):
            continue
        kind = infer_provider_class(provider.prefix)
        module = inspect.getmodule(kind)
        assert module is not None
        source = inspect.getsource(module)
        for name in (*provider.keys, *provider.needs):
            assert name in source, (provider.prefix, name)


def test_aliases_lead_somewhere() -> None:
    assert set(ALIASES.values()) <= set(PROVIDERS)
    assert not set(ALIASES) & set(PROVIDERS)


def test_the_gateway_sells_what_others_make() -> None:
    provider = find_provider(f"{GATEWAY}anthropic")
    assert provider is not None and provider.module == "anthropic"
    assert provider.missing({"ANTHROPIC_API_KEY": "x"}) == ("PYDANTIC_AI_GATEWAY_API_KEY or PAIG_API_KEY",)
    assert find_provider(f"{GATEWAY}nobody") is None
