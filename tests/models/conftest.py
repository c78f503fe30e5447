"""Keys and addresses of the person who runs the tests are nobody's business here."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from loom.models.providers import GATEWAY_KEYS, PROVIDERS


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An environment without keys, servers and proxies."""
    for provider in PROVIDERS.values():
        for name in (*provider.keys, *provider.needs, *GATEWAY_KEYS, provider.base_url):
            if name:
                monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("OLLAMA_BASE_URL", raising=False)
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    yield
