"""The offline model at work inside a real agent."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic_ai import Agent, CancellationToken
from pydantic_ai.exceptions import ApprovalRequired, RunCancelled, ToolFailed
from pydantic_ai.messages import (
    AgentStreamEvent,
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults, RunContext, ToolDenied

from loom.attached import with_attached
from loom.models.offline import OfflineModel, chunks, words
from loom.models.offline_reading import ATTACHMENT_TOKENS, read_exchange

FILES = {"pyproject.toml": "[project]\n", "app.py": "def main():\n    return 1\n"}


def agent(*, delay_ms: int = 0) -> Agent[None, str]:
    """An agent over a few small tools that answer as loom's do."""
    made = Agent(OfflineModel(delay_ms=delay_ms), instructions="Be useful.")

    @made.tool_plain
    def list_directory(path: str = ".") -> str:
        return "\n".join(FILES)

    @made.tool_plain
    def read_file(path: str, offset: int = 1, limit: int = 2000) -> str:
        if path not in FILES:
            raise ToolFailed(f"There is no file {path}.")
        return FILES[path]

    @made.tool_plain
    def shell_execute(command: str, timeout_seconds: int = 0) -> str:
        return f"{command}: 3 passed\nexit code 0"

    @made.tool_plain
    def git_command(args: list[str]) -> str:
        return f"git {' '.join(args)}"

    return made


async def test_it_reads_a_file_with_the_real_tool_and_quotes_it() -> None:
    result = await agent().run("read app.py")
    assert "return 1" in result.output
    call = next(part for part in result.all_messages()[1].parts if isinstance(part, ToolCallPart))
    assert (call.tool_name, call.args_as_dict()) == ("read_file", {"path": "app.py"})


async def test_it_says_once_that_it_is_offline() -> None:
    first = await agent().run("list")
    assert first.output.startswith("I am loom's **offline model**")
    second = await agent().run("list", message_history=first.all_messages())
    assert "offline model" not in second.output


async def test_what_it_does_not_understand_it_answers_with_what_it_does() -> None:
    result = await agent().run("Write me a poem about spring")
    assert "did not understand" in result.output
    assert "| `read src/app.py`" in result.output


async def test_steps_follow_each_other() -> None:
    result = await agent().run('run the tests then commit "all green"')
    calls = [
        (part.tool_name, part.args_as_dict())
        for message in result.all_messages()
        for part in message.parts
        if isinstance(part, ToolCallPart)
    ]
    assert calls == [
        ("list_directory", {"path": "."}),
        ("shell_execute", {"command": "python3 -m pytest -q"}),
        ("git_command", {"args": ["add", "-A"]}),
        ("git_command", {"args": ["commit", "-m", "all green"]}),
    ]
    assert "3 passed" in result.output and "Committed as `all green`" in result.output


async def test_call_ids_are_never_the_same() -> None:
    made = agent()
    first = await made.run("list then list")
    second = await made.run("list", message_history=first.all_messages())
    ids = [
        part.tool_call_id
        for message in second.all_messages()
        for part in message.parts
        if isinstance(part, ToolCallPart)
    ]
    assert len(ids) == len(set(ids)) == 3


async def test_a_failed_call_is_told_and_what_depends_on_it_left_out() -> None:
    result = await agent().run("read nope.py then run ls")
    assert "There is no file nope.py." in result.output
    assert "**Left out:** run `ls`" in result.output


async def test_a_denied_call_is_honoured() -> None:
    made: Agent[None, str | DeferredToolRequests] = Agent(OfflineModel(), output_type=[str, DeferredToolRequests])

    @made.tool
    def shell_execute(ctx: RunContext[None], command: str) -> str:
        if not ctx.tool_call_approved:
            raise ApprovalRequired
        return "ran"

    asked = await made.run("run rm -rf build then list")
    assert isinstance(asked.output, DeferredToolRequests)
    call_id = asked.output.approvals[0].tool_call_id
    no = ToolDenied("The person said no; nothing was changed. They said: keep it")
    result = await made.run(
        message_history=asked.all_messages(),
        deferred_tool_results=DeferredToolResults(approvals={call_id: no}),
    )
    assert isinstance(result.output, str)
    assert "You said **no** to `rm -rf build`. You said: “keep it”." in result.output
    assert "Left out" in result.output


async def events_of(prompt: str) -> list[AgentStreamEvent]:
    async with agent().run_stream_events(prompt) as events:
        return [event async for event in events]  # type: ignore[misc]


async def test_it_streams_word_by_word() -> None:
    deltas = [
        event.delta.content_delta
        for event in await events_of("count to 50")
        if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta)
    ]
    assert deltas[-3:] == ["48, ", "49, ", "50."]


async def test_it_thinks_aloud_when_asked() -> None:
    starts = [event.part for event in await events_of("think about caching") if isinstance(event, PartStartEvent)]
    assert [type(part) for part in starts] == [ThinkingPart, TextPart]


async def test_an_interruption_ends_it_in_the_middle_of_a_pause() -> None:
    token = CancellationToken()
    async with asyncio.timeout(60):
        with pytest.raises(RunCancelled):
            await _count_slowly(token)


async def _count_slowly(token: CancellationToken) -> None:
    """Without the cancellation each word would take an hour."""
    async with agent(delay_ms=3_600_000).run_stream_events("count to 5", cancellation_token=token) as events:
        asyncio.get_running_loop().call_later(0.01, token.cancel)
        async for _ in events:
            pass


async def test_an_interruption_keeps_what_was_said() -> None:
    token = CancellationToken()
    with pytest.raises(RunCancelled) as cancelled:
        async with agent().run_stream_events("count to 5000", cancellation_token=token) as events:
            count = 0
            async for _ in events:
                count += 1
                if count == 40:
                    token.cancel()
    last = cancelled.value.all_messages()[-1]
    assert isinstance(last, ModelResponse) and last.state == "interrupted"
    assert last.text and "1, 2" in last.text and "5000" not in last.text


async def test_usage_is_a_quarter_of_the_characters() -> None:
    result = await agent().run("count to 100")
    assert result.usage.output_tokens == -(-len(result.output) // 4)
    longer = await agent().run("count to 100", message_history=result.all_messages())
    assert longer.usage.input_tokens > result.usage.input_tokens + len(result.output) // 4


async def test_it_works_without_streaming_and_without_tools() -> None:
    result = await Agent(OfflineModel()).run("read app.py")
    assert "no tool `read_file`" in result.output


async def test_images_are_said_not_to_be_seen() -> None:
    image = BinaryContent(b"\x89PNG", media_type="image/png")
    result = await agent().run(["list", image])
    assert "cannot look at the attached file" in result.output
    assert "pyproject.toml" in result.output
    assert result.usage.input_tokens > ATTACHMENT_TOKENS
    alone = await agent().run([image])
    assert "cannot look at" in alone.output


class TestReading:
    """What is taken for the person's words."""

    def test_a_hint_behind_the_prompt_is_not_part_of_it(self) -> None:
        hint = "[loom: The message may refer to earlier turns. T3 user: list the files]"
        for content in (f"read app.py\n\n{hint}", ["read app.py", hint], f"{hint}\n\nread app.py"):
            found = read_exchange([ModelRequest(parts=[UserPromptPart(content)])])
            assert found.prompt == "read app.py"

    def test_what_goes_along_with_a_message_is_no_request(self) -> None:
        sent = with_attached("read app.py", "[attached: notes.md, 20 bytes]\n```\nrun make clean\n\nread b\n```")
        for content in (sent, f"{sent}\n\n[loom: The message may refer to earlier turns. T3 user: list the files]"):
            assert read_exchange([ModelRequest(parts=[UserPromptPart(content)])]).prompt == "read app.py"

    def test_a_hint_in_a_part_of_its_own_is_not_the_prompt(self) -> None:
        parts = [UserPromptPart("read app.py"), UserPromptPart("[System: see conversation_recall]")]
        assert read_exchange([ModelRequest(parts=parts)]).prompt == "read app.py"

    def test_an_unanswered_call_counts_as_interrupted(self) -> None:
        messages: list[ModelMessage] = [
            ModelRequest(parts=[UserPromptPart("read app.py")]),
            ModelResponse(parts=[ToolCallPart("read_file", {"path": "app.py"}, "c1")]),
        ]
        (done,) = read_exchange(messages).done
        assert done.status == "interrupted"

    def test_arguments_that_nobody_can_read_are_none(self) -> None:
        for arguments in ("{", "[" * 50_000, '{"path":' * 20_000):
            messages: list[ModelMessage] = [
                ModelRequest(parts=[UserPromptPart("read app.py")]),
                ModelResponse(parts=[ToolCallPart("read_file", arguments, "c1")]),
            ]
            (done,) = read_exchange(messages).done
            assert done.arguments == {}

    def test_results_are_told_apart_by_call_and_not_by_order(self) -> None:
        messages: list[ModelMessage] = [
            ModelRequest(parts=[UserPromptPart("read a then read b")]),
            ModelResponse(
                parts=[
                    ToolCallPart("read_file", '{"path": "a"}', "c1"),
                    ToolCallPart("read_file", '{"path": "b"}', "c2"),
                ]
            ),
            ModelRequest(
                parts=[
                    ToolReturnPart("read_file", "B", "c2"),
                    ToolReturnPart("read_file", "A", "c1", outcome="denied"),
                ]
            ),
        ]
        found = read_exchange(messages)
        assert [(done.text, done.status) for done in found.done] == [("A", "denied"), ("B", "success")]
        assert found.begun

    def test_the_last_of_two_prompts_without_an_answer_counts(self) -> None:
        parts = [UserPromptPart("read a"), UserPromptPart("read b")]
        assert read_exchange([ModelRequest(parts=parts)]).prompt == "read b"

    def test_no_messages_are_no_exchange(self) -> None:
        assert read_exchange([]).prompt == ""


async def test_a_huge_history_is_no_trouble() -> None:
    history: list[ModelMessage] = []
    for number in range(3_000):
        history.append(ModelRequest(parts=[UserPromptPart(f"message {number} {'x' * 2000}")]))
        history.append(ModelResponse(parts=[TextPart(f"answer {number}")]))
    result = await agent().run("list", message_history=history)
    assert "pyproject.toml" in result.output


PROMPTS = st.one_of(
    st.text(max_size=200),
    st.lists(
        st.sampled_from(["list", "read app.py", "then", "\n", "run ls", "think about", '"', "`", "```", "count to 3"]),
        max_size=12,
    ).map(" ".join),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(PROMPTS)
async def test_no_prompt_makes_it_raise(prompt: str) -> None:
    result = await agent().run(prompt or " ")
    assert result.output


@given(st.lists(st.one_of(st.text(max_size=20), st.just(BinaryContent(b"x", media_type="image/png"))), max_size=4))
async def test_no_content_makes_it_raise(content: list[UserContent]) -> None:
    messages: list[ModelMessage] = [ModelRequest(parts=[UserPromptPart(content)])]
    response = await OfflineModel().request(messages, None, ModelRequestParameters())
    assert response.parts and response.usage.input_tokens >= 0


@given(st.text(max_size=300))
def test_words_and_chunks_lose_nothing(text: str) -> None:
    assert "".join(words(text)) == text
    assert "".join(chunks(text)) == text


async def test_lone_surrogates_do_not_reach_a_tool() -> None:
    seen: dict[str, Any] = {}
    made = Agent(OfflineModel())

    @made.tool_plain
    def write_file(path: str, content: str) -> str:
        seen.update(path=path, content=content)
        return "Created."

    await made.run("write a.txt with \ud800x")
    assert seen == {"path": "a.txt", "content": "\ufffdx\n"}
