"""A model provider on loopback: a real HTTP server that speaks streaming Chat Completions from a script.

    with ScriptedProvider([Reply(Text("Hello"))]) as provider:
        ...  # OPENAI_BASE_URL=provider.base_url, model "openai-chat:test"
    assert provider.requests[0].body["messages"]

Nothing in it sleeps: a `Gate` in a reply holds the stream until the test opens it.
"""

from __future__ import annotations

import json
import select
import socket
import struct
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.support.replies import Call, Drop, Event, Failure, Gate, Raw, Reasoning, Reply, Stall, Step, Text

PATIENCE = 30.0
"""Seconds after which a gate that nobody opens lets go, so that a broken test ends."""


@dataclass
class Request:
    """One request as it came in."""

    method: str
    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: Any
    """Decoded JSON, None without a body."""
    gone: threading.Event = field(default_factory=threading.Event)
    """Set when the client closed the connection before the answer was complete."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body["messages"])


Script = Sequence[Reply | Failure] | Callable[[Request], Reply | Failure]


class ScriptedProvider:
    """Answers each chat request with the next reply of the script (or what a function makes of the request).

    `/v1/models` and Ollama's `/api/tags` list `models`. A script that has run out answers 500 and says so.
    """

    def __init__(self, script: Script = (), *, models: Sequence[str] = ("test",)) -> None:
        self._script = script
        self._next = 0
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self.models = tuple(models)
        self.requests: list[Request] = []
        """Chat requests, oldest first."""
        self.asked: list[Request] = []
        """Every request, the lists of models included."""
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.provider = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def root_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        return f"{self.root_url}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def add(self, *replies: Reply | Failure) -> None:
        """More replies at the end of the script."""
        if callable(self._script):
            raise TypeError("a script that is a function has no end to add to")
        self._script = (*self._script, *replies)

    def take(self, request: Request) -> Reply | Failure:
        with self._lock:
            self.requests.append(request)
            if callable(self._script):
                return self._script(request)
            if self._next >= len(self._script):
                return Failure(500, {"error": {"message": "The script has no more replies."}})
            self._next += 1
            return self._script[self._next - 1]

    def wait(self, event: threading.Event, connection: socket.socket, request: Request) -> bool:
        """Wait for the event; False if the client or the provider goes first."""
        waited = 0.0
        while not event.wait(0.02):
            waited += 0.02
            if self._closing.is_set() or waited > PATIENCE or _gone(connection):
                request.gone.set()
                return False
        return True


def _gone(connection: socket.socket) -> bool:
    try:
        readable, _, _ = select.select([connection], [], [], 0)
        return bool(readable) and connection.recv(1, socket.MSG_PEEK) == b""
    except OSError:
        return True


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    provider: ScriptedProvider

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is part of the tests, not worth a traceback."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""

    def do_GET(self) -> None:
        provider = self.server.provider
        self._record(None)
        if self.path == "/v1/models":
            data = [{"id": name, "object": "model", "owned_by": "test"} for name in provider.models]
            self._json(200, {"object": "list", "data": data})
        elif self.path == "/api/tags":
            self._json(200, {"models": [{"name": name, "model": name, "size": 1} for name in provider.models]})
        else:
            self._json(404, {"error": {"message": f"no such page: {self.path}"}})

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        request = self._record(json.loads(self.rfile.read(length)))
        if not self.path.endswith("/chat/completions"):
            self._json(404, {"error": {"message": f"no such page: {self.path}"}})
            return
        reply = self.server.provider.take(request)
        if isinstance(reply, Failure):
            self._fail(reply)
        elif request.body.get("stream"):
            self._stream(reply, request)
        else:
            self._whole(reply, request)

    def _record(self, body: Any) -> Request:
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, self.path, headers, body)
        self.server.provider.asked.append(request)
        return request

    def _json(self, status: int, body: Any, headers: Sequence[tuple[str, str]] = ()) -> None:
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain" if isinstance(body, str) else "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _fail(self, failure: Failure) -> None:
        # The libraries' own retries would wait as long as Retry-After says.
        retry = ("x-should-retry", "true" if failure.retry else "false")
        self._json(failure.status, failure.body, [*failure.headers, retry])

    def _whole(self, reply: Reply, request: Request) -> None:
        message: dict[str, Any] = {"role": "assistant", "content": None}
        for number, step in enumerate(reply.steps):
            match step:
                case Text(text=text):
                    message["content"] = (message["content"] or "") + text
                case Reasoning(text=text):
                    message["reasoning_content"] = text
                case Call():
                    message.setdefault("tool_calls", []).append(
                        {
                            "id": _call_id(step, request, number),
                            "type": "function",
                            "function": {"name": step.name, "arguments": _arguments(step)},
                        }
                    )
                case Gate():
                    step.reached.set()
                    if not self.server.provider.wait(step.opened, self.connection, request):
                        return self._cut()
                case Drop():
                    return self._cut()
                case Stall():
                    self.server.provider.wait(threading.Event(), self.connection, request)
                    return self._cut()
        body = _envelope(request, "chat.completion")
        body["choices"] = [{"index": 0, "message": message, "finish_reason": reply.finish}]
        if reply.usage:
            body["usage"] = _usage(reply.usage)
        return self._json(200, body)

    def _stream(self, reply: Reply, request: Request) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            self._delta(request, {"role": "assistant", "content": ""})
            for number, step in enumerate(reply.steps):
                if not self._step(step, request, number):
                    return self._cut()
            if reply.finish is not None:
                self._delta(request, {}, reply.finish)
            if reply.usage is not None:
                usage = _envelope(request, "chat.completion.chunk") | {"choices": [], "usage": _usage(reply.usage)}
                self._event(usage)
            if reply.finish is not None:
                self._chunk(b"data: [DONE]\n\n")
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            request.gone.set()
            self.close_connection = True

    def _step(self, step: Step, request: Request, number: int) -> bool:
        """Send one step; False when the connection is to be cut."""
        match step:
            case Text(text=text, pieces=pieces):
                for piece in _split(text, pieces):
                    self._delta(request, {"content": piece})
            case Reasoning(text=text):
                for piece in _split(text, None):
                    self._delta(request, {"reasoning_content": piece})
            case Call():
                self._call(step, request, number)
            case Gate():
                step.reached.set()
                return self.server.provider.wait(step.opened, self.connection, request)
            case Raw(data=data):
                self._chunk(data)
            case Event(data=data):
                self._event(data)
            case Drop():
                return False
            case Stall():
                return self.server.provider.wait(threading.Event(), self.connection, request)
        return True

    def _call(self, call: Call, request: Request, number: int) -> None:
        function: dict[str, Any] = {"name": call.name, "arguments": ""}
        first = {"index": number, "id": _call_id(call, request, number), "type": "function", "function": function}
        self._delta(request, {"tool_calls": [first]})
        arguments = _arguments(call)
        for start in range(0, len(arguments), call.chunk):
            piece = {"index": number, "function": {"arguments": arguments[start : start + call.chunk]}}
            self._delta(request, {"tool_calls": [piece]})

    def _delta(self, request: Request, delta: dict[str, Any], finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        self._event(_envelope(request, "chat.completion.chunk") | {"choices": [choice]})

    def _event(self, data: dict[str, Any]) -> None:
        self._chunk(b"data: " + json.dumps(data).encode() + b"\n\n")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _cut(self) -> None:
        # Linger 0 makes it a reset instead of a goodbye.
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


def _split(text: str, pieces: int | None) -> list[str]:
    if pieces is None:
        return [word + (" " if number < text.count(" ") else "") for number, word in enumerate(text.split(" "))]
    size = max(1, -(-len(text) // pieces))
    return [text[start : start + size] for start in range(0, len(text), size)]


def _arguments(call: Call) -> str:
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)


def _call_id(call: Call, request: Request, number: int) -> str:
    # Unique within a conversation: a request's place in it is the number of its messages.
    return call.call_id or f"call_{len(request.body['messages'])}_{number}"


def _envelope(request: Request, kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-test", "object": kind, "created": 1_700_000_000, "model": request.body.get("model")}


def _usage(usage: tuple[int, int]) -> dict[str, int]:
    sent, received = usage
    return {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received}
