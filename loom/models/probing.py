"""Asking a local server which models it has: standard library only, and never longer than a moment."""

from __future__ import annotations

import http.client
import json
import threading
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

PROBE_SECONDS = 0.3
"""How long `auto` waits for a local server, all in all."""

_ANSWER_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens."""

    scheme: str
    host: str
    port: int
    path: str
    """Without a slash at the end."""

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"


def parse_address(url: str) -> Address | None:
    """The address in a URL such as `http://127.0.0.1:8080/v1`; None if it is none. User and password are left out."""
    try:
        parts = urlsplit(url.strip() if "://" in url else f"http://{url.strip()}")
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    return Address(parts.scheme, parts.hostname, port, parts.path.rstrip("/"))


def ollama_models(base_url: str) -> tuple[str, ...] | None:
    """The models of an Ollama, in its order; None if nobody answers there like one. `/v1` at the end is fine."""
    address = parse_address(base_url)
    if address is None:
        return None
    answer = _get(address, f"{address.path.removesuffix('/v1')}/api/tags", "")
    return _names(answer, "models", "name")


def served_models(base_url: str, key: str) -> tuple[str, ...] | None:
    """The models of a server that speaks OpenAI's API at `base_url`; None if it does not tell in time."""
    address = parse_address(base_url)
    if address is None:
        return None
    return _names(_get(address, f"{address.path}/models", key), "data", "id")


def _names(answer: Any, field: str, name: str) -> tuple[str, ...] | None:
    items = answer.get(field) if isinstance(answer, dict) else None
    if not isinstance(items, list):
        return None
    names = (item.get(name) for item in items if isinstance(item, dict))
    return tuple(found for found in names if isinstance(found, str) and found)


def _get(address: Address, path: str, key: str) -> Any:
    """The JSON at `path`; None on any failure or after PROBE_SECONDS.

    In a thread of its own, since a slow name server or an answer that comes byte by byte outlasts a socket's
    time-out.
    """
    box: list[Any] = []
    thread = threading.Thread(target=_fetch, args=(address, path, key, box), daemon=True, name="loom-probe")
    thread.start()
    thread.join(PROBE_SECONDS)
    return box[0] if box else None


def _fetch(address: Address, path: str, key: str, box: list[Any]) -> None:
    kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
    connection = kind(address.host, address.port, timeout=PROBE_SECONDS)
    headers = {"Accept": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    try:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        if response.status == http.HTTPStatus.OK:
            box.append(json.loads(response.read(_ANSWER_LIMIT)))
    except (OSError, ValueError, http.client.HTTPException):
        # Nobody there, or nobody who speaks the language: both mean that there is no such server.
        return
    finally:
        connection.close()
