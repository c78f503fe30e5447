"""A session of Kimi CLI, which is a folder: `wire.jsonl` has what happened; where it is missing, `context.jsonl` (and
`context_1.jsonl` …, which compaction and rewinding left) what the model was sent."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from loom.archive.records import NewTurn
from loom.interchange.foreign import (
    Gathered,
    arguments_of,
    called,
    given_back,
    list_of,
    loaded,
    moment_of,
    note,
    object_of,
    read_with,
    said,
    text_of,
    thought,
    words_of,
)
from loom.interchange.openai_messages import message_turns
from loom.interchange.reading import ReadSession
from loom.interchange.source import Source, files_named, is_file, opened

_CONTROL = ("_system_prompt", "_usage", "_checkpoint")
_CHECKPOINT = re.compile(r"<system>CHECKPOINT \d+</system>")
_BESIDE = "what Kimi CLI wrote by itself"
_SUMMARIES, _MOST_PRESERVED = 2, 50
"""Messages that a compaction puts first, and of the last ones that it takes over behind them, at most."""


def is_kimi(folder: Path) -> bool:
    """Whether a folder is a session of Kimi CLI."""
    return is_file(folder / "wire.jsonl") or is_file(folder / "context.jsonl")


def read_kimi(folder: Path, stack: ExitStack) -> ReadSession:
    """The session, its files open for as long as the stack is. Raises ImportFailed when nothing in it was said."""
    wire = folder / "wire.jsonl"
    rotated = sorted(files_named(folder, "context_*.jsonl"), key=lambda file: (len(file.name), file.name))
    files = [wire] if is_file(wire) else [*rotated, folder / "context.jsonl"]
    sources = [stack.enter_context(opened(file)) for file in files if is_file(file)]
    take = _wire if is_file(wire) else _contexts

    def walk(gathered: Gathered) -> Iterator[tuple[str, NewTurn]]:
        gathered.session_id, gathered.folder = folder.name, project_of(folder)
        yield from take(gathered, sources)
        state = folder / "state.json"
        if is_file(state):
            with opened(state) as source:
                gathered.title = text_of(object_of(loaded(source.whole())).get("custom_title"))

    return read_with("Kimi CLI", walk)


def project_of(folder: Path) -> str:
    """The folder that the session worked in: the one of those that Kimi CLI knows whose digest its own folder has."""
    known = folder.parent.parent.parent / "kimi.json"
    if is_file(known):
        with opened(known) as source:
            for entry in map(object_of, list_of(object_of(loaded(source.whole())).get("work_dirs"))):
                path = text_of(entry.get("path"))
                digest = hashlib.md5(path.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
                if path and folder.parent.name in (digest, f"{text_of(entry.get('kaos'))}_{digest}"):
                    return path
    return ""


def _wire(gathered: Gathered, sources: list[Source]) -> Iterator[tuple[str, NewTurn]]:
    """Parts that were streamed one by one are joined again."""
    pending: tuple[str, NewTurn] | None = None
    for number, line in gathered.numbered(sources[0]):
        message = object_of(line.get("message"))
        kind, payload = text_of(message.get("type")), object_of(message.get("payload"))
        joined = _joined(pending, kind, payload)
        if joined is not None:
            pending = joined
            continue
        if pending is not None:
            yield pending
            pending = None
        # Its times are seconds.
        gathered.at(moment_of(line.get("timestamp")))
        turn = _happened(gathered, kind, payload)
        if turn is not None and turn.role == "assistant":
            pending = (f"{number}/0", turn)
        elif turn is not None:
            yield f"{number}/0", turn
    if pending is not None:
        yield pending


def _joined(pending: tuple[str, NewTurn] | None, kind: str, payload: Mapping[str, Any]) -> tuple[str, NewTurn] | None:
    """The turn with the part behind it, where that is a part of it."""
    if pending is None:
        return None
    key, turn = pending
    if kind == "ToolCallPart" and turn.tool_calls:
        asked = turn.tool_calls[0]
        raw = f"{asked['arguments'] or ''}" if not isinstance(asked["arguments"], dict) else ""
        arguments = arguments_of(raw + text_of(payload.get("arguments_part")))
        return key, replace(turn, tool_calls=[{**asked, "arguments": arguments}])
    made = _part(payload) if kind == "ContentPart" else None
    if made is not None and made.kind is turn.kind:
        return key, replace(turn, content=(turn.content or "") + (made.content or ""))
    return None


def _happened(gathered: Gathered, kind: str, payload: Mapping[str, Any]) -> NewTurn | None:
    if kind in ("TurnBegin", "SteerInput"):
        words = words_of(payload.get("user_input"))
        return said("user", words) if words else None
    if kind == "ContentPart":
        made = _part(payload)
        if made is None:
            gathered.leave_out("a part without words")
        return made
    if kind == "ToolCall":
        function, call = object_of(payload.get("function")), text_of(payload.get("id"))
        return called(call, gathered.named(call, function.get("name")), arguments_of(function.get("arguments")))
    if kind == "ToolResult":
        call, value = text_of(payload.get("tool_call_id")), object_of(payload.get("return_value"))
        words = words_of(value.get("output")) or text_of(value.get("message"))
        return given_back(call, gathered.answered(call), words, failed=bool(value.get("is_error")))
    if kind == "CompactionBegin":
        return note("Kimi CLI compacted its window here.")
    if kind == "SubagentEvent":
        gathered.leave_out("what a sub-agent said")
    return None


def _part(payload: Mapping[str, Any]) -> NewTurn | None:
    if payload.get("type") == "think" and (words := text_of(payload.get("think"))):
        return thought(words)
    if payload.get("type") == "text" and (words := text_of(payload.get("text"))):
        return said("assistant", words)
    return None


def _contexts(gathered: Gathered, sources: list[Source]) -> Iterator[tuple[str, NewTurn]]:
    before: list[int] = []
    for at, source in enumerate(sources):
        signs = {number: hash(repr(line)) for number, line in Gathered("").numbered(source) if _is_said(line)}
        now = list(signs.values())
        numbers = list(signs)
        taken_over = {numbers[place] for place in _taken_over(before, now)}
        before = now
        # Its lines have no times.
        gathered.at(os.fstat(source.file.fileno()).st_mtime)
        for number, line in gathered.numbered(source):
            if line.get("role") in _CONTROL or number in taken_over:
                continue
            for place, turn in enumerate(message_turns(gathered, line)):
                words = _CHECKPOINT.sub("", turn.content or "")
                if turn.content and not words.strip():
                    gathered.leave_out(_BESIDE)
                else:
                    yield f"context/{at}/{number}/{place}", replace(turn, content=words if turn.content else None)


def _is_said(line: Mapping[str, Any]) -> bool:
    """Whether a line is more than a sign that Kimi CLI put for itself."""
    words = words_of(line.get("content"))
    return line.get("role") not in _CONTROL and not (words and not _CHECKPOINT.sub("", words).strip())


def _taken_over(before: Sequence[int], now: Sequence[int]) -> range:
    """The places in a file of what stands in the file before it: rewinding begins one with what is kept, compaction
    with a summary and the last few messages. What the person says again further on is said again."""
    kept = next((place for place, (one, other) in enumerate(zip(before, now, strict=False)) if one != other), None)
    kept = min(len(before), len(now)) if kept is None else kept
    if kept:
        return range(kept)
    for count in range(min(_MOST_PRESERVED, len(before)), 0, -1):
        for start in range(_SUMMARIES + 1):
            if list(now[start : start + count]) == list(before[-count:]):
                return range(start, start + count)
    return range(0)
