"""What a scripted provider says: the steps of an answer, and the failures that providers have.

`tests.support.provider` puts them on the wire.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Text:
    """Words of the answer, streamed in `pieces` (one delta a word by default)."""

    text: str
    pieces: int | None = None


@dataclass(frozen=True)
class Reasoning:
    """Words of the reasoning, as llama.cpp and DeepSeek send them."""

    text: str


@dataclass(frozen=True)
class Call:
    """A tool call; its arguments arrive in deltas of `chunk` characters."""

    name: str
    arguments: dict[str, Any] | str
    call_id: str = ""
    chunk: int = 7


@dataclass
class Gate:
    """Holds the stream: `reached` is set when the server stands at it, the test sets `opened` to let it go on."""

    reached: threading.Event = field(default_factory=threading.Event)
    opened: threading.Event = field(default_factory=threading.Event)

    def open(self) -> None:
        self.opened.set()


@dataclass(frozen=True)
class Raw:
    """Bytes for the stream as they are: malformed events, comments."""

    data: bytes


@dataclass(frozen=True)
class Event:
    """One event with this JSON, for example an error inside the stream."""

    data: dict[str, Any]


@dataclass(frozen=True)
class Drop:
    """Cut the connection here, without a goodbye."""


@dataclass(frozen=True)
class Stall:
    """Say nothing more and keep the connection open until the client or the server goes."""


Step = Text | Reasoning | Call | Gate | Raw | Event | Drop | Stall


class Reply:
    """A 200 answer: its steps, then `finish_reason` (None: the stream ends without one), usage and [DONE]."""

    def __init__(self, *steps: Step, finish: str | None = "auto", usage: tuple[int, int] | None = (100, 10)) -> None:
        self.steps = steps
        self.usage = usage
        self.finish = finish
        if finish == "auto":
            self.finish = "tool_calls" if any(isinstance(step, Call) for step in steps) else "stop"


@dataclass(frozen=True)
class Failure:
    """An answer with an error status. Not to be retried by the client's library unless `retry`."""

    status: int
    body: dict[str, Any] | str
    headers: tuple[tuple[str, str], ...] = ()
    retry: bool = False


def overflow() -> Failure:
    """OpenAI's 400 for a request that is too large."""
    message = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
    return Failure(
        400,
        {"error": {"message": message, "type": "invalid_request_error", "code": "context_length_exceeded"}},
    )


def overflow_of_llama_cpp() -> Failure:
    """llama.cpp's 400 for a request that is too large."""
    message = "the request exceeds the available context size, try increasing it"
    return Failure(400, {"error": {"code": 400, "message": message, "type": "exceed_context_size_error"}})


def unauthorized(key: str = "sk-wrong") -> Failure:
    """OpenAI's 401, which quotes the key."""
    return Failure(401, {"error": {"message": f"Incorrect API key provided: {key}.", "code": "invalid_api_key"}})


def unknown_model(name: str = "nope") -> Failure:
    return Failure(404, {"error": {"message": f"The model `{name}` does not exist", "code": "model_not_found"}})


def rate_limited(seconds: int = 7) -> Failure:
    body = {"error": {"message": "Rate limit reached for requests", "code": "rate_limit_exceeded"}}
    return Failure(429, body, (("Retry-After", str(seconds)),))


def server_error() -> Failure:
    return Failure(500, {"error": {"message": "The server had an error", "type": "server_error"}})


def overloaded() -> Failure:
    return Failure(503, {"error": {"message": "The engine is currently overloaded", "code": "overloaded"}})
