"""The provider's own count, over a real wire: a loopback server that counts the way Anthropic's does."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from loom.config import Settings
from loom.cowork.events import Notice, UsageChanged
from loom.cowork.workbench import Workbench
from loom.locations import Locations
from loom.models.choosing import choose_model
from tests.cowork.conftest import Start, chat
from tests.support.provider import ScriptedProvider
from tests.support.replies import Reply, Text

COUNTED = Settings(counting="provider")
TOKENS = 1_234


class Counter:
    """Answers /v1/messages/count_tokens: with TOKENS, or with `status`; never while `gate` is closed."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.status = 200
        self.gate = threading.Event()
        self.gate.set()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer.bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                outer.gate.wait(60)
                said = {"input_tokens": TOKENS} if outer.status == 200 else {"error": {"message": "no such key"}}
                body = json.dumps(said).encode()
                self.send_response(outer.status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def counter(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter]:
    counter = Counter()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{counter.server.server_address[1]}")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "for-the-loopback")
    yield counter
    counter.gate.set()
    counter.server.shutdown()
    counter.server.server_close()


@pytest.fixture
async def counting(locations: Locations) -> AsyncIterator[Workbench]:
    workbench = await Workbench.open(locations, COUNTED)
    yield workbench
    await workbench.close()


@pytest.fixture
async def session(counting: Workbench, start: Start) -> str:
    """A session that has something in its window."""
    talk = await start(on=counting)
    await talk.say("list the files")
    await talk.session.close()
    assert talk.session.session_id is not None
    return talk.session.session_id


def anthropic() -> Any:
    return choose_model("anthropic:claude-sonnet-4-6", COUNTED)


async def test_the_gauge_reads_on_the_providers_number(
    counter: Counter, counting: Workbench, session: str, start: Start
) -> None:
    talk = await start(resume=session, choice=anthropic(), on=counting)
    counted = await talk.heard.until(UsageChanged, lambda each: not each.usage.estimated)
    assert counted.usage.used == TOKENS
    body = counter.bodies[-1]
    assert "You are loom" in json.dumps(body["system"]) and "list the files" in json.dumps(body["messages"])
    assert {tool["name"] for tool in body["tools"]} >= {"read_file", "conversation_recall"}


async def test_a_refusal_is_said_and_the_estimate_stands(
    counter: Counter, counting: Workbench, session: str, start: Start
) -> None:
    counter.status = 401
    talk = await start(resume=session, choice=anthropic(), on=counting)
    notice = await talk.heard.until(Notice, lambda each: "token count" in each.text)
    assert notice.severity == "warning"
    assert talk.session.usage is not None and talk.session.usage.estimated


async def test_nothing_waits_for_the_count(counter: Counter, counting: Workbench, session: str, start: Start) -> None:
    counter.gate.clear()
    talk = await start(resume=session, choice=anthropic(), on=counting)
    await talk.session.set_model("offline")
    await talk.say("list the files")
    assert not talk.session.busy
    await talk.session.close()


async def test_a_model_that_cannot_count_is_asked_once(
    counting: Workbench, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedProvider([Reply(Text("One.")), Reply(Text("Two."))]) as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.base_url)
        talk = await start(choice=chat(COUNTED), on=counting)
        await talk.say("Hello?")
        await talk.heard.until(Notice, lambda each: "cannot count tokens" in each.text)
        await talk.say("And?")
        said = [each for each in talk.heard.of(Notice) if "cannot count tokens" in each.text]
        assert len(said) == 1 and said[0].severity == "information"
        await talk.session.close()


@pytest.mark.usefixtures("counting")  # first, so that it is closed last
async def test_by_default_nobody_is_asked(counter: Counter, session: str, start: Start) -> None:
    talk = await start(resume=session, choice=choose_model("anthropic:claude-sonnet-4-6", Settings()))
    assert talk.session.usage is not None and talk.session.usage.estimated
    assert counter.bodies == []


async def test_a_request_to_anthropic_carries_four_breakpoints_at_most(counter: Counter, start: Start) -> None:
    counter.status = 400
    talk = await start()
    for wish in ("list the files", "read README.md", "git status"):
        await talk.say(wish)
    await talk.session.set_model("anthropic:claude-sonnet-4-6")
    await talk.say("And now?")
    body = counter.bodies[-1]
    blocks = [
        block for message in body["messages"] if isinstance(message["content"], list) for block in message["content"]
    ]
    assert [block["text"] for block in blocks if "cache_control" in block] == ["read README.md", "git status"]
    assert sum("cache_control" in block for block in body["system"]) == 1 and "cache_control" in body
    assert not any("cache_control" in tool for tool in body["tools"])
