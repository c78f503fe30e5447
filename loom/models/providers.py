"""The providers that pydantic-ai knows: their prefix, the key they need and the package they come in.

A table of our own, since the provider classes say this only once they are imported (0.3 to 1 s each). The tests
compare it with the installed library.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LOCAL_OLLAMA = "http://127.0.0.1:11434/v1"
"""Where Ollama listens unless OLLAMA_BASE_URL says otherwise."""


@dataclass(frozen=True, slots=True)
class Provider:
    """One prefix of a model string."""

    prefix: str
    keys: tuple[str, ...] = ()
    """Environment variables, any one of which holds the key; none needed when empty."""
    needs: tuple[str, ...] = ()
    """Other variables that must all be set (an address, an account)."""
    module: str = "openai"
    """The package whose presence shows that the provider can be used."""
    extra: str = "openai"
    """The extra of pydantic-ai-slim that brings it."""
    base_url: str = ""
    """A variable that points at another server; with it set, a key is not required."""
    default: str = ""
    """The model that `auto` takes when the key is set: able and not the dearest of the provider's current ones."""

    def key(self, environ: Mapping[str, str]) -> str | None:
        """The name of the variable that holds the key; None if none does."""
        return next((name for name in self.keys if environ.get(name, "").strip()), None)

    def missing(self, environ: Mapping[str, str]) -> tuple[str, ...]:
        """What has to be set before this provider can be used: "A or B" stands for either of two."""
        lacking = [name for name in self.needs if not environ.get(name, "").strip()]
        keyless = self.base_url and environ.get(self.base_url, "").strip()
        if self.keys and not keyless and self.key(environ) is None:
            lacking.insert(0, " or ".join(self.keys))
        return tuple(lacking)

    @property
    def installed(self) -> bool:
        try:
            return importlib.util.find_spec(self.module) is not None
        except (ImportError, ValueError):
            return False


_OPENAI_KEY = ("OPENAI_API_KEY",)
_GOOGLE_KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
_AZURE_KEY = ("AZURE_OPENAI_API_KEY",)
_AZURE_NEEDS = ("AZURE_OPENAI_ENDPOINT", "OPENAI_API_VERSION")
_COPILOT_KEYS = ("GITHUB_COPILOT_API_KEY", "GITHUB_COPILOT_API_TOKEN", "COPILOT_GITHUB_TOKEN")

PROVIDERS: dict[str, Provider] = {
    provider.prefix: provider
    for provider in (
        # The order is the order in which `auto` looks for keys.
        Provider(
            "anthropic",
            ("ANTHROPIC_API_KEY",),
            module="anthropic",
            extra="anthropic",
            default="claude-sonnet-5-5",
        ),
        Provider("openai", _OPENAI_KEY, base_url="OPENAI_BASE_URL", default="gpt-6.1-sol"),
        Provider("google", _GOOGLE_KEYS, module="google.genai", extra="google", default="gemini-4-argon"),
        Provider("xai", ("XAI_API_KEY",), module="xai_sdk", extra="xai", default="grok-4.7"),
        Provider("deepseek", ("DEEPSEEK_API_KEY",), default="deepseek-v4-pro"),
        Provider(
            "mistral",
            ("MISTRAL_API_KEY",),
            module="mistralai",
            extra="mistral",
            default="mistral-large-latest",
        ),
        Provider("moonshotai", ("MOONSHOTAI_API_KEY",), default="kimi-k3.1-pro"),
        Provider("groq", ("GROQ_API_KEY",), module="groq", extra="groq", default="openai/gpt-oss-120b"),
        Provider("cerebras", ("CEREBRAS_API_KEY",), extra="cerebras", default="gpt-oss-120b"),
        Provider("openai-chat", _OPENAI_KEY, base_url="OPENAI_BASE_URL"),
        Provider("openai-responses", _OPENAI_KEY, base_url="OPENAI_BASE_URL"),
        Provider("openai-decisions", _OPENAI_KEY, base_url="OPENAI_BASE_URL"),
        Provider("openai-codex"),
        Provider("openai-chatgpt"),
        Provider("ollama"),
        Provider("vllm", needs=("VLLM_BASE_URL",)),
        Provider("litellm"),
        Provider("openrouter", ("OPENROUTER_API_KEY",)),
        Provider("vercel", ("VERCEL_AI_GATEWAY_API_KEY", "VERCEL_OIDC_TOKEN")),
        Provider("azure", _AZURE_KEY, _AZURE_NEEDS),
        Provider("azure-responses", _AZURE_KEY, _AZURE_NEEDS),
        Provider("google-cloud", module="google.genai", extra="google"),
        Provider("google-decisions", _GOOGLE_KEYS, module="google.genai", extra="google"),
        Provider("bedrock", module="boto3", extra="bedrock"),
        Provider("bedrock-mantle", module="boto3", extra="bedrock-mantle"),
        Provider("cohere", ("CO_API_KEY",), module="cohere", extra="cohere"),
        Provider("huggingface", ("HF_TOKEN",), module="huggingface_hub", extra="huggingface"),
        Provider("crusoe", ("CRUSOE_API_KEY",)),
        Provider("meta", ("META_API_KEY",)),
        Provider("fireworks", ("FIREWORKS_API_KEY",)),
        Provider("together", ("TOGETHER_API_KEY",)),
        Provider("heroku", ("HEROKU_INFERENCE_KEY",)),
        Provider("github", ("GITHUB_API_KEY",)),
        Provider("github-copilot", _COPILOT_KEYS),
        Provider("nebius", ("NEBIUS_API_KEY",)),
        Provider("ovhcloud", ("OVHCLOUD_API_KEY",)),
        Provider("alibaba", ("ALIBABA_API_KEY", "DASHSCOPE_API_KEY")),
        Provider("sambanova", ("SAMBANOVA_API_KEY",)),
        Provider("snowflake", ("SNOWFLAKE_TOKEN",), ("SNOWFLAKE_ACCOUNT",), extra="snowflake"),
        Provider("system-one", needs=("SYSTEM_ONE_BASE_URL",), module="pydantic_ai", extra="openai"),
        Provider("typesafe", ("TYPESAFE_API_KEY",), module="typesafe_sdk", extra="typesafe"),
        Provider("zai", ("ZAI_API_KEY",), extra="zai"),
    )
}

ALIASES = {
    "claude": "anthropic",
    "gemini": "google",
    "google-gla": "google",
    "google-vertex": "google-cloud",
    "vertex": "google-cloud",
    "vertexai": "google-cloud",
    "gpt": "openai",
    "chatgpt": "openai",
    "grok": "xai",
    "hf": "huggingface",
    "aws": "bedrock",
    "copilot": "github-copilot",
    "kimi": "moonshotai",
    "moonshot": "moonshotai",
    "local": "openai-chat",
    "lmstudio": "openai-chat",
    "llamacpp": "openai-chat",
    "llama.cpp": "openai-chat",
    "openai-compatible": "openai-chat",
}
"""What people write for a prefix, for suggestions only."""

GATEWAY = "gateway/"
GATEWAY_KEYS = ("PYDANTIC_AI_GATEWAY_API_KEY", "PAIG_API_KEY")


def find_provider(prefix: str) -> Provider | None:
    """The provider of a prefix; None if there is no such prefix. `gateway/X` is X with the gateway's key."""
    if prefix.startswith(GATEWAY):
        upstream = PROVIDERS.get(prefix.removeprefix(GATEWAY))
        if upstream is None:
            return None
        return Provider(prefix, GATEWAY_KEYS, module=upstream.module, extra=upstream.extra)
    return PROVIDERS.get(prefix)


@cache
def known_models() -> tuple[str, ...]:
    """The model strings that the installed pydantic-ai suggests; empty if they cannot be read.

    Read as text: importing the library for them would take half a second, and they only serve suggestions.
    """
    spec = importlib.util.find_spec("pydantic_ai")
    if spec is None or spec.origin is None:
        return ()
    try:
        source = (Path(spec.origin).parent / "models" / "_known_model_names.py").read_text(encoding="utf-8")
    except OSError:
        return ()
    return tuple(re.findall(r"^\s+'([a-z0-9/.-]+:[^'\s]+)',$", source, re.MULTILINE))
