"""Which models a person may want to change to: what works with the keys that are set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loom.config import OFFLINE, Settings
from loom.models.providers import LOCAL_OLLAMA, PROVIDERS

_NAMELESS = ("", "auto", OFFLINE)


@dataclass(frozen=True, slots=True)
class ModelSuggestion:
    """A name that a person can choose, and what is to say about it (`ANTHROPIC_API_KEY is set`)."""

    name: str
    note: str = ""


def suggest_models(settings: Settings, environ: Mapping[str, str]) -> tuple[ModelSuggestion, ...]:
    """The model of the settings, the default model of every provider whose key is set and whose package is there,
    `auto` and `offline`; each once. No network is asked, so local servers' models are not in it."""
    found: dict[str, ModelSuggestion] = {}
    if settings.model.strip().lower() not in _NAMELESS:
        found[settings.model] = ModelSuggestion(settings.model, "from the settings")
    for provider in PROVIDERS.values():
        key = provider.key(environ)
        # With another address, the key is for a server that has models of its own.
        elsewhere = bool(provider.base_url and environ.get(provider.base_url, "").strip())
        if key is not None and provider.default and provider.installed and not elsewhere:
            name = f"{provider.prefix}:{provider.default}"
            found.setdefault(name, ModelSuggestion(name, f"{key} is set"))
    server = "OPENAI_BASE_URL" if environ.get("OPENAI_BASE_URL", "").strip() else LOCAL_OLLAMA.removesuffix("/v1")
    auto = ModelSuggestion("auto", f"the first key that is set, else {server.removeprefix('http://')}, else offline")
    return (*found.values(), auto, ModelSuggestion(OFFLINE, "no key and no server; a small grammar, no intelligence"))
