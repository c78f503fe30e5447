"""Sessions of OpenCode: its database, whose rows are JSON with the ids in columns; before that, files in `storage/`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from loom.archive.foreign_databases import ForeignDatabase
from loom.archive.records import NewTurn
from loom.interchange.databases import DatabaseAgent, Head
from loom.interchange.foreign import (
    Gathered,
    arguments_of,
    called,
    given_back,
    loaded,
    moment_of,
    note,
    number_of,
    object_of,
    read_with,
    said,
    text_of,
    thought,
)
from loom.interchange.reading import ReadSession
from loom.interchange.source import Source, files_named, opened

_NAME = "OpenCode"
_SILENT = ("step-start", "step-finish", "snapshot", "patch", "retry")
"""Parts that hold nothing that was said."""


def _is_theirs(database: ForeignDatabase) -> bool:
    return "data" in database.columns("part") and "data" in database.columns("message")


def _heads(database: ForeignDatabase, path: Path) -> Iterator[Head]:
    columns = ("id", "title", "directory", "parent_id", "time_updated", "time_created")
    for row in database.rows("session", columns, order="time_created"):
        yield Head(
            text_of(row["id"]),
            text_of(row["title"]),
            text_of(row["directory"]),
            moment_of(row["time_updated"]) or moment_of(row["time_created"]),
            text_of(row["parent_id"]),
        )


def _turns(database: ForeignDatabase, head: Head, gathered: Gathered) -> Iterator[tuple[str, NewTurn]]:
    columns = ("id", "data", "time_created")
    reader = _Messages(gathered)
    reverted, is_reverted = _reverted(database, head), False
    for row in database.rows("message", columns, where="session_id", value=head.id, order="time_created"):
        is_reverted = is_reverted or (bool(reverted) and row["id"] == reverted)
        if is_reverted:
            gathered.leave_out("a message that was reverted")
            continue
        message = object_of(loaded(text_of(row["data"])))
        parts = database.rows("part", ("id", "data"), where="message_id", value=text_of(row["id"]), order="id")
        named = ((text_of(part["id"]), object_of(loaded(text_of(part["data"])))) for part in parts)
        yield from reader.take({"time": {"created": row["time_created"]}, **message}, named)


def _reverted(database: ForeignDatabase, head: Head) -> str:
    """The message from which on the person took everything back; empty where they did not."""
    row = next(database.rows("session", ("revert",), where="id", value=head.id), {"revert": None})
    return text_of(object_of(loaded(text_of(row["revert"]))).get("messageID"))


OPENCODE = DatabaseAgent(_NAME, _is_theirs, _heads, _turns)


def is_opencode(path: Path) -> bool:
    """Whether it is a file in which an older OpenCode kept a session: `storage/session/<project>/<id>.json`."""
    return path.suffix == ".json" and path.parent.parent.name == "session" and _storage(path).name == "storage"


def read_opencode(source: Source, path: Path) -> ReadSession:
    """The session of such a file, its messages in `storage/message/<id>/`, their parts in `storage/part/<message>/`.
    Raises ImportFailed."""
    head = object_of(loaded(source.whole()))

    def walk(gathered: Gathered) -> Iterator[tuple[str, NewTurn]]:
        gathered.session_id, gathered.title = text_of(head.get("id")), text_of(head.get("title"))
        gathered.folder = text_of(head.get("directory"))
        reader, storage = _Messages(gathered), _storage(path)
        for file in files_named(storage / "message" / path.stem, "*.json"):
            parts = files_named(storage / "part" / file.stem, "*.json")
            yield from reader.take(_json(file), ((part.stem, _json(part)) for part in parts))

    return read_with(_NAME, walk)


def _storage(path: Path) -> Path:
    return path.parent.parent.parent


def _json(path: Path) -> Mapping[str, Any]:
    with opened(path) as source:
        return object_of(loaded(source.whole()))


class _Messages:
    def __init__(self, gathered: Gathered) -> None:
        self._gathered = gathered

    def take(
        self, message: Mapping[str, Any], parts: Iterator[tuple[str, Mapping[str, Any]]]
    ) -> Iterator[tuple[str, NewTurn]]:
        gathered = self._gathered
        gathered.at(object_of(message.get("time")).get("created"))
        model, provider = text_of(message.get("modelID")), text_of(message.get("providerID"))
        gathered.model = f"{provider or 'unknown'}:{model}" if model else gathered.model
        usage = _usage(object_of(message.get("tokens")))
        for key, part in parts:
            for place, turn in enumerate(self._said(text_of(message.get("role")), part)):
                if turn.role == "assistant" and usage is not None:
                    yield f"{key}/{place}", replace(turn, usage=usage)
                    usage = None
                else:
                    yield f"{key}/{place}", turn

    def _said(self, role: str, part: Mapping[str, Any]) -> Iterator[NewTurn]:
        words = text_of(part.get("text"))
        match part.get("type"):
            case "text" if part.get("synthetic") or part.get("ignored"):
                self._gathered.leave_out("what OpenCode wrote by itself")
            case "text" if words:
                yield said(role, words)
            case "reasoning" if words:
                yield thought(words)
            case "tool":
                yield from self._tool(part)
            case "compaction":
                yield note("OpenCode compacted its window here.")
            case "text" | "reasoning":
                pass
            case "subtask":
                self._gathered.leave_out("what a sub-agent was asked")
            case kind if kind not in _SILENT:
                self._gathered.leave_out(f"a part of the type {text_of(kind)[:40] or 'unknown'}")

    def _tool(self, part: Mapping[str, Any]) -> Iterator[NewTurn]:
        call, tool = text_of(part.get("callID")) or text_of(part.get("id")), text_of(part.get("tool")) or "unknown"
        state = object_of(part.get("state")) or part
        yield called(call, tool, arguments_of(state.get("input")))
        status = state.get("status")
        if status in ("completed", "error"):
            # What was pruned from its window is still there.
            words = text_of(state.get("output")) or text_of(state.get("error"))
            yield given_back(call, tool, words, failed=status == "error")


def _usage(tokens: Mapping[str, Any]) -> dict[str, int] | None:
    cache = object_of(tokens.get("cache"))
    cached = number_of(cache.get("read"))
    taken = number_of(tokens.get("input")) + cached + number_of(cache.get("write"))
    given = number_of(tokens.get("output")) + number_of(tokens.get("reasoning"))
    return {"input_tokens": taken, "output_tokens": given, "cache_read_tokens": cached} if taken or given else None
