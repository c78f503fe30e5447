"""Whose session a file holds: loom's own, or another agent's."""

from __future__ import annotations

import json
from typing import Any

from loom.interchange.claude_code import is_claude_code, read_claude_code
from loom.interchange.codex import is_codex, read_codex
from loom.interchange.gptsh import is_gptsh, read_gptsh
from loom.interchange.pydantic_deep import is_pydantic_deep, read_pydantic_deep
from loom.interchange.reading import ReadSession, read_document


def read_session(text: str) -> ReadSession:
    """The session that the file's text holds. Raises ImportFailed."""
    first = text.lstrip().partition("\n")[0]
    try:
        line: Any = json.loads(first)
    except (ValueError, RecursionError):
        line = None  # loom's own goes over several lines
    if isinstance(line, dict) and is_codex(line):
        return read_codex(text)
    if isinstance(line, dict) and is_claude_code(line):
        return read_claude_code(text)
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError):
        document = None  # said in words below
    if is_gptsh(document):
        return read_gptsh(document)
    if is_pydantic_deep(document):
        return read_pydantic_deep(document)
    return read_document(text)
