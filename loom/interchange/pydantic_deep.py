"""A session of pydantic-deep: the list of pydantic-ai's messages, as JSON. It has neither id nor folder nor title."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from loom.archive.clock import normalised
from loom.archive.records import NewTurn, TurnKind, TurnStatus
from loom.interchange.foreign import Gathered, arguments_of, list_of, number_of, object_of, text_of
from loom.interchange.reading import ReadSession

_STATUS = {"failed": TurnStatus.FAILED, "retried": TurnStatus.FAILED, "denied": TurnStatus.DENIED}


def is_pydantic_deep(document: object) -> bool:
    """Whether a JSON document is a list of pydantic-ai's messages."""
    first = object_of(document[0]) if isinstance(document, list) and document else {}
    return first.get("kind") in ("request", "response") and isinstance(first.get("parts"), list)


def read_pydantic_deep(messages: Sequence[object]) -> ReadSession:
    """The session; its id is made of its first message, so that one that has grown is known again. Raises
    ImportFailed when nothing in it was said."""
    gathered = Gathered("pydantic-deep")
    first = json.dumps(messages[0], sort_keys=True)
    gathered.session_id = str(uuid5(NAMESPACE_OID, f"pydantic-deep/{first}"))
    for number, message in enumerate(map(object_of, messages)):
        usage = _usage(object_of(message.get("usage")))
        model = text_of(message.get("model_name"))
        gathered.model = f"{text_of(message.get('provider_name')) or 'unknown'}:{model}" if model else gathered.model
        for place, part in enumerate(map(object_of, list_of(message.get("parts")))):
            for time in (part.get("timestamp"), message.get("timestamp")):
                with suppress(ValueError):
                    gathered.when = normalised(text_of(time))
                    break
            for turn in _said(gathered, part):
                gathered.add(replace(turn, usage=usage), f"pydantic-deep/{number}/{place}")
                usage = None
    return gathered.read()


def _said(gathered: Gathered, part: Mapping[str, Any]) -> Iterator[NewTurn]:
    content, call = part.get("content"), text_of(part.get("tool_call_id"))
    match part.get("part_kind"):
        case "user-prompt" if words := _words(content):
            yield NewTurn(role="user", content=words)
        case "text" if words := text_of(content):
            yield NewTurn(role="assistant", content=words)
        case "thinking" if words := text_of(content):
            yield NewTurn(role="assistant", kind=TurnKind.THINKING, content=words)
        case "tool-call":
            name = gathered.tools[call] = text_of(part.get("tool_name")) or "unknown"
            asked = {"id": call, "name": name, "arguments": _arguments(part.get("args"))}
            yield NewTurn(role="assistant", kind=TurnKind.TOOL_CALL, content=None, tool_calls=[asked])
        case ("tool-return" | "retry-prompt") as kind if text_of(part.get("tool_name")):
            # As older ones have it.
            said = "failed" if kind == "retry-prompt" else text_of(part.get("outcome"))
            yield NewTurn(
                role="tool",
                kind=TurnKind.TOOL_RESULT,
                status=_STATUS.get(said, TurnStatus.COMPLETE),
                content=_words(content),
                tool_call_id=call,
                tool_name=text_of(part.get("tool_name")),
            )
        case kind:
            gathered.skipped[f"a part of the kind {kind}"] += 1


def _words(content: object) -> str:
    """Text as it is; of a list what is text in it; anything else as JSON."""
    if isinstance(content, list) and all(isinstance(each, str) or object_of(each).get("kind") for each in content):
        return "\n".join(each for each in content if isinstance(each, str))
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def _arguments(given: object) -> dict[str, Any] | str:
    return given if isinstance(given, dict) else arguments_of(text_of(given))


def _usage(usage: Mapping[str, Any]) -> dict[str, int] | None:
    # Older ones have other names.
    taken = number_of(usage.get("input_tokens")) or number_of(usage.get("request_tokens"))
    given = number_of(usage.get("output_tokens")) or number_of(usage.get("response_tokens"))
    cached = number_of(usage.get("cache_read_tokens"))
    if not taken and not given:
        return None
    return {"input_tokens": taken, "output_tokens": given, "cache_read_tokens": cached}
