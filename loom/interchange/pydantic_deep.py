"""A session of pydantic-deep: the list of pydantic-ai's messages, as JSON. It has neither id nor folder nor title."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from loom.archive.records import NewTurn, TurnStatus
from loom.interchange.foreign import (
    Gathered,
    arguments_of,
    called,
    dumped,
    given_back,
    list_of,
    moment_of,
    number_of,
    object_of,
    read_with,
    said,
    text_of,
    thought,
)
from loom.interchange.reading import ReadSession

_STATUS = {"failed": TurnStatus.FAILED, "retried": TurnStatus.FAILED, "denied": TurnStatus.DENIED}


def is_pydantic_deep(document: object) -> bool:
    """Whether a JSON document is a list of pydantic-ai's messages."""
    first = object_of(document[0]) if isinstance(document, list) and document else {}
    return first.get("kind") in ("request", "response") and isinstance(first.get("parts"), list)


def read_pydantic_deep(messages: Sequence[object]) -> ReadSession:
    """The session; its id is made of its first message, so that one that has grown is known again. Raises
    ImportFailed when nothing in it was said."""
    first = json.dumps(messages[0], sort_keys=True)

    def walk(gathered: Gathered) -> Iterator[tuple[str, NewTurn]]:
        gathered.session_id = str(uuid5(NAMESPACE_OID, f"pydantic-deep/{first}"))
        for number, message in enumerate(map(object_of, messages)):
            usage = _usage(object_of(message.get("usage")))
            model, provider = text_of(message.get("model_name")), text_of(message.get("provider_name"))
            gathered.model = f"{provider or 'unknown'}:{model}" if model else gathered.model
            for place, part in enumerate(map(object_of, list_of(message.get("parts")))):
                gathered.at(moment_of(part.get("timestamp")) or message.get("timestamp"))
                for turn in _said(gathered, part):
                    yield f"{number}/{place}", replace(turn, usage=usage)
                    usage = None

    return read_with("pydantic-deep", walk)


def _said(gathered: Gathered, part: Mapping[str, Any]) -> Iterator[NewTurn]:
    content, call = part.get("content"), text_of(part.get("tool_call_id"))
    match part.get("part_kind"):
        case "user-prompt" if words := _words(content):
            yield said("user", words)
        case "text" if words := text_of(content):
            yield said("assistant", words)
        case "thinking" if words := text_of(content):
            yield thought(words)
        case "tool-call":
            yield called(call, gathered.named(call, part.get("tool_name")), arguments_of(part.get("args")))
        case ("tool-return" | "retry-prompt") as kind if text_of(part.get("tool_name")):
            # As older ones have it.
            ended = "failed" if kind == "retry-prompt" else text_of(part.get("outcome"))
            result = given_back(call, text_of(part.get("tool_name")), _words(content))
            yield replace(result, status=_STATUS.get(ended, TurnStatus.COMPLETE))
        case kind:
            gathered.leave_out(f"a part of the kind {text_of(kind)[:40] or 'unknown'}")


def _words(content: object) -> str:
    """Text as it is; of a list what is text in it; anything else as JSON."""
    if isinstance(content, list) and all(isinstance(each, str) or object_of(each).get("kind") for each in content):
        return "\n".join(each for each in content if isinstance(each, str))
    return content if isinstance(content, str) else dumped(content)


def _usage(usage: Mapping[str, Any]) -> dict[str, int] | None:
    # Older ones have other names.
    taken = number_of(usage.get("input_tokens")) or number_of(usage.get("request_tokens"))
    given = number_of(usage.get("output_tokens")) or number_of(usage.get("response_tokens"))
    cached = number_of(usage.get("cache_read_tokens"))
    if not taken and not given:
        return None
    return {"input_tokens": taken, "output_tokens": given, "cache_read_tokens": cached}
