"""Real models over a real wire."""

from __future__ import annotations

import asyncio
import threading

import pytest
from pydantic_ai import Agent, CancellationToken
from pydantic_ai.exceptions import RunCancelled
from pydantic_ai.messages import ModelResponse, PartDeltaEvent, TextPartDelta, ThinkingPart
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel

from loom.config import Settings
from loom.models.building import NO_KEY, build_model, ollama_base_url
from loom.models.choice import ModelChoice, ModelUnavailable
from loom.models.choosing import choose_model
from loom.models.endings import CLOSED, FILTERED, LENGTH, cut_short
from loom.models.offline import OfflineModel
from tests.support.provider import ScriptedProvider
from tests.support.replies import Call, Gate, Reasoning, Reply, Text

SETTINGS = Settings(connect_timeout=3.0, idle_timeout=42.0)


def chosen(name: str) -> ModelChoice:
    return ModelChoice(name, "asked for", 200_000, window_assumed=True)


def agent(provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch) -> Agent[None, str]:
    monkeypatch.setenv("OPENAI_BASE_URL", provider.base_url)
    made = Agent(build_model(choose_model("openai-chat:test", SETTINGS), SETTINGS))

    @made.tool_plain
    def read_file(path: str, offset: int = 1) -> str:
        return f"{path} from {offset}"

    return made


async def test_a_whole_exchange_goes_over_the_wire(monkeypatch: pytest.MonkeyPatch) -> None:
    script = [
        Reply(Reasoning("I should look."), Text("Looking."), Call("read_file", {"path": "a.py", "offset": 3})),
        Reply(Text("It says a.py from 3."), usage=(200, 20)),
    ]
    with ScriptedProvider(script) as provider:
        async with agent(provider, monkeypatch).run_stream_events("What is in a.py?") as events:
            seen = [event async for event in events]
        first, second = provider.requests
    result = seen[-1].result  # type: ignore[union-attr]
    assert result.output == "It says a.py from 3."
    assert (result.usage.input_tokens, result.usage.output_tokens) == (300, 30)
    assert first.body["stream"] and first.body["model"] == "test"
    assert [tool["function"]["name"] for tool in first.body["tools"]] == ["read_file"]
    assert second.messages[-1]["content"] == "a.py from 3"
    assert isinstance(result.all_messages()[1].parts[0], ThinkingPart)


async def test_without_a_key_a_placeholder_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in (None, "", " "):
        if key is not None:
            monkeypatch.setenv("OPENAI_API_KEY", key)
        with ScriptedProvider([Reply(Text("Hello"))]) as provider:
            await agent(provider, monkeypatch).run("Hi")
            assert provider.requests[0].headers["authorization"] == f"Bearer {NO_KEY}"


async def test_a_key_that_is_set_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "my-key")
    with ScriptedProvider([Reply(Text("Hello"))]) as provider:
        await agent(provider, monkeypatch).run("Hi")
        assert provider.requests[0].headers["authorization"] == "Bearer my-key"


async def test_ollama_is_spoken_to_where_it_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedProvider([Reply(Text("Hello"))], models=["llama3:8b"]) as provider:
        monkeypatch.setenv("OLLAMA_BASE_URL", provider.root_url)
        choice = choose_model("auto", SETTINGS)
        result = await Agent(build_model(choice, SETTINGS)).run("Hi")
        assert provider.requests[0].body["model"] == "llama3:8b"
    assert result.output == "Hello"


def test_ollama_listens_here_unless_told_otherwise() -> None:
    assert ollama_base_url("") == "http://127.0.0.1:11434/v1"
    assert ollama_base_url("http://box:11434") == "http://box:11434/v1"
    assert ollama_base_url("box:1/") == "http://box:1/v1"
    assert ollama_base_url("https://box/ollama/v1/") == "https://box:443/ollama/v1"


async def test_an_interruption_closes_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate()
    token = CancellationToken()
    with ScriptedProvider([Reply(Text("One two three"), gate, Text("four"))]) as provider:
        with pytest.raises(RunCancelled) as cancelled:
            async with agent(provider, monkeypatch).run_stream_events("Hi", cancellation_token=token) as events:
                async for event in events:
                    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                        await asyncio.to_thread(gate.reached.wait, 30)
                        token.cancel()
        assert await asyncio.to_thread(provider.requests[0].gone.wait, 30)
    last = cancelled.value.all_messages()[-1]
    assert isinstance(last, ModelResponse) and last.state == "interrupted"
    assert (last.text or "").startswith("One")


async def test_a_gate_holds_the_answer_until_it_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate()
    with ScriptedProvider([Reply(Text("One"), gate, Text(" two"))]) as provider:
        running = asyncio.create_task(agent(provider, monkeypatch).run("Hi"))
        assert await asyncio.to_thread(gate.reached.wait, 30)
        assert not running.done()
        gate.open()
        assert (await running).output == "One two"


@pytest.mark.parametrize(
    ("finish", "why"),
    [("stop", ""), (None, CLOSED), ("length", LENGTH), ("content_filter", FILTERED)],
)
async def test_an_answer_that_stops_short_is_told_from_a_whole_one(
    monkeypatch: pytest.MonkeyPatch, finish: str | None, why: str
) -> None:
    with ScriptedProvider([Reply(Text("Hello"), finish=finish)]) as provider:
        async with agent(provider, monkeypatch).run_stream_events("Hi") as events:
            seen = [event async for event in events]
    assert cut_short(seen[-1].result.response) == why  # type: ignore[union-attr]


async def test_the_offline_models_answers_are_whole() -> None:
    result = await Agent(build_model(chosen("offline"), SETTINGS)).run("help")
    assert cut_short(result.response) == ""


def test_time_outs_come_from_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, "x")
    for choice, kind in (
        ("anthropic:claude-sonnet-5-5", AnthropicModel),
        ("openai:gpt-6.1-sol", OpenAIResponsesModel),
        ("openai-chat:gpt-6.1-sol", OpenAIChatModel),
    ):
        model = build_model(chosen(choice), SETTINGS)
        assert isinstance(model, kind)
        timeout = model.client.timeout
        assert (timeout.connect, timeout.read) == (3.0, 42.0)
    google = build_model(chosen("google:gemini-4-argon"), SETTINGS)
    assert isinstance(google, GoogleModel)
    assert google.client._api_client._http_options.timeout == 42_000


def test_the_offline_model_takes_its_pace_from_the_settings() -> None:
    model = build_model(chosen("offline"), Settings(offline_delay_ms=20))
    assert isinstance(model, OfflineModel)
    assert model.context_window == 200_000


def test_what_the_library_refuses_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("anthropic:claude-sonnet-5-5", "nobody:x", "groq:x", "google-cloud:gemini-4-argon"):
        with pytest.raises(ModelUnavailable, match=name.split(":")[0]):
            build_model(chosen(name), SETTINGS)


def test_a_model_can_be_built_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    built: list[object] = []
    thread = threading.Thread(target=lambda: built.append(build_model(chosen("openai:gpt-6.1-sol"), SETTINGS)))
    thread.start()
    thread.join()
    assert isinstance(built[0], OpenAIResponsesModel)
