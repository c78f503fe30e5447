"""From a choice to a model that answers. Imports the provider's library: slow, call it in a thread.

Retries: the OpenAI and Anthropic libraries try a request again twice, after half a second and more or after what
`Retry-After` asks (OpenAI's at most two minutes), for connection errors, 408, 409, 429 and 5xx, and only before the
first byte of the answer. Google's does not retry. loom adds none of its own, says what is waited for, and an
interruption ends the waiting too.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from loom.config import OFFLINE, Settings
from loom.models.choice import ModelChoice, ModelUnavailable
from loom.models.probing import parse_address
from loom.models.providers import LOCAL_OLLAMA, find_provider
from loom.models.retrying import telling
from loom.models.secrets import scrub

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.providers import Provider

_ANOTHER = "Choose another with /model, or with --model at the start."
NO_KEY = "no-key"
"""Sent to a server of the person's own when no key is set: the library insists on one, such a server does not."""

_HTTPX2_LIBRARIES = ("openai", "anthropic", "google.genai")
"""The libraries that take an httpx2 client; the others keep the time-outs that pydantic-ai gives them."""


def build_model(choice: ModelChoice, settings: Settings, say: Callable[[str], None] | None = None) -> Model[Any]:
    """The pydantic-ai model of a choice, with the time-outs of the settings. `say` is told what it waits for before it
    asks again.

    Raises ModelUnavailable in words when the provider's library refuses.
    """
    # It would print a banner into the screen at the first run.
    os.environ.setdefault("PYDANTIC_AI_NO_BANNER", "1")
    if choice.name == OFFLINE:
        from loom.models.offline import OfflineModel

        return OfflineModel(delay_ms=settings.offline_delay_ms)
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model

    try:
        model = infer_model(choice.name, provider_factory=lambda prefix: _provider(prefix, settings, say))
        return _for_local_servers(model)
    except ImportError as error:
        raise ModelUnavailable(f"`{choice.name}` needs a package that is not installed.", scrub(str(error))) from error
    except (UserError, ValueError, TypeError) as error:
        raise ModelUnavailable(
            f"`{choice.name}` cannot be used: {scrub(str(error))}",
            _ANOTHER,
        ) from error
    except Exception as error:
        # A provider's library may raise its own kind while it looks for credentials (openai.OpenAIError).
        if type(error).__module__.partition(".")[0] not in ("openai", "anthropic", "google", "httpx2"):
            raise
        raise ModelUnavailable(
            f"`{choice.name}` cannot be used: {scrub(str(error))}",
            _ANOTHER,
        ) from error


def _for_local_servers(model: Model[Any]) -> Model[Any]:
    """The model, one system message a request where it talks Chat Completions to somebody other than OpenAI: many
    chat templates of local models refuse a second one."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    if not isinstance(model, OpenAIChatModel) or model.provider is None or "api.openai.com" in model.base_url:
        return model
    profile = OpenAIModelProfile(**{**model.profile, "openai_chat_supports_multiple_system_messages": False})
    return type(model)(model.model_name, provider=model.provider, profile=profile)


def _provider(prefix: str, settings: Settings, say: Callable[[str], None] | None) -> Provider[Any]:
    from pydantic_ai.providers import infer_provider, infer_provider_class

    if prefix.startswith("gateway/"):
        return infer_provider(prefix)
    kind = infer_provider_class(prefix)
    takes = inspect.signature(kind).parameters
    given: dict[str, Any] = {}
    known = find_provider(prefix)
    if "http_client" in takes and known and known.module in _HTTPX2_LIBRARIES:
        given["http_client"] = client = _client(settings)
        if say is not None:
            hooks = client.event_hooks
            client.event_hooks = {**hooks, "response": [*hooks["response"], telling(say, known.module)]}
    if prefix == "ollama":
        given["base_url"] = ollama_base_url(os.environ.get("OLLAMA_BASE_URL", ""))
    if prefix.startswith("openai") and "api_key" in takes and os.environ.get("OPENAI_BASE_URL", "").strip():
        given["api_key"] = os.environ.get("OPENAI_API_KEY", "").strip() or NO_KEY
    return kind(**given)


def _client(settings: Settings) -> Any:
    """An HTTP client with the person's time-outs. Reading waits for the next bytes, so that it limits silence and
    not the length of an answer."""
    import httpx2
    from pydantic_ai.models import create_async_httpx2_client

    return create_async_httpx2_client(timeout=httpx2.Timeout(settings.idle_timeout, connect=settings.connect_timeout))


def ollama_base_url(wanted: str) -> str:
    """The address of Ollama's OpenAI-like API: as set, with the `/v1` that is easily forgotten; else this machine's."""
    address = parse_address(wanted) if wanted.strip() else None
    if address is None:
        return wanted.strip() or LOCAL_OLLAMA
    return str(address) if address.path else f"{address}/v1"
