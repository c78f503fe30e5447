"""A session of gptsh: one JSON object, its messages in the form of OpenAI's. It has no folder and one time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from loom.archive.clock import normalised
from loom.archive.records import NewTurn, TurnKind
from loom.interchange.foreign import Gathered, arguments_of, list_of, object_of, text_of
from loom.interchange.reading import ReadSession


def is_gptsh(document: object) -> bool:
    """Whether a JSON document is one of gptsh's."""
    made = object_of(document)
    return isinstance(made.get("messages"), list) and isinstance(made.get("agent"), dict) and "provider" in made


def read_gptsh(document: Mapping[str, Any]) -> ReadSession:
    """The session. Raises ImportFailed when nothing in it was said."""
    gathered = Gathered("gptsh")
    named = f"gptsh/{document.get('created_at')}/{document.get('id')}"
    gathered.session_id = str(uuid5(NAMESPACE_OID, named))
    gathered.title = text_of(document.get("title"))
    model = text_of(object_of(document.get("agent")).get("model"))
    provider = text_of(object_of(document.get("provider")).get("name"))
    gathered.model = f"{provider}:{model}" if provider and model else model
    with suppress(ValueError):
        gathered.when = normalised(text_of(document.get("created_at")))
    for number, message in enumerate(map(object_of, list_of(document.get("messages")))):
        for place, turn in enumerate(_said(gathered, message)):
            gathered.add(turn, f"gptsh/{number}/{place}")
    return gathered.read()


def _said(gathered: Gathered, message: Mapping[str, Any]) -> Iterator[NewTurn]:
    role, words = message.get("role"), _words(message.get("content"))
    if role == "tool":
        call = text_of(message.get("tool_call_id"))
        tool = gathered.tools.get(call) or text_of(message.get("name")) or "unknown"
        yield NewTurn(role="tool", kind=TurnKind.TOOL_RESULT, content=words, tool_call_id=call, tool_name=tool)
    elif role == "user" and words:
        yield NewTurn(role="user", content=words)
    elif role == "assistant":
        if words:
            yield NewTurn(role="assistant", content=words)
        for asked in map(object_of, list_of(message.get("tool_calls"))):
            function, call = object_of(asked.get("function")), text_of(asked.get("id"))
            name = gathered.tools[call] = text_of(function.get("name")) or "unknown"
            made = {"id": call, "name": name, "arguments": arguments_of(text_of(function.get("arguments")))}
            yield NewTurn(role="assistant", kind=TurnKind.TOOL_CALL, content=None, tool_calls=[made])
    else:
        gathered.skipped[f"a message of the role {role}"] += 1


def _words(content: object) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(text_of(object_of(part).get("text")) for part in list_of(content)).strip()
