"""How many tokens a message part takes: words by the counter given, pictures and files by formula, never zero."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic_ai.messages import (
    BaseToolCallPart,
    BaseToolReturnPart,
    BinaryContent,
    FilePart,
    ModelMessage,
    TextContent,
    UserPromptPart,
)

Count = Callable[[str], int]

PART_OVERHEAD = 4
"""Tokens of framing around every part (role, separators): 3 to 4 a message in OpenAI's cookbook, a few more around
a tool result at Anthropic."""

TOOL_OVERHEAD = 12
"""Tokens of framing around every tool schema, from the difference between OpenAI's reported and counted schemas."""

MEDIA_TOKENS = 1_600
"""Tokens of a picture whose size is not known, of a linked file, and of every started 48 kB of a binary that is no
picture: the upper end of what Anthropic documents for one picture."""

MEDIA_BYTES = 48_000


def part_tokens(part: Any, count: Count) -> int:
    """Tokens of one message part (or of anything else that pydantic-ai puts into a message)."""
    if isinstance(part, UserPromptPart):
        items = [part.content] if isinstance(part.content, str) else part.content
        return PART_OVERHEAD + sum(_content_tokens(item, count) for item in items)
    if isinstance(part, BaseToolCallPart):
        args = part.args if isinstance(part.args, str) else json.dumps(part.args or {}, default=str)
        return 2 * PART_OVERHEAD + count(part.tool_name) + count(args)
    if isinstance(part, BaseToolReturnPart):
        items = part.content_items(mode="str")
        return 2 * PART_OVERHEAD + sum(_content_tokens(item, count) for item in items)
    if isinstance(part, FilePart):
        return PART_OVERHEAD + binary_tokens(part.content)
    if hasattr(part, "model_response"):
        return PART_OVERHEAD + count(part.model_response())
    content = getattr(part, "content", None)
    return PART_OVERHEAD + (count(content) if isinstance(content, str) else 0)


def message_tokens(message: ModelMessage, count: Count) -> int:
    """Tokens of a message's parts; its instructions are counted once, with the floor."""
    return sum(part_tokens(part, count) for part in message.parts)


def schema_lines(tools: Iterable[Any]) -> str:
    """The same schemas as text, one a line: what a manifest keeps of them."""
    return "\n".join(_schema_text(tool) for tool in tools)


def schema_tokens(tools: Iterable[Any], count: Count) -> int:
    """Tokens of tool schemas: pydantic-ai ToolDefinitions, or mappings that are JSON schemas already."""
    return sum(TOOL_OVERHEAD + count(_schema_text(tool)) for tool in tools)


def _schema_text(tool: Any) -> str:
    if isinstance(tool, Mapping):
        return json.dumps(dict(tool), default=str)
    schema = {
        "name": tool.name,
        "description": tool.description or "",
        "parameters": tool.parameters_json_schema,
    }
    return json.dumps(schema, default=str)


def _content_tokens(item: Any, count: Count) -> int:
    if isinstance(item, str):
        return count(item)
    if isinstance(item, TextContent):
        return count(item.content)
    if isinstance(item, BinaryContent):
        return binary_tokens(item)
    # A cache point is an instruction to the provider, not content.
    return 0 if getattr(item, "kind", "") == "cache-point" else MEDIA_TOKENS


def binary_tokens(item: BinaryContent) -> int:
    """Tokens of binary content, at least 1.

    Pictures: the larger of Anthropic's width × height / 750 (long edge at most 1,568 pixels) and OpenAI's 85 + 170 for
    each 512-pixel tile (fitted into 2,048, short edge at most 768). Everything else: MEDIA_TOKENS for each
    started MEDIA_BYTES.
    """
    if item.is_image:
        size = picture_size(item.data)
        return picture_tokens(*size) if size else MEDIA_TOKENS
    return MEDIA_TOKENS * max(1, -(-len(item.data) // MEDIA_BYTES))


def picture_tokens(width: int, height: int) -> int:
    """Tokens of a picture of this size in pixels, see `binary_tokens`."""
    width, height = max(1, width), max(1, height)
    shrink = min(1.0, 1_568 / max(width, height))
    by_area = round(width * shrink * height * shrink / 750)
    fit = min(1.0, 2_048 / max(width, height))
    fit *= min(1.0, 768 / (min(width, height) * fit))
    tiles = -(-round(width * fit) // 512) * -(-round(height * fit) // 512)
    return max(by_area, 85 + 170 * max(1, tiles))


def picture_size(data: bytes) -> tuple[int, int] | None:
    """Width and height in pixels from the head of a PNG, GIF, WebP or JPEG file; None if it cannot be told."""
    if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return width, height
    if data[:6] in (b"GIF87a", b"GIF89a") and len(data) >= 10:
        width, height = struct.unpack("<HH", data[6:10])
        return width, height
    if data[:4] == b"RIFF" and data[8:16] == b"WEBPVP8X" and len(data) >= 30:
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if data[:2] == b"\xff\xd8":
        return _jpeg_size(data)
    return None


_FRAME_HEADERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        if data[at + 1] in _FRAME_HEADERS:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + max(2, int.from_bytes(data[at + 2 : at + 4], "big"))
    return None
