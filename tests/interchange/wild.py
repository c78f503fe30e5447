"""Values that no agent wrote, put anywhere into what one did; and whether an archive takes what is read of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from loom.archive import ConversationStore
from loom.interchange.reading import ReadSession

WORDS = [
    *("user", "assistant", "system", "tool", "gemini", "summary", "text", "tool_use", "tool_result", "message"),
    *("function_call", "function_call_output", "reasoning", "thread_rolled_back", "compact_boundary", "request"),
    *("attachment", "queued_command", "thinking", "response", "tool-call", "tool-return", "retry-prompt", "think"),
    *("2026-03-01T10:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "0b7e51a2", "\ud800", "\0"),
    *("ContentPart", "TurnBegin", "ToolCall", "ToolResult", "ToolCallPart", "success", "error", "u1", "{}", "[1"),
]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(min_value=-(2**70), max_value=2**70)
    | st.floats()
    | st.sampled_from(WORDS)
    | st.text(st.characters(), max_size=8)
)
KEYS = st.sampled_from(
    [
        *("type", "sessionId", "uuid", "timestamp", "message", "content", "payload", "id", "role", "text", "parts"),
        *("usage", "input_tokens", "name", "arguments", "call_id", "output", "action", "summary", "num_turns", "cwd"),
        *("kind", "part_kind", "tool_name", "args", "tool_calls", "function", "input", "tool_use_id", "attachment"),
        *("prompt", "isSidechain", "thinking", "model", "$set", "$rewindTo", "messages", "toolCalls", "result"),
        *("status", "thoughts", "tokens", "startTime", "user_input", "return_value", "tool_call_id", "is_error"),
    ]
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4))


def places_of(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield from places_of(inner, (*path, key))


def replaced(value: Any, path: tuple[Any, ...], new: object) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


async def count_stored(folder: Path, read: ReadSession) -> int:
    """The turns of an archive of its own in which all of the session's were stored."""
    store = await ConversationStore.open(folder / f"{os.urandom(8).hex()}.db")
    await store.adopt_session(read.session)
    for batch in read.batches():
        await store.append_turns(read.session.id, [each.turn for each in batch])
    count = await store.get_turn_count(read.session.id)
    await store.close()
    return count
