"""Which model answers: decided from its name and the environment, in milliseconds, importing no provider.

`choose_model` may ask a local server for its models (PROBE_SECONDS at most, for `auto` only): call it off the event
loop.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping

from loom.config import OFFLINE, Settings
from loom.models.choice import OFFLINE_WINDOW, ModelChoice, ModelUnavailable
from loom.models.probing import ollama_models, parse_address, served_models
from loom.models.providers import (
    ALIASES,
    GATEWAY,
    LOCAL_OLLAMA,
    PROVIDERS,
    Provider,
    find_provider,
    known_models,
)
from loom.models.windows import set_window
from loom.text import show_line

AUTO = "auto"

SET_A_KEY = (
    "For a real model set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, point OPENAI_BASE_URL at a local "
    "server, or start Ollama."
)
_OFFLINE_HINT = "The model `offline` works without any."


def choose_model(wanted: str, settings: Settings, environ: Mapping[str, str] | None = None) -> ModelChoice:
    """The model that `wanted` asks for: a pydantic-ai model string, `auto` or `offline`.

    Raises ModelUnavailable if it can be seen without a network that it would not work: an unknown provider, no
    provider, a key that is not set, a package that is not installed.
    """
    env = os.environ if environ is None else environ
    name = wanted.strip()
    if name.lower() in ("", AUTO):
        return _choose(settings, env)
    if name.lower() == OFFLINE:
        return _offline(settings, "asked for", "")
    return _asked_for(name, settings, env)


def _offline(settings: Settings, reason: str, note: str) -> ModelChoice:
    window, _ = set_window(OFFLINE, settings, OFFLINE_WINDOW)
    return ModelChoice(OFFLINE, reason, window, window_assumed=False, note=note)


def _made(name: str, reason: str, settings: Settings, note: str = "") -> ModelChoice:
    window, assumed = set_window(name, settings)
    return ModelChoice(name, reason, window, assumed, note)


# ---- auto -----------------------------------------------------------------------------------------------------------


def _choose(settings: Settings, env: Mapping[str, str]) -> ModelChoice:
    notes: list[str] = []
    elsewhere = env.get("OPENAI_BASE_URL", "").strip()
    for provider in PROVIDERS.values():
        key = provider.key(env)
        if key is None or not provider.default:
            continue
        if provider.prefix == "openai" and elsewhere:
            # The key is for the server that the variable points at, which has models of its own.
            continue
        if not provider.installed:
            notes.append(f"{key} is set, but {_package(provider)} is not installed.")
            continue
        return _made(f"{provider.prefix}:{provider.default}", f"{key} is set", settings, " ".join(notes))
    if elsewhere:
        served = served_models(elsewhere, env.get("OPENAI_API_KEY", "").strip())
        if served:
            return _made(f"openai-chat:{served[0]}", "OPENAI_BASE_URL is set", settings, " ".join(notes))
        address = parse_address(elsewhere)
        notes.append(
            f"OPENAI_BASE_URL is set, but {address or 'that'} did not say which models it has; "
            "name one with --model openai-chat:NAME."
        )
    ollama = env.get("OLLAMA_BASE_URL", "").strip() or LOCAL_OLLAMA
    if models := ollama_models(ollama):
        return _made(f"ollama:{models[0]}", "Ollama is running here", settings, " ".join(notes))
    if models is not None:
        notes.append("Ollama is running but has no model; `ollama pull` gets one.")
    notes.append(f"This is loom's offline model, since {'nothing else can be used' if notes else 'no key is set'}.")
    return _offline(settings, "no key and no local server", f"{' '.join(notes)} {SET_A_KEY}")


# ---- a name ---------------------------------------------------------------------------------------------------------


def _asked_for(name: str, settings: Settings, env: Mapping[str, str]) -> ModelChoice:
    prefix, colon, model = name.partition(":")
    if not colon:
        raise _without_prefix(name)
    provider = find_provider(prefix)
    if provider is None:
        raise _unknown_provider(prefix, model)
    if not model.strip():
        raise ModelUnavailable(f"`{_safe(name)}` names a provider but no model.", _did_you_mean(_models_of(prefix)[:3]))
    if not provider.installed:
        raise ModelUnavailable(
            f"`{_safe(name)}` needs {_package(provider)}, which is not installed.",
            f'Install it: pip install "pydantic-ai-slim[{provider.extra}]". {_OFFLINE_HINT}',
        )
    if missing := provider.missing(env):
        raise _missing(name, provider, missing, env)
    return _made(name, "asked for", settings, _misspelt(prefix, model))


def _safe(name: str) -> str:
    return show_line(name, 120)


def _package(provider: Provider) -> str:
    return f"the package `{provider.module.split('.')[0] if provider.module != 'google.genai' else 'google-genai'}`"


def _without_prefix(name: str) -> ModelUnavailable:
    whole = [known for known in known_models() if known.partition(":")[2] == name]
    lowered = name.lower()
    if not whole and (lowered in PROVIDERS or lowered in ALIASES):
        whole = _models_of(ALIASES.get(lowered, lowered))[:3]
    if not whole:
        tails: dict[str, str] = {}
        for known in sorted(known_models(), key=_how_far):
            tails.setdefault(known.partition(":")[2], known)
        close = difflib.get_close_matches(name, tails, n=3, cutoff=0.6)
        # What a model is called for short (`opus`); of several the name that comes last is the newest, most often.
        close = close or [tail for tail in sorted(tails, reverse=True) if len(name) > 2 and lowered in tail]
        whole = [tails[tail] for tail in close]
    whole.sort(key=_how_far)
    remedy = _did_you_mean(whole[:3]) or "For example `anthropic:claude-sonnet-5-5` or `openai-chat:NAME`."
    return ModelUnavailable(f"`{_safe(name)}` does not say whose model it is: write `provider:model`.", remedy)


def _how_far(known: str) -> int:
    """What to sort names of one model by: gateways and clouds resell what the providers themselves have."""
    order = list(PROVIDERS)
    prefix = known.partition(":")[0]
    return order.index(prefix) if prefix in order else len(order)


def _unknown_provider(prefix: str, model: str) -> ModelUnavailable:
    bare = prefix.lower().removeprefix(GATEWAY)
    close = [ALIASES[bare]] if bare in ALIASES else difflib.get_close_matches(bare, PROVIDERS, n=2, cutoff=0.6)
    what = f"`{_safe(prefix)}` is no provider that pydantic-ai knows."
    # Ollama's own names have a colon in them (`llama3:8b`).
    if re.fullmatch(r"\d+(?:\.\d+)?[bm](?:-[\w.-]+)?|latest", model, re.IGNORECASE):
        return ModelUnavailable(what, f"For a model of Ollama: `ollama:{_safe(f'{prefix}:{model}')}`.")
    if close:
        return ModelUnavailable(what, _did_you_mean([f"{found}:{model or '…'}" for found in close]))
    return ModelUnavailable(what, f"Known are: {', '.join(sorted(PROVIDERS))}.")


def _missing(name: str, provider: Provider, missing: tuple[str, ...], env: Mapping[str, str]) -> ModelUnavailable:
    what = f"`{_safe(name)}` cannot be used: {' and '.join(missing)} {'are' if len(missing) > 1 else 'is'} not set."
    first = missing[0].split(" or ")[0]
    remedy = [f"Set it before loom starts (export {first}=…)."]
    if provider.base_url:
        remedy.append(f"Or point {provider.base_url} at a server that needs no key.")
    others = [
        f"`{other.prefix}:{other.default}`"
        for other in PROVIDERS.values()
        if other.default and other.installed and other.key(env)
    ]
    if others:
        remedy.append(f"With the keys that are set, {' or '.join(others[:2])} would work.")
    return ModelUnavailable(what, " ".join([*remedy, _OFFLINE_HINT]))


def _models_of(prefix: str) -> list[str]:
    models = [known for known in known_models() if known.startswith(f"{prefix}:")]
    provider = PROVIDERS.get(prefix)
    if provider and provider.default:
        default = f"{prefix}:{provider.default}"
        models = [default, *(known for known in models if known != default)]
    return models


def _did_you_mean(names: list[str]) -> str:
    return f"Did you mean {' or '.join(f'`{_safe(name)}`' for name in names)}?" if names else ""


def _misspelt(prefix: str, model: str) -> str:
    """A word about a name that looks like a slip of the pen; the list is not complete, so it is only a word."""
    names = [known.partition(":")[2] for known in _models_of(prefix)]
    if model in names:
        return ""
    close = difflib.get_close_matches(model, names, n=1, cutoff=0.85)
    # Another version or date of a model that is known is no slip.
    if not close or re.sub(r"[\d.@-]+", "", close[0]) == re.sub(r"[\d.@-]+", "", model):
        return ""
    return f"`{_safe(model)}` is not a name that I know. {_did_you_mean([f'{prefix}:{close[0]}'])}"
