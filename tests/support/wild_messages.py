"""Wild messages: every part that pydantic-ai knows, filled with whatever text there is."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st
from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    CompactionPart,
    DocumentUrl,
    FilePart,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    RetryFeedbackPart,
    RetryInfo,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.usage import RequestUsage

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
name = st.sampled_from(["read_file", "shell_execute", "conversation_recall", "söme tool"])
call_id = st.sampled_from(["call_1", "call_2", "call_3", ""]) | text
when = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)).map(lambda t: t.replace(tzinfo=UTC))
scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | text
plain_json: st.SearchStrategy[Any] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3), max_leaves=8
)
details = st.none() | st.dictionaries(text, plain_json, min_size=1, max_size=3)
arguments = (
    st.none()
    | text
    | st.dictionaries(text, plain_json, max_size=3)
    | st.dictionaries(text, plain_json, max_size=3).map(json.dumps)
    | st.sampled_from(['{"path": "a', "[1, 2]", '"just a string"', "null", "{}", ""])
)
pictures = st.binary(max_size=40).map(lambda data: BinaryContent(b"\x89PNG\r\n\x1a\n" + data, media_type="image/png"))
files = pictures | st.binary(max_size=20).map(lambda data: BinaryContent(data, media_type="application/pdf"))
prompt_items = (
    text
    | files
    | st.just(ImageUrl("https://example.org/a.png"))
    | st.just(DocumentUrl("https://example.org/a.pdf"))
    | st.just(CachePoint())
    | text.map(lambda t: TextContent(t, metadata={"k": 1}))
)

user_prompts = st.builds(UserPromptPart, text | st.lists(prompt_items, max_size=4), timestamp=when)
tool_returns = st.builds(
    ToolReturnPart,
    tool_name=name,
    content=text | plain_json | st.lists(text | files, max_size=3),
    tool_call_id=call_id,
    metadata=st.none() | plain_json,
    timestamp=when,
    outcome=st.sampled_from(["success", "failed", "denied", "interrupted", "retried"]),
)
retry_feedback = st.builds(RetryFeedbackPart, text, retry=st.just(RetryInfo(cause="model_retry")), timestamp=when)
request_parts = (
    user_prompts
    | tool_returns
    | retry_feedback
    | st.builds(SystemPromptPart, text, timestamp=when, dynamic_ref=st.none() | text)
    | st.builds(CompactionPart, text)
)
requests = st.builds(
    ModelRequest,
    parts=st.lists(request_parts, max_size=4),
    timestamp=st.none() | when,
    run_id=st.none() | text,
    metadata=details,
    state=st.sampled_from(["complete", "interrupted"]),
)

tool_calls = st.builds(
    ToolCallPart,
    tool_name=name,
    args=arguments,
    tool_call_id=call_id,
    id=st.none() | text,
    provider_name=st.just("openai"),
    provider_details=details,
)
response_parts = (
    st.builds(TextPart, text, id=st.none() | text, provider_name=st.just("openai"), provider_details=details)
    | st.builds(
        ThinkingPart,
        text,
        id=st.none() | text,
        signature=st.none() | text,
        provider_name=st.just("anthropic"),
        provider_details=details,
    )
    | tool_calls
    | st.builds(NativeToolCallPart, tool_name=st.just("web_search"), args=arguments, tool_call_id=call_id)
    | st.builds(
        NativeToolReturnPart, tool_name=st.just("web_search"), content=plain_json, tool_call_id=call_id, timestamp=when
    )
    | st.builds(FilePart, pictures)
    | st.builds(CompactionPart, st.none() | text, provider_name=st.just("anthropic"), provider_details=details)
)
responses = st.builds(
    ModelResponse,
    parts=st.lists(response_parts, max_size=5),
    usage=st.builds(
        RequestUsage,
        input_tokens=st.integers(0, 10**6),
        output_tokens=st.integers(0, 10**6),
        cache_read_tokens=st.integers(0, 10**6),
        details=st.dictionaries(text, st.integers(0, 9), max_size=2),
        cost=st.none() | st.just(Decimal("0.0123")),
    ),
    model_name=st.none() | text,
    timestamp=when,
    provider_name=st.none() | st.just("anthropic"),
    provider_details=details,
    provider_response_id=st.none() | text,
    finish_reason=st.sampled_from([None, "stop", "length", "tool_call"]),
    run_id=st.none() | text,
    metadata=details,
    state=st.sampled_from(["complete", "interrupted", "incomplete", "suspended"]),
)
conversations: st.SearchStrategy[list[ModelMessage]] = st.lists(requests | responses, max_size=8)
