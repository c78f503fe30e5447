"""What goes wrong at a model is told in words, and without a key."""

from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai import Agent
from pydantic_ai import exceptions as pai

from loom.config import Settings
from loom.errors import LoomError
from loom.models.building import build_model
from loom.models.choice import ModelChoice
from loom.models.errors import ErrorKind, ModelError, explain_error, is_overflow, overflow_limit
from tests.support.provider import ScriptedProvider
from tests.support.replies import (
    Drop,
    Event,
    Failure,
    Raw,
    Reply,
    Stall,
    Text,
    overflow,
    overflow_of_llama_cpp,
    overloaded,
    rate_limited,
    server_error,
    unauthorized,
    unknown_model,
)

CHOICE = ModelChoice("openai-chat:test", "asked for", 200_000, window_assumed=True)
SETTINGS = Settings(idle_timeout=0.3, connect_timeout=2.0)


async def failure(base_url: str, monkeypatch: pytest.MonkeyPatch) -> Exception:
    monkeypatch.setenv("OPENAI_BASE_URL", base_url)
    with pytest.raises(pai.AgentRunError) as failed:
        async with Agent(build_model(CHOICE, SETTINGS)).run_stream_events("Hi") as events:
            async for _ in events:
                pass
    return failed.value


REFUSALS = [
    (overflow(), ErrorKind.OVERFLOW, "larger than the context window of openai-chat:test"),
    (overflow_of_llama_cpp(), ErrorKind.OVERFLOW, "exceeds the available context size"),
    (
        Failure(400, {"error": {"message": "Prompt is too long: 9000 tokens"}}),
        ErrorKind.OVERFLOW,
        "Prompt is too long",
    ),
    (Failure(500, {"error": {"type": "exceed_context_size_error"}}), ErrorKind.OVERFLOW, "larger than"),
    (Failure(413, "too big"), ErrorKind.OVERFLOW, "larger than"),
    (unauthorized("sk-verysecretkey"), ErrorKind.AUTHENTICATION, "Check OPENAI_API_KEY"),
    (unknown_model(), ErrorKind.UNKNOWN_MODEL, "has no model `test`"),
    (rate_limited(7), ErrorKind.RATE_LIMIT, "Try again in 7 s"),
    (
        Failure(429, {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}),
        ErrorKind.QUOTA,
        "used up",
    ),
    (overloaded(), ErrorKind.OVERLOADED, "overloaded"),
    (server_error(), ErrorKind.SERVER, "The server had an error."),
    (Failure(502, "<html>Bad gateway</html>"), ErrorKind.SERVER, "It said: Bad gateway."),
    (
        Failure(503, "<html><head><title>503 &ndash; Unavailable</title></head><body><h1>503</h1>nginx</body></html>"),
        ErrorKind.OVERLOADED,
        "It said: 503 – Unavailable.",
    ),
    (Reply(Text("")), ErrorKind.MALFORMED, "gave an empty answer"),
    (Reply(Raw(b"data: [DONE]\n\n"), finish=None, usage=None), ErrorKind.MALFORMED, "gave an empty answer"),
    (Failure(400, {"error": {"message": "No tools here"}}), ErrorKind.REJECTED, "It said: No tools here."),
    (Reply(Text("Hello"), Drop()), ErrorKind.CONNECTION, "broke off"),
    (Reply(Text("Hello"), Stall()), ErrorKind.TIMEOUT, "raise idle_timeout in the settings"),
    (Reply(Text("Hello"), Raw(b"data: {bad\n\n")), ErrorKind.MALFORMED, "not what its API promises"),
    (
        Reply(Text("Hello"), Event({"error": {"message": "boom", "type": "server_error"}})),
        ErrorKind.SERVER,
        "boom",
    ),
    (Reply(finish="content_filter"), ErrorKind.CONTENT_FILTER, "content filter"),
]


@pytest.mark.parametrize(("reply", "kind", "words"), REFUSALS)
async def test_a_failure_over_the_wire_is_told(
    reply: Reply | Failure, kind: ErrorKind, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedProvider(lambda _: reply) as provider:
        error = await failure(provider.base_url, monkeypatch)
    told = explain_error(error, CHOICE)
    assert told.kind is kind
    assert words in str(told)
    assert told.remedy
    assert "sk-verysecretkey" not in str(told)
    assert is_overflow(error) == (kind is ErrorKind.OVERFLOW)


@pytest.mark.parametrize("step", [Drop(), Stall()])
async def test_no_answer_is_spoken_of_where_none_had_begun(step: Drop | Stall, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedProvider([Reply(step)]) as provider:
        told = explain_error(await failure(provider.base_url, monkeypatch), CHOICE)
    assert "answer" not in str(told)


async def test_a_rate_limit_says_how_long_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedProvider([rate_limited(90)]) as provider:
        told = explain_error(await failure(provider.base_url, monkeypatch), CHOICE)
    assert told.retry_after == 90


async def test_a_refused_connection_names_the_port(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    told = explain_error(await failure(f"http://127.0.0.1:{port}/v1", monkeypatch), CHOICE)
    assert told.what == f"Nothing listens at 127.0.0.1:{port}: the connection was refused."


async def test_a_name_that_does_not_resolve_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told = explain_error(await failure("http://nobody.invalid:81/v1", monkeypatch), CHOICE)
    assert told.kind is ErrorKind.CONNECTION
    assert "nobody.invalid:81" in told.what


async def test_a_key_of_the_environment_never_comes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "an-unusual-shape-of-key")
    with ScriptedProvider([Failure(400, {"error": {"message": "bad: an-unusual-shape-of-key"}})]) as provider:
        told = explain_error(await failure(provider.base_url, monkeypatch), CHOICE)
    assert "unusual" not in str(told)


def test_password_in_an_address_never_comes_out() -> None:
    error = pai.ModelConnectionError("test", "cannot reach http://me:hunter22@box/v1", phase="connect")
    told = explain_error(error, CHOICE)
    assert "hunter22" not in str(told)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (pai.ModelRequestTimeout("test", 5), ErrorKind.TIMEOUT),
        (pai.ModelTimeoutError("test", "", phase="connect"), ErrorKind.TIMEOUT),
        (pai.ModelConnectionError("test", "", phase="connect"), ErrorKind.CONNECTION),
        (pai.UnexpectedModelBehavior("odd", "body"), ErrorKind.MALFORMED),
        (pai.UsageLimitExceeded("limit"), ErrorKind.LIMIT),
        (ExceptionGroup("several", [ValueError("x"), pai.ModelServerError("test", "m")]), ErrorKind.SERVER),
        (ConnectionRefusedError(111, "refused"), ErrorKind.CONNECTION),
        (RuntimeError("something"), ErrorKind.OTHER),
        (KeyError(), ErrorKind.OTHER),
        (LoomError("It broke.", "Mend it."), ErrorKind.OTHER),
    ],
)
def test_every_exception_has_words(error: Exception, kind: ErrorKind) -> None:
    told = explain_error(error, CHOICE)
    assert told.kind is kind
    assert told.what


def test_what_is_explained_already_stays_as_it_is() -> None:
    told = ModelError(ErrorKind.OTHER, "It broke.")
    assert explain_error(told, CHOICE) is told


def test_circles_of_causes_end() -> None:
    first, second = RuntimeError("a"), RuntimeError("b")
    first.__cause__, second.__cause__ = second, first
    assert explain_error(first, CHOICE).kind is ErrorKind.OTHER


def test_a_plain_error_about_context_is_no_overflow() -> None:
    assert not is_overflow(RuntimeError("context length"))
    assert not is_overflow(pai.ModelHTTPError(500, "test", {"error": {"message": "context window crashed"}}))


@given(st.text(), st.one_of(st.none(), st.text(), st.dictionaries(st.text(), st.text())))
def test_no_body_makes_it_raise(message: str, body: object) -> None:
    for error in (
        pai.ModelHTTPError(400, message, body),
        pai.ModelAPIError("test", message, body=body),
        OSError(2, message),
        UnicodeDecodeError("utf-8", b"", 0, 1, message),
    ):
        told = explain_error(error, CHOICE)
        assert "\x1b" not in str(told)
        is_overflow(error)


@pytest.mark.parametrize(
    ("words", "limit"),
    [
        ("This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.", 8_192),
        ("'max_tokens' is too large: 900. max_model_len is 4096", 4_096),
        ("prompt is too long: 209000 tokens > 200000 maximum", 200_000),
        ("The input token count exceeds the maximum number of tokens allowed (1048576).", 1_048_576),
        ("the request exceeds the available context size (2048 tokens)", 2_048),
        ("Requested tokens exceed context window of 512 tokens", 512),
        ("too many tokens", None),
    ],
)
def test_an_overflow_may_name_the_window(words: str, limit: int | None) -> None:
    assert overflow_limit(pai.ModelHTTPError(400, "test", {"error": {"message": words}})) == limit
    assert overflow_limit(RuntimeError(words)) is None


def test_llama_cpp_names_the_window_in_a_field() -> None:
    assert overflow_limit(pai.ModelHTTPError(400, "test", {"error": {"n_ctx": 4096, "message": "no"}})) == 4_096
