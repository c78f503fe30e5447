"""The digest of a request: over every word that it hands to the provider's library, so that a request put together
again can be told from another one.

It covers what `loom.context.seen` shows (instructions, tool schemas, and of each part its kind, tool, call and text)
and what no text shows: signatures of thoughts and the bytes of pictures.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from pydantic_ai.messages import (
    BaseToolCallPart,
    BaseToolReturnPart,
    BinaryContent,
    FilePart,
    ModelMessage,
    UserPromptPart,
)

from loom.context.encode import prompt_text, result_text

_LENGTH = 32
"""Hexadecimal digits that are kept: 128 bits."""


def part_words(part: Any) -> str:
    """The words of a part as the model reads them; a picture stands as `[image, 12 kB]`."""
    if isinstance(part, UserPromptPart):
        return prompt_text(part)
    if isinstance(part, BaseToolReturnPart):
        return result_text(part)
    if isinstance(part, BaseToolCallPart):
        return part.args if isinstance(part.args, str) else json.dumps(part.args or {}, ensure_ascii=False, default=str)
    if isinstance(part, FilePart):
        return f"[{part.content.media_type}, {len(part.content.data):,} bytes]"
    if hasattr(part, "model_response"):
        return str(part.model_response())
    content = getattr(part, "content", None)
    return content if isinstance(content, str) else ""


class Fingerprints:
    """Digests requests one after the other; a message that was in the one before is not read again."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[ModelMessage, bytes]] = {}

    def digest(self, messages: Sequence[ModelMessage], instructions: str, tools: str) -> str:
        """The request's digest, hexadecimal."""
        known = {id(message): self._of(message) for message in messages}
        whole = hashlib.sha256(_packed("instructions", instructions, "tools", tools))
        for message in messages:
            whole.update(known[id(message)][1])
        self._known = known
        return whole.hexdigest()[:_LENGTH]

    def _of(self, message: ModelMessage) -> tuple[ModelMessage, bytes]:
        # The message is kept beside its digest: no other one can get its id meanwhile.
        return self._known.get(id(message)) or (message, _message_digest(message))


def _message_digest(message: ModelMessage) -> bytes:
    whole = hashlib.sha256(message.kind.encode())
    for part in message.parts:
        whole.update(
            _packed(
                part.part_kind,
                getattr(part, "tool_name", None) or "",
                getattr(part, "tool_call_id", None) or "",
                str(getattr(part, "outcome", None) or ""),
                part_words(part),
                str(getattr(part, "signature", None) or ""),
                *_binaries(part),
            )
        )
    return whole.digest()


def _binaries(part: Any) -> list[str]:
    """Digests of what is no text in a part."""
    content = getattr(part, "content", None)
    items = content if isinstance(content, list | tuple) else [content]
    return [hashlib.sha256(item.data).hexdigest() for item in items if isinstance(item, BinaryContent)]


def _packed(*words: str) -> bytes:
    return json.dumps(words).encode()
